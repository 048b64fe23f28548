"""What infinitely wide networks, trained to the end, say about rows that they have not seen.

Gradient descent on the hidden layer from outputs of 0 ends at f(x) = Σ_i k(x, x_i) (H⁻¹y)_i, the kernel
regression without a ridge, as the width goes to infinity.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix, gram_matrix

# A pivot below this share of the diagonal is a row that repeats others: two rows at an angle θ leave one of
# about θ, and the cosine of less than this angle is 1 in float64.
SAME = torch.finfo(torch.float64).eps ** 0.5


@dataclass(frozen=True)
class LimitErrors:
    """Errors on unseen rows and the complexity that is to tell them, one for each column of labels.

    Attributes:
        l1_errors: Mean |y − u| over the unseen rows, shape (p,).
        misclassified: Share of the unseen rows where u has not the sign of y, shape (p,).
        complexities: √(2 yᵀH⁻¹y / n) of the training labels [fine-grained, equation (10)], shape (p,).
    """

    l1_errors: Tensor
    misclassified: Tensor
    complexities: Tensor


def limit_errors(kernel: Kernel, X: Tensor, Y: Tensor, X_unseen: Tensor, Y_unseen: Tensor) -> LimitErrors:
    """Train p infinitely wide networks on the same rows to the end, and judge them on others.

    H is factorised once, H = LLᵀ in float64, however many columns there are; it takes 8 n² bytes.

    >>> from widenet.kernels.names import kernel_by_name
    >>> X, Y = torch.eye(2, dtype=torch.float64), torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    >>> limit_errors(kernel_by_name("relu2-hidden"), X, Y, X, Y).complexities.round(decimals=6)  # H = ½ I
    tensor([2.], dtype=torch.float64)

    Args:
        kernel: That of the networks, `relu2-hidden` for H∞ of [fine-grained, equation (3)].
        X: Training inputs, shape (n, d).
        Y: Training labels, a vector in each column, shape (n, p).
        X_unseen: Inputs of the unseen rows, shape (t, d).
        Y_unseen: Their labels, column by column those of Y, shape (t, p).
    """
    n = len(X)
    require_memory(8 * n * (n + len(X_unseen)), f"The factor of a kernel matrix of {n:,} rows", "use fewer")
    H = gram_matrix(kernel, X.to(torch.float64))
    least_pivot = SAME * float(H.diagonal().max())
    factor, failed_at = torch.linalg.cholesky_ex(H, out=(H, H.new_empty((), dtype=torch.int32)))
    if int(failed_at) or not bool((factor.diagonal().square() > least_pivot).all()):
        raise InputError(
            f"The kernel matrix of these {n:,} rows is singular up to rounding, so some labels cannot be "
            "fitted: remove rows that repeat others."
        )
    half = torch.linalg.solve_triangular(factor, Y.to(torch.float64), upper=False)
    alpha = torch.linalg.solve_triangular(factor.T, half, upper=True)
    u = cross_matrix(kernel, X_unseen.to(torch.float64), X.to(torch.float64)) @ alpha
    return LimitErrors(
        l1_errors=(Y_unseen - u).abs().mean(0),
        misclassified=(u * Y_unseen <= 0).to(torch.float64).mean(0),
        complexities=half.norm(dim=0) * math.sqrt(2 / n),
    )
