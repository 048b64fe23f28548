"""What every kernel offers, so that Gram operators need to know nothing else about it."""

from typing import Protocol

from torch import Tensor


class Kernel(Protocol):
    """A positive semi-definite function of two inputs, evaluated tile by tile."""

    @property
    def name(self) -> str:
        """The name by which the command line knows it."""

    def tile(self, X: Tensor, Z: Tensor) -> Tensor:
        """Values of shape (n1, n2), in the dtype and on the device of X (n1, d) and Z (n2, d).

        A new tensor, which the caller may overwrite.
        """

    def diag(self, X: Tensor) -> Tensor:
        """Values k(x, x) of shape (n,), exact where a closed form exists."""
