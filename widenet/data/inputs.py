"""Distributions of inputs, drawn as rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Inputs(Protocol):
    """A distribution of inputs x ∈ R^d."""

    @property
    def d(self) -> int:
        """Number of coordinates."""

    def draw(self, n: int, *, generator: torch.Generator) -> Tensor:
        """Independent rows, float64, shape (n, d)."""


@dataclass(frozen=True)
class Cube:
    """Uniform on {±side}^d."""

    d: int
    side: float = 1.0

    def draw(self, n: int, *, generator: torch.Generator) -> Tensor:
        bits = torch.randint(2, (n, self.d), generator=generator)
        return self.side * (2 * bits - 1).to(torch.float64)


@dataclass(frozen=True)
class Sphere:
    """Uniform on the unit sphere: Gaussian rows scaled to norm 1."""

    d: int

    def draw(self, n: int, *, generator: torch.Generator) -> Tensor:
        rows = torch.randn(n, self.d, generator=generator, dtype=torch.float64)
        return rows / rows.norm(dim=1, keepdim=True)


@dataclass(frozen=True)
class Product:
    """Independent parts, side by side."""

    parts: Sequence[Inputs]

    @property
    def d(self) -> int:
        return sum(part.d for part in self.parts)

    def draw(self, n: int, *, generator: torch.Generator) -> Tensor:
        return torch.cat([part.draw(n, generator=generator) for part in self.parts], dim=1)
