"""How precisely each row is predicted by a few others, near and far: what is told of A⁻¹ without it.

With A = K + ρI, 1/(A⁻¹)_ii is the variance with which all other rows predict row i. Some of them predict it
with a larger one: (A_SS⁻¹)_ii ≤ (A⁻¹)_ii for any set S of rows with i among them. Here S holds i, landmarks
drawn at random, which tell what is common to many rows, and the rows nearest to i, which tell the rest. By
which factor (A⁻¹)_ii is larger differs little between rows that S predicts alike.

With LLᵀ = A_MM over the landmarks M and φ_j = L⁻¹A_Mj, rows have the covariance R_jl = A_jl − φ_jᵀφ_l given
the landmarks, and (A_SS⁻¹)_ii is the first entry of the inverse of R over i and the rows near it. A landmark
i must not be predicted by itself: without it every φ loses its part along u = L⁻¹e_i / ‖L⁻¹e_i‖.
"""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix
from widenet.predict.loo import inverse_root

NUM_LANDMARKS = 1000
NUM_NEAR = 8
DIRECTIONS = 64  # along which rows vary most; near ones are looked for in these
BLOCK = 2048  # rows whose distances from all others are held at a time
TOGETHER = 32  # rows whose sets have their kernel values computed together, as many of them are shared
JITTER = 1e-9  # of the diagonal: lets rows that nearly coincide be inverted, and leaves a bound a bound


def nearby_precision(
    kernel: Kernel, X: Tensor, counts: Tensor, ridge: float, *, generator: torch.Generator
) -> Tensor:
    """Numbers below (A⁻¹)_ii for A = D^½KD^½ + ρI, shape (n,).

    Args:
        kernel: The kernel of K.
        X: Distinct rows, float64, shape (n, d).
        counts: D, how often each of them occurs, shape (n,).
        ridge: ρ ≥ 0.
        generator: Draws landmarks.
    """
    n, weights = len(X), counts.sqrt()
    diagonal = (counts * kernel.diag(X) + ridge) * (1 + JITTER)
    landmarks = torch.randperm(n, generator=generator)[: min(NUM_LANDMARKS, max(1, n // 4))].to(X.device)
    columns = weights[:, None] * cross_matrix(kernel, X, X[landmarks]) * weights[landmarks]
    columns[landmarks, torch.arange(len(landmarks), device=X.device)] = diagonal[landmarks]
    whiten = inverse_root(columns[landmarks], 0.0)
    features = columns @ whiten.T
    own = torch.zeros_like(features).index_copy_(0, landmarks, normalize(whiten.T, dim=1))
    near = nearest_rows(X, landmarks, max(0, min(NUM_NEAR, n - len(landmarks) - 1)))
    found = []
    for rows in torch.arange(n, device=X.device).split(TOGETHER):
        used, place = torch.cat([rows[:, None], near[rows]], dim=1).unique(return_inverse=True)
        A = weights[used, None] * kernel.tile(X[used], X[used]) * weights[used]
        A.diagonal().copy_(diagonal[used])
        R = A - features[used] @ features[used].T
        along = (own[rows] @ features[used].T).gather(1, place)
        R = R[place[:, :, None], place[:, None, :]] + along[:, :, None] * along[:, None, :]
        found.append(torch.linalg.inv_ex(R).inverse[:, 0, 0])
    return torch.cat(found).nan_to_num(0.0, 0.0, 0.0).maximum(1 / diagonal)


def nearest_rows(X: Tensor, landmarks: Tensor, num: int) -> Tensor:
    """About the nearest rows of each row of X (n, d), neither itself nor landmarks (m,), shape (n, num).

    Distances are those along the directions in which the landmarks vary most.
    """
    _, _, directions = torch.linalg.svd(X[landmarks] - X[landmarks].mean(0), full_matrices=False)
    Z = (X @ directions[:DIRECTIONS].T).to(torch.float32)
    half_norms = Z.square().sum(1) / 2
    half_norms[landmarks] = torch.inf
    near = []
    for rows in torch.arange(len(X), device=X.device).split(BLOCK):
        closeness = Z[rows] @ Z.T - half_norms
        closeness[torch.arange(len(rows), device=X.device), rows] = -torch.inf
        near.append(closeness.topk(num, dim=1).indices)
    return torch.cat(near)
