"""What kernels fixed before the labels cannot do on average over the class (7.1) of `resnet-beyond-kernels`.

The class has a function H_S(x) = (√d x_j + αχ_S(x))_{j ∈ S} for each set S of k among d₁ coordinates, where
χ_S(x) = Π_{j ∈ S} √d x_j. From N samples a kernel method predicts each output by a function in the span of N
functions, the same for all S. The χ_S are orthonormal, and orthogonal to the coordinates, so an N-dimensional
space can come near few of them. The proof is in docs/theory-separation.md.
"""

import math

from widenet.base.errors import InputError
from widenet.theory.entry import Argument
from widenet.theory.resnet_beyond_kernels.symbols import HARD_CLASS
from widenet.theory.stated import Found, entries


def class_size(d1: int, k: int) -> int:
    """C(d₁, k), the number of functions in the class."""
    if not 2 <= k <= d1:
        raise InputError(f"`k` is {k}, but must be a whole number from 2 to `d1` = {d1}.")
    return math.comb(d1, k)


def kernel_floor(num_samples: float, d1: int, k: int, alpha: float) -> float:
    """α²(1 − N/C(d₁, k)), or 0: no kernel fixed before the labels has a smaller mean error over the class.

    The error is that of one output.

    >>> kernel_floor(110, d1=12, k=3, alpha=0.5)
    0.125
    """
    return alpha**2 * max(0.0, 1 - num_samples / class_size(d1, k))


def fewest_samples(error: float, d1: int, k: int, alpha: float) -> int:
    """The fewest samples from which a kernel fixed before the labels could have this mean error."""
    return math.ceil(class_size(d1, k) * max(0.0, 1 - error / alpha**2) - 1e-9)


def far_share(num_samples: float, d1: int, k: int, error: float, alpha: float) -> float:
    """Share of the class on which every kernel fixed before the labels has an error above this: at least.

    An error of at most e = (1 − s)α² on H_S needs a share s of χ_S in the space, and these shares add up to
    at most N over the class.
    """
    share = 1 - error / alpha / alpha  # α² alone may underflow
    return max(0.0, 1 - num_samples / (class_size(d1, k) * share)) if share > 0 else 0.0


@HARD_CLASS.states(
    "Theorem 2, sharpened (docs/theory-separation.md)",
    "Mean error over the class (7.1) of kernels fixed before the labels, from N samples: at least",
    "kernel-lower-bound",
    num_samples=Argument("number of samples N", low=0),
    d1=Argument("number of coordinates d₁ that may carry the signal", low=2, high=1000),
    k=Argument("number of coordinates k that do carry it, at most d1", low=2, high=1000),
    alpha=Argument("factor α of the product", low=0, high=1, strict=True),
)
def kernel_lower_bound(num_samples: int, d1: int, k: int, alpha: float) -> Found:
    """The bound as a quantity, beside the error α² of not having learned αG(F)."""
    size, floor = class_size(d1, k), kernel_floor(num_samples, d1, k, alpha)
    below = num_samples < size
    compared = "less than" if below else "at least"
    return Found(
        floor,
        formula="α² max(0, 1 − N/C(d₁, k))",
        filled=f"{alpha:g}² max(0, 1 − {num_samples}/C({d1}, {k})) = "
        f"{alpha:g}² max(0, 1 − {num_samples}/{size}) = {floor:.6g}",
        terms={
            "size of the class C(d₁, k)": float(size),
            "error of not learning αG(F), α²": alpha**2,
            "share of the class with error above α²/16 at least": far_share(
                num_samples, d1, k, alpha**2 / 16, alpha
            ),
        },
        notes=(
            f"N = {num_samples} is {compared} C(d₁, k) = {size}, "
            f"so the bound is {'not vacuous' if below else 'vacuous: it is 0'}.",
            "It is on the mean over the class of the squared error of one output, for any kernel that is "
            "fixed before the labels, any samples and any weights, even those that know the function.",
        ),
        holds=below,
    )


QUANTITIES = entries(kernel_lower_bound)
