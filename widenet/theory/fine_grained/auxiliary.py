"""The auxiliary sequence W̃(k) of `fine-grained`, equation (11), beside gradient descent itself.

Column i of Z is m^{−1/2} (I[w_rᵀx_i ≥ 0] a_r x_i)_{r=1..m}, so that u = Zᵀvec(W) and gradient descent is
vec(W(k+1)) = vec(W(k)) − ηZ(k)(u(k) − y), equation (6). W̃ does the same with Z(0) throughout, from W̃(0) = 0,
and has a closed form: with H(0) = Z(0)ᵀZ(0),

    vec(W̃(k)) = Σ_{s<k} ηZ(0)(I − ηH(0))^s y = Z(0) H(0)⁻¹(I − (I − ηH(0))^k) y,

whose norm goes to √(yᵀH(0)⁻¹y). What is compared is W(k) − W(0) with W̃(k) = W̃(k) − W̃(0).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.memory import require_memory
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.fine_grained.rows import COLUMN, DATA, ROWS, SEED, UnitRows, h_infinity, take_rows
from widenet.theory.fine_grained.symbols import FINE_GRAINED
from widenet.theory.numbers import shown_number
from widenet.theory.stated import Found, entries
from widenet.theory.work import require_work

ROUNDING = 1e-12  # relative: eigenvalues of H(0) below are taken for 0


@dataclass(frozen=True)
class Features:
    """The matrix Z of section 3.4 at some weights, of shape (md, n), without forming it; printed as m × n.

    Attributes:
        active: I[w_rᵀx_i ≥ 0], shape (n, m).
        a: Output signs, shape (m,).
        X: Rows, shape (n, d).
    """

    active: Tensor
    a: Tensor
    X: Tensor

    def matmul(self, v: Tensor) -> Tensor:
        """Z v for v (n,), as weights of shape (m, d)."""
        return (self.active * v[:, None] * self.a).T @ self.X / math.sqrt(len(self.a))

    def outputs(self, W: Tensor) -> Tensor:
        """Zᵀvec(W) for W (m, d), shape (n,); at the weights of Z itself these are the outputs u."""
        return (self.active * (self.X @ W.T)) @ self.a / math.sqrt(len(self.a))

    def gram(self) -> Tensor:
        """H = ZᵀZ, shape (n, n)."""
        active = self.active.to(self.X.dtype)
        return (self.X @ self.X.T) * (active @ active.T) / len(self.a)

    def distance(self, other: "Features") -> float:
        """‖Z − Z′‖_F for the same rows of norm 1 and signs a."""
        return math.sqrt(float((self.active != other.active).sum()) / len(self.a))


def features_at(W: Tensor, a: Tensor, X: Tensor) -> Features:
    """Z at weights W (m, d)."""
    return Features(X @ W.T >= 0, a, X)


def auxiliary_weights(Z: Features, y: Tensor, eta: float, num_steps: int) -> Tensor:
    """W̃(k) of (11) after k steps, shape (m, d), by its closed form; Z is Z(0)."""
    eigenvalues, vectors = torch.linalg.eigh(Z.gram())
    small = eigenvalues <= ROUNDING * eigenvalues[-1]
    decay = 1 - (1 - eta * eigenvalues) ** num_steps
    filters = torch.where(small, eta * num_steps, decay / torch.where(small, 1.0, eigenvalues))
    return Z.matmul(vectors @ (filters * (vectors.T @ y)))


def descent_weights(W: Tensor, a: Tensor, rows: UnitRows, eta: float, num_steps: int) -> Tensor:
    """W(k) of gradient descent (6) from W (m, d)."""
    for _ in range(num_steps):
        Z = features_at(W, a, rows.X)
        W = W - eta * Z.matmul(Z.outputs(W) - rows.y)
    return W


@FINE_GRAINED.states(
    "(11)",
    "Distance of gradient descent from its auxiliary sequence W̃(k), on data",
    "fine-grained-auxiliary",
    data=DATA,
    n=ROWS,
    m=Argument("number of hidden neurons, which are drawn", low=1, high=10**6),
    kappa=Argument("standard deviation κ of the initial weights", low=0.0, high=1e6, strict=True),
    steps=Argument("number of steps", low=0, high=10**5),
    eta=Argument("step η of gradient descent, 0 for 1/λ_max(H(0))", low=0.0, high=1e6),
    column=COLUMN,
    seed=SEED,
)
def auxiliary_distance(
    data: str,
    n: int = 50,
    m: int = 1024,
    kappa: float = 0.1,
    steps: int = 100,
    eta: float = 0.0,
    column: int = 0,
    seed: int = 0,
) -> Found:
    """‖W(k) − W(0) − W̃(k)‖_F of a drawn network that is trained for k steps on n rows."""
    generator = torch.Generator().manual_seed(seed)
    rows = take_rows(data, n, column, generator=generator)
    d = rows.X.shape[1]
    require_work(4.0 * n * m * d * (steps + 2), "n, m or steps")
    require_memory(8 * (4 * m * (n + d) + 4 * n * n), f"A network of {m:,} neurons on {n:,} rows")
    start = kappa * torch.randn(m, d, generator=generator, dtype=torch.float64)
    a = 2.0 * torch.randint(2, (m,), generator=generator).double() - 1
    Z = features_at(start, a, rows.X)
    H = Z.gram()
    largest = float(torch.linalg.eigvalsh(H)[-1])
    step = eta or (1 / largest if largest > 0 else 1.0)
    moved = descent_weights(start, a, rows, step, steps) - start
    linear = auxiliary_weights(Z, rows.y, step, steps)
    gap, length, travelled = (_finite(float(each.norm())) for each in (moved - linear, linear, moved))
    return Found(
        gap,
        formula="‖W(k) − W(0) − W̃(k)‖_F,  vec W̃(k) = Z(0)H(0)⁻¹(I − (I − ηH(0))^k)y",
        filled=f"{shown_number(gap, 4)} after {steps:,} steps of η = {mpf_text(step)}, where ‖W̃(k)‖_F is "
        f"{shown_number(length, 4)}",
        terms={
            "‖W(k) − W(0)‖_F": travelled,
            "‖W̃(k)‖_F": length,
            "distance/‖W̃(k)‖_F": gap / length if 0 < length < math.inf else 0.0,
            "√(yᵀH(0)⁻¹y)": _inverse_norm(H, rows.y),
            "√(yᵀH∞⁻¹y)": _inverse_norm(h_infinity(rows.X), rows.y),
            "‖Z(k) − Z(0)‖_F": features_at(start + moved, a, rows.X).distance(Z),
            "‖u(0)‖": float(Z.outputs(start).norm()),
            "η": step,
        },
        demands=(Demand("ηλ_max(H(0))", step * largest, "<", 2.0),),
        notes=(
            "W̃ starts from outputs 0 and keeps the signs of W(0); gradient descent starts from u(0), of size "
            "κ, and changes signs.",
            "‖W̃(k)‖_F goes to √(yᵀH(0)⁻¹y) as k grows, if ηλ_max(H(0)) < 2 and H(0) has no eigenvalue 0.",
        ),
    )


def _finite(size: float) -> float:
    """Infinite where a diverging run is not a number."""
    return size if math.isfinite(size) else math.inf


def _inverse_norm(H: Tensor, y: Tensor) -> float:
    """√(yᵀH⁻¹y) as computed; infinite where rounding hides that H has an inverse."""
    factor, info = torch.linalg.cholesky_ex(H)
    if int(info):
        return math.inf
    return float(torch.linalg.solve_triangular(factor, y[:, None], upper=False).norm())


QUANTITIES = entries(auxiliary_distance)
