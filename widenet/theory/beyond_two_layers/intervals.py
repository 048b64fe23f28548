"""The interval partition of [beyond-two-layers, lemma A.4].

For a number y in [−1, 1] and a standard normal g there are a set I(y), which g hits with probability τ, and a
sign s(y, g) on it, + and − equally likely, such that E[s·g | g ∈ I(y)] = y. So the sign and the set tell
nothing of y, while s·g has the mean y: this is how lemma 6.4 finds a function in random weights. For y ≥ 0:
    two intervals: I = [l, u] ∪ [−u, −l] with s = + on the first, where P(g ∈ [l, u]) = τ/2 and
        E[g | g ∈ [l, u]] = y, as long as l ≥ 0;
    around 0: else I = [−c, c]. There s = sign g on [−e, e]; beyond, s = + up to ±d and − from there to ±c,
        which adds nothing to the mean of s·g. d halves the probability between e and c.
The paper takes e with E[|g| | |g| ≤ e] = y. Then E[s·g | g ∈ I] is y·P(|g| ≤ e)/τ, below y: the parts beyond
e have mean 0 but not probability 0. Here E[|g|; |g| ≤ e] = τy, with which all six properties hold; the two
agree where the two kinds of interval meet, and at y = 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.theory.beyond_two_layers.hermite import normal_density
from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
from widenet.theory.stated import Found, entries

LARGEST_TAU = 0.01  # of the lemma
WIDEST = 10.0  # I(y) has s·g within this many τ [property 5]
NUM_HALVINGS = 60  # of an interval of length 2, to below the rounding of float64


@dataclass(frozen=True)
class Partition:
    """I(y) and s(y, ·) for each |y|, by the ends of the intervals, all of the shape of y.

    Attributes:
        y: The means, in [−1, 1].
        low, high: l and u where the set is two intervals; −c and c where it surrounds 0.
        inner: e, up to which s = sign g; NaN where the set is two intervals.
        turn: d, beyond which s = −; NaN where the set is two intervals.
    """

    y: Tensor
    low: Tensor
    high: Tensor
    inner: Tensor
    turn: Tensor

    def signs(self, g: Tensor) -> Tensor:
        """s(y, g) for numbers g that broadcast with y: 1 or −1 on I(y), 0 elsewhere."""
        size, towards = g.abs(), torch.where(self.y < 0, -g.sign(), g.sign())
        apart = towards * ((size >= self.low) & (size <= self.high)).to(g.dtype)
        beyond = torch.where(size <= self.turn, 1.0, -1.0).to(g.dtype) * torch.where(self.y < 0, -1.0, 1.0)
        around = torch.where(size <= self.inner, towards, beyond) * (size <= self.high).to(g.dtype)
        return torch.where(self.inner.isnan(), apart, around)


def interval_partition(y: Tensor, tau: float) -> Partition:
    """I(y) and s(y, ·) for every entry of y in [−1, 1], float64."""
    mean = y.abs()
    low = _bisected(lambda at: _mean_from(at, tau) - mean, torch.full_like(mean, -1.0), mean)
    high = _quantile(torch.special.ndtr(low) + tau / 2)
    around = low < 0
    # E[|g|; |g| ≤ e] = 2(ϕ(0) − ϕ(e)) = τy
    inner = torch.sqrt(-2 * torch.log1p(-tau * mean * math.sqrt(2 * math.pi) / 2))
    share = 2 * torch.special.ndtr(inner) - 1  # τ', of [−e, e]
    end = _quantile(torch.full_like(mean, (1 + tau) / 2))
    turn = _quantile((1 + (share + tau) / 2) / 2)
    nothing = torch.full_like(mean, math.nan)
    return Partition(
        y,
        torch.where(around, -end, low),
        torch.where(around, end, high),
        torch.where(around, inner, nothing),
        torch.where(around, turn, nothing),
    )


def _mean_from(low: Tensor, tau: float) -> Tensor:
    """E[g | l ≤ g ≤ u] with P = τ/2, which grows with l."""
    high = _quantile(torch.special.ndtr(low) + tau / 2)
    return (normal_density(low) - normal_density(high)) / (tau / 2)


def _quantile(share: Tensor) -> Tensor:
    return torch.special.ndtri(share)


def _bisected(function: Callable[[Tensor], Tensor], low: Tensor, high: Tensor) -> Tensor:
    """Where a growing function is 0, between low and high."""
    for _ in range(NUM_HALVINGS):
        middle = (low + high) / 2
        above = function(middle) > 0
        low, high = torch.where(above, low, middle), torch.where(above, middle, high)
    return (low + high) / 2


@BEYOND_TWO_LAYERS.states(
    "Lemma A.4",
    "A set that a Gaussian hits with probability τ, and a sign on it whose mean with it is y",
    y=Argument("mean of s·g on the set", low=-1.0, high=1.0),
    tau=Argument("probability τ of the set", low=1e-8, high=LARGEST_TAU),
)
def lemma_a_4(y: float, tau: float = LARGEST_TAU) -> Found:
    """The range of s·g on I(y), of which property 5 says that it is at most 10τ."""
    found = interval_partition(torch.tensor([y], dtype=torch.float64), tau)
    low, high = float(found.low), float(found.high)
    around = low < 0
    ends = {"e": float(found.inner), "d": float(found.turn), "c": high} if around else {"l": low, "u": high}
    width = high - low
    set_of = f"[{low:.6g}, {high:.6g}]" if around else f"[{low:.6g}, {high:.6g}] ∪ [{-high:.6g}, {-low:.6g}]"
    return Found(
        width,
        "max s·g − min s·g on I(y), where P(g ∈ I(y)) = τ and E[s·g | g ∈ I(y)] = y",
        f"I({y:g}) = {set_of}, on which s·g has the range {width:.6g}",
        ends,
        (Demand("range of s·g", width, "≤", WIDEST * tau, "10τ"),),
        ("The paper's e, with E[|g| | |g| ≤ e] = y, gives s·g a mean below y; this one gives it the mean y.",)
        if around
        else (),
    )


QUANTITIES = entries(lemma_a_4)
