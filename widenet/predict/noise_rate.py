"""How many labels are wrong: an interval from the labels that the other rows contradict.

Overlap of the classes and wrong labels both contradict predictions, so each end rests on one assumption.

The upper end: whatever a row's true class c is, its own label is more common than any one wrong one, T_cc ≥
T_cd wherever the row lies. A prediction d made without the row's label is then contradicted at least as often
as the label is wrong,

    P(label ≠ d) - P(label wrong) = Σ_c p_c (T_cc - T_cd) ≥ 0,

and so the share of contradicted labels bounds that of wrong ones. The best constant is a prediction too.

The lower end: overlap fades with sureness, wrong labels do not. Among the rows predicted as one class,
u ∈ (0, 1) is the rank of the gap between the two largest predictions. At u a share

    e(u) = r + (1 - 2r) o(u),    o(u) = ½ (1 + b u / TAIL)^-TAIL

of the labels is contradicted: overlap starts from a tie, o(0) = ½, and fades at an unknown pace b ≥ 0. The
lower end is that of the profile likelihood of r, for the classes that are recognised; others count as free of
noise.
"""

from dataclasses import dataclass

import torch
from scipy.special import betaincinv, chdtri
from torch import Tensor

from widenet.data.points import Points

LEVEL = 0.95  # of the interval; each end may be missed half as often as the rest
# The tail of the overlap, set on the tables TUNED_CLASSES of the benchmarks: with an exponential, TAIL → ∞,
# three of twelve tables without flips were said to have wrong labels, with 2 none.
TAIL = 2.0
PACES = torch.cat([torch.zeros(1), torch.logspace(-1, 3, 41)]).double()  # b; slower is none, faster is a step
RATES = torch.cat([torch.zeros(1), torch.logspace(-5, -0.302, 450)]).double()  # r, up to ½ in steps of 2.4%
NUM_BINS = 32  # of u
FEW = 0.25  # of what a constant prediction gets wrong: an upper end below that tells something


@dataclass(frozen=True)
class NoiseRate:
    """The share of wrong labels.

    Attributes:
        estimate: Of most likelihood; 0 where `low` is, since no wrong label is detected then.
        low, high: Ends of its interval, at LEVEL.
        decided: Whether the interval tells anything: wrong labels are detected, or there are few beside what
            a constant prediction gets wrong.
    """

    estimate: float
    low: float
    high: float
    decided: bool


def noise_rate(means: Tensor, labels: Tensor, points: Points) -> NoiseRate:
    """The share of wrong labels, from leave-one-out predictions.

    Args:
        means: One column per class, shape (n, c).
        labels: Given classes, shape (n,).
        points: The rows' points; rows at one point are not independent of each other.
    """
    predicted, constant = means.argmax(1), labels.mode().values
    contradicted = predicted != labels
    high = min(upper_limit(contradicted, points), upper_limit(labels != constant, points))
    kept = recognised(predicted, labels, means.shape[1])
    kept = kept[predicted] & kept[labels]
    share, weight = float(kept.double().mean()), effective_number(contradicted, points) / len(labels)
    sure = sureness(means[kept])
    estimate, low = (min(share * rate, high) for rate in lasting_rate(sure, contradicted[kept], weight))
    decided = low > 0 or high < FEW * float((labels != constant).double().mean())
    return NoiseRate(estimate if low > 0 else 0.0, low, high, decided)


def upper_limit(wrong: Tensor, points: Points) -> float:
    """Upper end of the share of true ones in (n,), after Clopper and Pearson."""
    num = effective_number(wrong, points)
    return _upper(num * float(wrong.double().mean()), num)


def effective_number(wrong: Tensor, points: Points) -> float:
    """As many independent rows would tell the share of true ones in (n,) as well; at most n."""
    share, error = float(wrong.double().mean()), points.mean_error(wrong.double())
    return min(len(wrong), share * (1 - share) / error**2) if error > 0 else points.num


def recognised(predicted: Tensor, labels: Tensor, num_classes: int) -> Tensor:
    """Classes to which surely more than half of the rows predicted as them belong, shape (c,).

    No label is called wrong for being one of the others: the inputs may just not tell them.
    """
    totals = torch.bincount(predicted, minlength=num_classes)
    right = torch.bincount(predicted[predicted == labels], minlength=num_classes)
    pairs = zip(right.tolist(), totals.tolist(), strict=True)
    return torch.tensor([_lower(count, total) > 0.5 for count, total in pairs])


def sureness(means: Tensor) -> Tensor:
    """u: rank of the gap between the two largest predictions among rows of the same one, shape (n,)."""
    largest, predicted = means.topk(2, dim=1).values, means.argmax(1)
    order = torch.argsort(largest[:, 0] - largest[:, 1], stable=True)
    order = order[torch.argsort(predicted[order], stable=True)]
    sizes = torch.bincount(predicted, minlength=means.shape[1])
    starts = sizes.cumsum(0) - sizes
    place = torch.arange(len(means)) - starts[predicted[order]]
    ranks = torch.empty(len(means), dtype=torch.float64)
    ranks[order] = (place.double() + 0.5) / sizes[predicted[order]]
    return ranks


def lasting_rate(sure: Tensor, contradicted: Tensor, weight: float = 1.0) -> tuple[float, float]:
    """The r of most likelihood, and the lower end of its interval.

    Args:
        sure: u, shape (n,).
        contradicted: Which labels are, shape (n,).
        weight: Independent rows for each row.
    """
    bins = (sure * NUM_BINS).long()
    totals = weight * torch.bincount(bins, minlength=NUM_BINS)
    counts = weight * torch.bincount(bins[contradicted], minlength=NUM_BINS)
    middles = (torch.arange(NUM_BINS, dtype=torch.float64) + 0.5) / NUM_BINS
    overlap = (1 + PACES[:, None] * middles / TAIL) ** -TAIL / 2
    expected = RATES[:, None, None] + (1 - 2 * RATES[:, None, None]) * overlap  # (rates, paces, bins)
    likelihood = torch.log(expected) @ counts.double() + torch.log1p(-expected) @ (totals - counts).double()
    profile = likelihood.amax(1)
    inside = (profile >= profile.max() - chdtri(1, 1 - LEVEL) / 2).nonzero()[:, 0]
    return float(RATES[profile.argmax()]), float(RATES[inside[0]])


def _upper(count: float, total: float) -> float:
    return float(betaincinv(count + 1, total - count, (1 + LEVEL) / 2)) if count < total else 1.0


def _lower(count: float, total: float) -> float:
    return float(betaincinv(count, total - count + 1, (1 - LEVEL) / 2)) if count > 0 else 0.0
