"""Lemma C.1 of `resnet-beyond-kernels`: what changes little while the weights stay near their initialisation.

The network is out₁ = A σ((W⁽⁰⁾ + W)(x, 1)), out = out₁ + A σ((V⁽⁰⁾ + V)(out₁, 1)) with A ~ N(0, 1/m),
W⁽⁰⁾ ~ N(0, σ_w²) and V⁽⁰⁾ ~ N(0, σ_v²/m), and W, V are any steps with ‖W‖₂ ≤ τ_w and ‖V‖₂ ≤ τ_v. The lemma
bounds seven sizes, up to a constant and, for Õ, a power of log m; `coupling_bounds` has them without either.
`coupling_sizes` measures them on a drawn network for given steps. Four steps are tried: a random one, the
one that changes the most signs, one that changes those signs which push A D W⁽⁰⁾(x, 1) furthest, and one
that makes an output large.

The extraction of the text has lost brackets and the range of τ_w; they are restored from the proof and from
Table 1, which has the same limits with σ_w on the other side.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.memory import require_memory
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.numbers import Number, as_float, context, mpf
from widenet.theory.resnet_beyond_kernels.concentration import sign_change_share
from widenet.theory.resnet_beyond_kernels.symbols import RESNET
from widenet.theory.stated import Found, entries
from widenet.theory.work import require_work

ITEMS = {
    "a": "‖D_W⁽⁰⁾ − D_W‖₀",
    "b": "‖A D_W W⁽⁰⁾(x,1)‖",
    "c": "‖out₁(x)‖",
    "d": "‖D_V⁽⁰⁾,W − D_V,W‖₀",
    "e": "‖A D_V,W V⁽⁰⁾(out₁,1)‖",
    "f": "‖A D_V,W V⁽⁰⁾‖₂",
    "g": "‖A D_V,W (V⁽⁰⁾+V)(out₁,1)‖",
}
BEYOND_ZERO = 1 + 1e-9  # times a neuron's value takes it to the other side of 0
SMALLEST, LARGEST = 1e-6, 1e6  # of τ: beyond, squares of float64 lose what is measured


@dataclass(frozen=True)
class CoupledNet:
    """A network at its initialisation, and one input."""

    A: Tensor  # N(0, 1/m), shape (k, m)
    W0: Tensor  # N(0, σ_w²), shape (m, d + 1)
    V0: Tensor  # N(0, σ_v²/m), shape (m, k + 1)
    x: Tensor  # of norm 1, shape (d,)


@dataclass(frozen=True)
class Taus:
    """What Lemma C.1 depends on besides the numbers of neurons and outputs."""

    sigma_w: Number
    sigma_v: Number
    tau_w: Number
    tau_v: Number


def draw_coupled(
    d: int, k: int, m: int, sigma_w: float, sigma_v: float, *, generator: torch.Generator
) -> CoupledNet:
    """A network of section 6 at its initialisation, and x uniform on the sphere, in float64."""
    require_memory(8 * 4 * m * (d + 2 * k + 2), f"A network of {m:,} neurons, {d:,} inputs and {k:,} outputs")
    A, W0, V0 = (
        torch.randn(shape, generator=generator, dtype=torch.float64) * scale
        for shape, scale in (
            ((k, m), 1 / math.sqrt(m)),
            ((m, d + 1), sigma_w),
            ((m, k + 1), sigma_v / math.sqrt(m)),
        )
    )
    x = torch.randn(d, generator=generator, dtype=torch.float64)
    return CoupledNet(A, W0, V0, x / x.norm())


def coupling_bounds(m: int, taus: Taus, out1: Number | float) -> dict[str, Number]:
    """The sizes that Lemma C.1 states, by item, without constants and logarithms; `out1` is ‖out₁(x)‖."""
    width, reach_w, reach_v = mpf(m), taus.tau_w / taus.sigma_w, taus.tau_v / taus.sigma_v
    below = taus.tau_v * reach_v ** (mpf(1) / 3)
    return {
        "a": (reach_w * width) ** (mpf(2) / 3),
        "b": taus.tau_w * reach_w ** (mpf(1) / 3) / width ** (mpf(1) / 6),
        "c": taus.tau_w,
        "d": reach_v ** (mpf(2) / 3) * width,
        "e": below * (mpf(out1) + 1),
        "f": below,
        "g": taus.tau_v * (mpf(out1) + 1),
    }


def coupling_sizes(net: CoupledNet, W: Tensor, V: Tensor) -> dict[str, float]:
    """The sizes of Lemma C.1, by item, for steps W (m, d + 1) and V (m, k + 1)."""
    first = _with_one(net.x)
    out1 = net.A @ ((net.W0 + W) @ first).clamp(min=0)
    second = _with_one(out1)
    D_w, D_v = (net.W0 + W) @ first >= 0, (net.V0 + V) @ second >= 0
    kept = net.A * D_v
    return {
        "a": float(((net.W0 @ first >= 0) != D_w).sum()),
        "b": float((net.A @ (D_w * (net.W0 @ first))).norm()),
        "c": float(out1.norm()),
        "d": float(((net.V0 @ second >= 0) != D_v).sum()),
        "e": float((kept @ (net.V0 @ second)).norm()),
        "f": float(torch.linalg.matrix_norm(kept @ net.V0, 2)),
        "g": float((kept @ ((net.V0 + V) @ second)).norm()),
    }


def random_step(like: Tensor, norm: float, *, generator: torch.Generator) -> Tensor:
    """A Gaussian matrix in the shape of `like`, of this spectral norm."""
    step = torch.randn(like.shape, generator=generator, dtype=like.dtype)
    return step * (norm / torch.linalg.matrix_norm(step, 2))


def flipping_step(start: Tensor, inputs: Tensor, norm: float, gains: Tensor | None = None) -> Tensor:
    """A step of rank 1 and spectral norm at most `norm` that changes signs of `start @ inputs`.

    Changing the sign of a neuron takes a movement as large as its value, and ‖step @ inputs‖ ≤ norm ‖inputs‖.
    Without `gains` the smallest values are changed, which are the most that any step of this norm can change.

    Args:
        start: Weights, shape (m, columns).
        inputs: Shape (columns,).
        norm: Of the step, at most.
        gains: What changing each neuron is worth, shape (m,); by worth per square of the value, none below 0.
    """
    values = start @ inputs
    cost = (BEYOND_ZERO * values).square()
    worth = torch.ones_like(cost) if gains is None else gains
    order = (worth / cost.clamp(min=torch.finfo(cost.dtype).tiny)).argsort(descending=True)
    order = order[worth[order] > 0]
    within = order[cost[order].cumsum(0) <= norm**2 * inputs.square().sum()]
    moved = torch.zeros_like(values)
    moved[within] = -BEYOND_ZERO * values[within]
    return torch.outer(moved, inputs) / inputs.square().sum()


def pushing_gains(A: Tensor, values: Tensor) -> Tensor:
    """What each change of sign adds to ‖A σ(values)‖, A (k, m): to either side it adds −A_j |value_j|."""
    now = A @ values.clamp(min=0)
    return -(now / now.norm().clamp(min=torch.finfo(now.dtype).tiny)) @ A * values.abs()


def raising_step(A: Tensor, inputs: Tensor, norm: float) -> Tensor:
    """The step of this spectral norm that moves neuron j in proportion to A_{1,j}, where that is positive."""
    weights = A[0].clamp(min=0)
    return torch.outer(weights, inputs) * (norm / (weights.norm() * inputs.norm()))


def measured_coupling(
    net: CoupledNet, tau_w: float, tau_v: float, *, generator: torch.Generator
) -> dict[str, dict[str, float]]:
    """`coupling_sizes` by step: `random`, `most signs`, `push` and `raise`, each of both layers at once."""
    make: dict[str, Callable[[Tensor, Tensor, float], Tensor]] = {
        "random": lambda start, _inputs, norm: random_step(start, norm, generator=generator),
        "most signs": flipping_step,
        "push": lambda start, inputs, norm: flipping_step(
            start, inputs, norm, pushing_gains(net.A, start @ inputs)
        ),
        "raise": lambda _start, inputs, norm: raising_step(net.A, inputs, norm),
    }
    first = _with_one(net.x)
    found = {}
    for name, step in make.items():
        W = step(net.W0, first, tau_w)
        out1 = net.A @ ((net.W0 + W) @ first).clamp(min=0)
        found[name] = coupling_sizes(net, W, step(net.V0, _with_one(out1), tau_v))
    return found


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, x.new_ones(1)])


@RESNET.states(
    "Lemma C.1",
    "What stays small near initialisation: the bounds, and what a drawn network has",
    m=Argument("number of neurons of a hidden layer, which are drawn", low=2, high=10**7),
    k=Argument("number of outputs", low=1, high=1000),
    d=Argument("number of inputs", low=1, high=10**4),
    tau_w=Argument("largest spectral norm τ_w of W", low=SMALLEST, high=LARGEST),
    tau_v=Argument("largest spectral norm τ_v of V", low=SMALLEST, high=LARGEST),
    sigma_w=Argument("standard deviation σ_w of W0, 0 for the middle of its range", low=0.0, high=LARGEST),
    sigma_v=Argument("σ_v, √m times the standard deviation of V0, 0 for the middle", low=0.0, high=LARGEST),
    seed=Argument("seed of what is drawn", low=0, high=2**63 - 1),
    C="before every bound, with the polylog(m) of Õ",
)
def lemma_c_1(
    m: int,
    k: int,
    d: int,
    tau_w: float = 1.0,
    tau_v: float = 0.1,
    sigma_w: float = 0.0,
    sigma_v: float = 0.0,
    seed: int = 0,
    *,
    C: float = 1.0,
) -> Found:
    """Of the seven bounds of Lemma C.1 the one that a drawn network comes nearest to: measured over bound."""
    taus = _taus(m, k, tau_w, tau_v, sigma_w, sigma_v)
    require_work(20.0 * m * ((d + 1) ** 2 + (k + 1) ** 2), "m, d or k")
    generator = torch.Generator().manual_seed(seed)
    net = draw_coupled(d, k, m, as_float(taus.sigma_w), as_float(taus.sigma_v), generator=generator)
    by_step = measured_coupling(net, tau_w, tau_v, generator=generator)
    shares, terms = _shares(m, taus, by_step, C)
    most = {
        "(a) for many neurons, the most": m
        * sign_change_share(as_float(taus.tau_w / taus.sigma_w) / math.sqrt(m)),
        "(d) for many neurons, the most": m * sign_change_share(as_float(taus.tau_v / taus.sigma_v)),
    }
    nearest = max(shares, key=lambda item: shares[item])
    return Found(
        as_float(shares[nearest]),
        "largest of measured/bound: (a) C(τ_w m/σ_w)^(2/3), (b) Cτ_w(τ_w/σ_w)^(1/3)/m^(1/6), (c) Cτ_w, "
        "(d) C(τ_v/σ_v)^(2/3)m, (e) Cτ_v(τ_v/σ_v)^(1/3)(‖out₁‖+1), (f) Cτ_v(τ_v/σ_v)^(1/3), "
        "(g) Cτ_v(‖out₁‖+1)",
        f"{mpf_text(shares[nearest])} in ({nearest}), {ITEMS[nearest]}, at σ_w = {mpf_text(taus.sigma_w)}, "
        f"σ_v = {mpf_text(taus.sigma_v)}",
        terms | most,
        _coupling_demands(m, k, taus),
        (
            "The lemma is for all steps at once. Measured are four: random, with the most sign changes, with "
            "the changes that push furthest, and with a large output; (a) is the most that any step has, the "
            "others are at least what some step has.",
            f"For these steps the bounds hold from C = {mpf_text(C * shares[nearest])} on.",
        ),
    )


def _taus(m: int, k: int, tau_w: float, tau_v: float, sigma_w: float, sigma_v: float) -> Taus:
    """The scales in numbers without limit; a σ of 0 becomes the middle of what the τ allow."""
    low_w, high_w = mpf(tau_w) ** 4 * mpf(m) ** mpf("-0.496"), mpf(tau_w) * mpf(m) ** mpf("-0.126")
    low_v, high_v = mpf(tau_v), mpf(tau_v) * (mpf(m) / k) ** mpf("0.375")
    return Taus(
        mpf(sigma_w) if sigma_w else context.sqrt(low_w * high_w),
        mpf(sigma_v) if sigma_v else context.sqrt(low_v * high_v),
        mpf(tau_w),
        mpf(tau_v),
    )


def _coupling_demands(m: int, k: int, taus: Taus) -> tuple[Demand, ...]:
    """The ranges of τ_w and τ_v."""
    low_w, high_w = (
        mpf(m) ** mpf("0.126") * taus.sigma_w,
        mpf(m) ** mpf("0.124") * taus.sigma_w ** mpf("0.25"),
    )
    low_v = taus.sigma_v * (mpf(k) / m) ** mpf("0.375")
    return (
        Demand("τ_w", taus.tau_w, "≥", 1),
        Demand("τ_w", taus.tau_w, "≥", low_w, "m^(1/8+0.001)·σ_w"),
        Demand("τ_w", taus.tau_w, "≤", high_w, "m^(1/8−0.001)·σ_w^(1/4)"),
        Demand("τ_v", taus.tau_v, "≥", low_v, "σ_v·(k/m)^(3/8)"),
        Demand("τ_v", taus.tau_v, "≤", taus.sigma_v, "σ_v"),
    )


def _shares(
    m: int, taus: Taus, by_step: Mapping[str, Mapping[str, float]], C: float
) -> tuple[dict[str, Number], dict[str, Number | float]]:
    """Measured over bound, the largest over the steps, and both by item for the answer."""
    shares: dict[str, Number] = {}
    terms: dict[str, Number | float] = {}
    for item, what in ITEMS.items():
        bounds = {step: C * coupling_bounds(m, taus, sizes["c"])[item] for step, sizes in by_step.items()}
        largest = max(by_step, key=lambda step: by_step[step][item] / bounds[step])
        shares[item] = by_step[largest][item] / bounds[largest]
        terms |= {
            f"({item}) bound on {what}": bounds[largest],
            f"({item}) measured": by_step[largest][item],
        }
    return shares, terms


QUANTITIES = entries(lemma_c_1)
