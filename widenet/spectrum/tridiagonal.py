"""Block tridiagonal matrices, factorised block by block."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.threads import one_thread

NUM_VECTORS = 8  # iterated together for the smallest eigenvalue
NUM_ITERATIONS = 30  # of them; each multiplies what is off by the ratio of the first and the ninth eigenvalue


@dataclass(frozen=True)
class BlockFactor:
    """T = LLᵀ of a positive definite block tridiagonal T (k, k), in O(k b²) operations for blocks of b rows.

    L has lower triangular blocks L_j on its diagonal and C_j under them: A_j = L_j L_jᵀ + C_{j−1} C_{j−1}ᵀ
    and B_j = C_j L_jᵀ.

    Attributes:
        diagonal: Blocks A_j of T, shapes (p_j, p_j).
        below: Blocks B_j of T under them, shapes (p_{j+1}, p_j), one fewer.
        roots: L_j.
        links: C_j.
    """

    diagonal: Sequence[Tensor]
    below: Sequence[Tensor]
    roots: Sequence[Tensor]
    links: Sequence[Tensor]

    def solve(self, right: Tensor) -> Tensor:
        """T⁻¹ times `right` of shape (k, p)."""
        parts = list(right.split(self._sizes))
        for j, root in enumerate(self.roots):
            if j:
                parts[j] = parts[j] - self.links[j - 1] @ parts[j - 1]
            parts[j] = torch.linalg.solve_triangular(root, parts[j], upper=False)
        for j in reversed(range(len(parts))):
            if j < len(self.links):
                parts[j] = parts[j] - self.links[j].T @ parts[j + 1]
            parts[j] = torch.linalg.solve_triangular(self.roots[j].T, parts[j], upper=True)
        return torch.cat(parts)

    def matmul(self, V: Tensor) -> Tensor:
        """T V for V of shape (k, p)."""
        parts = V.split(self._sizes)
        products = [block @ part for block, part in zip(self.diagonal, parts, strict=True)]
        for j, block in enumerate(self.below):
            products[j + 1] += block @ parts[j]
            products[j] += block.T @ parts[j + 1]
        return torch.cat(products)

    @one_thread()  # its thousands of small steps are slower if each is split over cores
    def smallest(self) -> tuple[float, Tensor]:
        """An upper bound on λ_min(T), close to it, and its unit vector (k, 1), by iterating with T⁻¹."""
        k, like = sum(self._sizes), self.diagonal[0]
        generator = torch.Generator().manual_seed(0)  # any start will do; a fixed one makes a run repeatable
        V = torch.randn(k, min(NUM_VECTORS, k), generator=generator, dtype=like.dtype).to(like.device)
        for _ in range(NUM_ITERATIONS):
            V = torch.linalg.qr(self.solve(V)).Q
        values, vectors = torch.linalg.eigh(V.T @ self.matmul(V))
        return float(values[0]), V @ vectors[:, :1]

    @property
    def _sizes(self) -> list[int]:
        return [len(block) for block in self.diagonal]


def block_factor(diagonal: Sequence[Tensor], below: Sequence[Tensor]) -> BlockFactor | None:
    """Factorise T with blocks A_j on its diagonal and B_j under it; None where it is not positive definite.

    >>> two, one = 2 * torch.eye(2), torch.eye(2)
    >>> block_factor([two, two], [one]).solve(torch.ones(4, 1))[:, 0]
    tensor([0.3333, 0.3333, 0.3333, 0.3333])
    >>> block_factor([one, one], [two]) is None
    True

    Args:
        diagonal: Symmetric blocks, shapes (p_j, p_j).
        below: Blocks of shapes (p_{j+1}, p_j), one fewer.
    """
    roots, links = list[Tensor](), list[Tensor]()
    for j, block in enumerate(diagonal):
        left = block - links[-1] @ links[-1].T if j else block
        root, info = torch.linalg.cholesky_ex(left)
        if int(info):
            return None
        roots.append(root)
        if j < len(below):
            links.append(torch.linalg.solve_triangular(root.T, below[j], upper=True, left=False))
    return BlockFactor(diagonal, below, roots, links)
