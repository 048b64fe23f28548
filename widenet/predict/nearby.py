"""How precisely each row is predicted by a few others, near and far: what is told of A⁻¹ without it.

With A = K + ρI, 1/(A⁻¹)_ii is the variance with which all other rows predict row i. Some of them predict it
with a larger one: (A_SS⁻¹)_ii ≤ (A⁻¹)_ii for any set S of rows with i among them. Here S holds i, landmarks,
which tell what is common to many rows, and the rows nearest to i, which tell the rest. By which factor
(A⁻¹)_ii is larger differs little between rows that S predicts alike.

With LLᵀ = A_MM over the landmarks M and φ_j = L⁻¹A_Mj, rows have the covariance R_jl = A_jl − φ_jᵀφ_l given
the landmarks, and (A_SS⁻¹)_ii is the first entry of the inverse of R over i and the rows near it. A landmark
i must not be predicted by itself: without it every φ loses its part along u = L⁻¹e_i / ‖L⁻¹e_i‖.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix
from widenet.predict.loo import inverse_root

NUM_LANDMARKS = 1000
NUM_NEAR = 8
DIRECTIONS = 64  # along which landmarks vary most; near rows are looked for in these
BLOCK = 512  # rows whose distances from all others are held at a time
STRIDE = 32  # of these distances, of which the smallest is looked for first
TOGETHER = 16  # rows whose sets have their kernel values computed together
JITTER = 1e-9  # of the diagonal: lets rows that nearly coincide be inverted, and leaves a bound a bound


@dataclass(frozen=True)
class Surroundings:
    """The sets of n rows, whatever the kernel.

    Attributes:
        landmarks: Rows that are in every set, int64, shape (m,).
        near: About the nearest rows of each, neither itself nor landmarks, int64, shape (n, k).
        order: All rows, those that share their nearest landmark after each other, int64, shape (n,).
    """

    landmarks: Tensor
    near: Tensor
    order: Tensor


def surroundings(X: Tensor) -> Surroundings:
    """Landmarks at even distances in the order of the rows X (n, d), and the rows nearest to each.

    Distances are those along the directions in which the landmarks vary most.
    """
    n = len(X)
    num_landmarks = min(NUM_LANDMARKS, max(1, n // 4))
    landmarks = torch.arange(num_landmarks, device=X.device) * n // num_landmarks
    _, _, directions = torch.linalg.svd(X[landmarks] - X[landmarks].mean(0), full_matrices=False)
    Z = (X @ directions[:DIRECTIONS].T).to(torch.float32)
    closer = Z.square().sum(1) / -2
    num_near = max(0, min(NUM_NEAR, n - num_landmarks - 1))
    room = Z.new_full((BLOCK, -(-n // STRIDE) * STRIDE), -torch.inf)  # taken once: 2 kB for each row
    near, cells = [], []
    for rows in torch.arange(n, device=X.device).split(BLOCK):
        closeness = room[: len(rows)]
        torch.addmm(closer, Z[rows], Z.T, out=closeness[:, :n])
        cells.append(closeness[:, landmarks].argmax(1))
        closeness[:, landmarks] = -torch.inf
        closeness[torch.arange(len(rows), device=X.device), rows] = -torch.inf
        near.append(_largest(closeness, num_near))
    return Surroundings(landmarks, torch.cat(near), torch.cat(cells).argsort(stable=True))


def _largest(values: Tensor, k: int) -> Tensor:
    """Columns of the k largest values of each row, of a multiple of `STRIDE` columns, shape (rows, k).

    They are among the k strides whose own largest values are largest, and finding these is one fast pass.
    """
    strides = values.unflatten(1, (-1, STRIDE))
    best = strides.amax(2).topk(min(k, strides.shape[1]), dim=1).indices
    inside = strides.gather(1, best[:, :, None].expand(-1, -1, STRIDE)).flatten(1).topk(k, dim=1).indices
    return best.gather(1, inside // STRIDE) * STRIDE + inside % STRIDE


def nearby_precision(kernel: Kernel, X: Tensor, counts: Tensor, ridge: float, around: Surroundings) -> Tensor:
    """Numbers below (A⁻¹)_ii for A = D^½KD^½ + ρI, shape (n,).

    Args:
        kernel: The kernel of K.
        X: Distinct rows, float64, shape (n, d).
        counts: D, how often each of them occurs, shape (n,).
        ridge: ρ ≥ 0.
        around: The sets of the rows.
    """
    weights, landmarks = counts.sqrt(), around.landmarks
    diagonal = (counts * kernel.diag(X) + ridge) * (1 + JITTER)
    features, whiten = _features(kernel, X, weights, diagonal, landmarks)
    u = whiten / whiten.norm(dim=0)
    own = torch.cat([u.T, torch.zeros_like(u[:1])])  # that of each landmark, and 0 for others
    which = landmarks.new_full((len(X),), len(landmarks))
    which[landmarks] = torch.arange(len(landmarks), device=X.device)
    found = torch.empty_like(diagonal)
    for rows in around.order.split(TOGETHER):  # rows of one place are near each other, so that sets overlap
        used, place = torch.cat([rows[:, None], around.near[rows]], dim=1).unique(return_inverse=True)
        inputs, phi = X[used], features[used]
        A = kernel.tile(inputs, inputs).mul_(weights[used, None]).mul_(weights[used])
        A.diagonal().copy_(diagonal[used])
        R = A.addmm_(phi, phi.T, alpha=-1)
        along = (own[which[rows]] @ phi.T).gather(1, place)  # uᵀφ over the set of each row
        R = R[place[:, :, None], place[:, None, :]] + along[:, :, None] * along[:, None, :]
        found[rows] = torch.linalg.inv_ex(R).inverse[:, 0, 0]
    return found.nan_to_num(0.0, 0.0, 0.0).maximum(1 / diagonal)


def _features(
    kernel: Kernel, X: Tensor, weights: Tensor, diagonal: Tensor, landmarks: Tensor
) -> tuple[Tensor, Tensor]:
    """φ of each row of X (n, d), shape (n, m), and L⁻¹, shape (m, m)."""
    features = cross_matrix(kernel, X, X[landmarks]).mul_(weights[:, None]).mul_(weights[landmarks])
    features[landmarks, torch.arange(len(landmarks), device=X.device)] = diagonal[landmarks]
    whiten = inverse_root(features[landmarks], 0.0)
    for block in features.split(BLOCK):  # in place, because they are as large as the rows
        block.copy_(block @ whiten.T)
    return features, whiten
