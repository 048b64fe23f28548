"""Concept classes as the theorems see them: numbers of terms, complexities, bounds, the target's own risk.

The targets of `widenet.data` evaluate and sample; here their functions are `Smooth`, so that each has a
Taylor series. The experiments' targets, products of coordinates, become members of the classes by
polarisation: Π_j z_j = 1/(2^{s−1} s!) Σ_σ (Π_j σ_j) (Σ_j σ_j z_j)^s over the signs σ ∈ {±1}^s with σ_1 = 1,
so a product of s coordinates is 2^{s−1} powers of projections [resnet-beyond-kernels, D.4, which takes all
signs].
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.concepts import (
    Concept,
    Function,
    GeneralSums,
    GeneralThreeLayerTarget,
    Parities,
    ResidualTarget,
    RidgeSums,
    Target,
    ThreeLayerTarget,
    TwoLayerTarget,
)
from widenet.data.inputs import Inputs
from widenet.theory.demand import Demand
from widenet.theory.numbers import Number, context, mpf
from widenet.theory.smooth.complexity import (
    C_STAR,
    RESNET_POWER,
    TWO_LAYER_POWER,
    complexity_sum,
    sample_weights,
)
from widenet.theory.smooth.functions import Smooth

NUM_ROWS = 1000  # on which norms are measured
MOST_FACTORS = 12  # of a product that is polarised into 2^11 powers
TOLERANCE = 1e-9


@dataclass(frozen=True)
class ConceptReport:
    """What the theorems need to know of a target.

    Attributes:
        form: The class, as "Concept 1".
        num_outputs: k.
        sizes: Numbers of terms: p_F and p_G, or p, or p1 and p2.
        complexities: C_s of each part, infinite where it diverges.
        bounds: B_F on ‖F(x)‖, L_G on G's Lipschitz constant, B_FG on ‖G(F(x))‖ [resnet-beyond-kernels,
            Fact A.3].
        OPT: E ½‖H(x) − y‖², the risk of the target itself under its label noise.
        demands: What the class asks of weights and inputs, measured.
    """

    form: str
    num_outputs: int
    sizes: Mapping[str, int]
    complexities: Mapping[str, Number]
    bounds: Mapping[str, Number]
    OPT: float
    demands: tuple[Demand, ...]


@dataclass(frozen=True)
class Rescaled:
    """Inputs times a factor."""

    inputs: Inputs
    factor: float

    @property
    def d(self) -> int:
        return self.inputs.d

    def draw(self, n: int, *, generator: torch.Generator) -> Tensor:
        return self.factor * self.inputs.draw(n, generator=generator)


def report(concept: Concept, *, generator: torch.Generator, c_star: float = C_STAR) -> ConceptReport:
    """What the theorems need to know of a target whose functions are `Smooth`.

    Args:
        concept: Of Concept 1 or 2, (3.1), (4.1) or its general form; `in_class` brings the experiments'
            targets to these.
        generator: Draws the rows on which norms are measured.
        c_star: C*.
    """
    X = concept.inputs.draw(NUM_ROWS, generator=generator)
    describe = _REPORTS.get(_form(concept.target))
    if describe is None:
        raise InputError("This target is in none of the papers' classes; bring it into one with in_class.")
    found = describe(concept.target, X, mpf(c_star))
    return replace(found, OPT=concept.num_outputs * concept.noise**2 / 2)


def in_class(concept: Concept, *, generator: torch.Generator) -> Concept:
    """The concept as a member of a class: rescaled to ‖x‖ = ‖F(x)‖ = 1, with `Smooth` functions.

    βF + αG(F) of parities becomes Concept 1, a parity alone (3.1), and the targets of beyond-two-layers'
    figures (4.1). With the scales a of inputs and b of outputs, the new target at ax is b times the old at x.
    """
    target = concept.target
    if isinstance(target, ThreeLayerTarget):
        return replace(concept, target=_smooth_three_layers(target))
    if not isinstance(target, ResidualTarget | Parities) or _form(target):
        return concept
    norm = _one_norm(concept.inputs.draw(NUM_ROWS, generator=generator), "x")
    inputs = Rescaled(concept.inputs, 1 / norm)
    if isinstance(target, Parities):
        return Concept(_as_products(target, concept.d, norm), inputs, concept.noise)
    inner, outer = target.inner, target.outer
    if not isinstance(inner, Parities) or not isinstance(outer, Parities) or target.beta == 0:
        raise InputError("Only βF + αG(F) with β ≠ 0 and parities F and G can be brought into Concept 1.")
    scale = 1 / (abs(target.beta) * math.sqrt(inner.num_outputs))
    F = _as_powers(inner, concept.d, norm, scale * target.beta)
    G = _as_powers(outer, inner.num_outputs, 1 / (scale * target.beta), scale)
    return Concept(ResidualTarget(F, G, target.alpha), inputs, scale * concept.noise)


def polarised(num_factors: int) -> list[tuple[int, ...]]:
    """The signs σ with σ_1 = 1, 2^{s−1} of them."""
    if num_factors > MOST_FACTORS:
        raise InputError(
            f"A product of {num_factors} factors is too long; at most {MOST_FACTORS} are polarised."
        )
    return [(1, *signs) for signs in itertools.product((1, -1), repeat=num_factors - 1)]


def _as_powers(parities: Parities, d: int, norm: float, scale: float) -> RidgeSums:
    """Parities of x = norm · x̂, times `scale`, as sums of φ(⟨w, x̂⟩) with ‖w‖ = 1/√2 and φ a power."""
    s, signs = _num_factors(parities), polarised(_num_factors(parities))
    w = _directions(parities, d, signs) / math.sqrt(2)
    factor = (
        abs(scale) * (parities.factor * norm) ** s * (2 * s) ** (s / 2) / (2 ** (s - 1) * math.factorial(s))
    )
    a = _signs(parities, signs) * math.copysign(1, scale)
    return RidgeSums(((Smooth(f"{factor!r}*z**{s}"),) * len(signs),) * parities.num_outputs, w, a)


def _as_products(parities: Parities, d: int, norm: float) -> TwoLayerTarget:
    """One parity of x = norm · x̂ as Σ a φ(⟨w, x̂⟩)⟨w, x̂⟩, ‖w‖ = 1, φ a power [beyond-two-layers, (3.1)]."""
    s, signs = _num_factors(parities), polarised(_num_factors(parities))
    if parities.num_outputs > 1:
        raise InputError("Only a single parity can be brought into the class (3.1).")
    factor = (parities.factor * norm) ** s * s ** (s / 2) / (2 ** (s - 1) * math.factorial(s))
    w = _directions(parities, d, signs)[0]
    return TwoLayerTarget(
        (Smooth(f"{factor!r}*z**{s - 1}"),) * len(signs), w, w.clone(), _signs(parities, signs)
    )


def _directions(parities: Parities, d: int, signs: list[tuple[int, ...]]) -> Tensor:
    """Unit vectors σ/√s on the coordinates of each output's product, shape (k, p, d)."""
    w = torch.zeros(parities.num_outputs, len(signs), d, dtype=torch.float64)
    for r, subset in enumerate(parities.subsets):
        w[r][:, list(subset)] = torch.tensor(signs, dtype=torch.float64) / math.sqrt(len(subset))
    return w


def _signs(parities: Parities, signs: list[tuple[int, ...]]) -> Tensor:
    """s_r Π_j σ_j, shape (k, p)."""
    products = torch.tensor([math.prod(each) for each in signs], dtype=torch.float64)
    return torch.tensor(list(parities.signs), dtype=torch.float64)[:, None] * products


def _num_factors(parities: Parities) -> int:
    sizes = {len(subset) for subset in parities.subsets}
    if len(sizes) != 1:
        raise InputError("The parities have different numbers of factors; only equal ones can be polarised.")
    return sizes.pop()


def _smooth_three_layers(target: ThreeLayerTarget) -> ThreeLayerTarget:
    """The target of figures 1 or 2 of beyond-two-layers, with the factor √3 of ‖v‖ = 1 moved into Φ."""
    if all(isinstance(function, Smooth) for function in (*target.outer, *target.inner1, *target.inner2)):
        return target
    for first, second in (("sin(3*z)", "cos(7*z)"), ("tanh(8*z)", "tanh(8*z)")):
        smooth = replace(
            target,
            outer=(Smooth("(sqrt(3)*z - 2)**2"),),
            inner1=(Smooth(first),) * 3,
            inner2=(Smooth(second),),
            v1=target.v1 / math.sqrt(3),
        )
        probe = torch.eye(4, dtype=torch.float64)
        if torch.allclose(smooth.evaluate(probe), target.evaluate(probe)):
            return smooth
    raise InputError("The target's functions must be Smooth, made from formulas, to have Taylor series.")


def _one_norm(X: Tensor, what: str) -> float:
    norms = X.norm(dim=1)
    if float(norms.max() - norms.min()) > TOLERANCE * float(norms.max()):
        raise InputError(
            f"‖{what}‖ differs between rows, but the class needs one norm for all; rescale the rows."
        )
    return float(norms[0])


def _concept_1(target: ResidualTarget, X: Tensor, star: Number) -> ConceptReport:
    F, G = target.inner, target.outer
    assert isinstance(F, RidgeSums)
    assert isinstance(G, RidgeSums)
    hidden = F.evaluate(X)
    return _residual(
        "Concept 1",
        target,
        (F.a, G.a),
        star,
        (
            Demand("largest |√2‖w‖ − 1|", _off(math.sqrt(2) * F.w.norm(dim=-1)), "≤", TOLERANCE),
            Demand("largest |√2‖v‖ − 1|", _off(math.sqrt(2) * G.w.norm(dim=-1)), "≤", TOLERANCE),
            Demand(f"largest |‖x‖ − 1| of {NUM_ROWS} rows", _off(X.norm(dim=1)), "≤", TOLERANCE),
            Demand(f"largest |‖F(x)‖ − 1| of {NUM_ROWS} rows", _off(hidden.norm(dim=1)), "≤", TOLERANCE),
        ),
    )


def _concept_2(target: ResidualTarget, X: Tensor, star: Number) -> ConceptReport:
    F, G = target.inner, target.outer
    assert isinstance(F, GeneralSums)
    assert isinstance(G, GeneralSums)
    even = sum(_even_terms(function) for part in (F, G) for function in _flat(part.functions))
    norms = [_off(w.norm(dim=-1)) for w in (F.w1, F.w2, G.w1, G.w2)]
    return _residual(
        "Concept 2",
        target,
        (F.a, G.a),
        star,
        (
            Demand("largest |‖w‖ − 1|", max(norms), "≤", TOLERANCE),
            Demand("functions with even powers", even, "≤", 0),
        ),
        float(F.evaluate(X).norm(dim=1).max()),
    )


def _residual(
    form: str,
    target: ResidualTarget,
    a: tuple[Tensor, Tensor],
    star: Number,
    demands: tuple[Demand, ...],
    measured: float = 1.0,
) -> ConceptReport:
    F, G = target.inner, target.outer
    assert isinstance(F, RidgeSums | GeneralSums)
    assert isinstance(G, RidgeSums | GeneralSums)
    root, p_F, p_G = context.sqrt(F.num_outputs), F.a.shape[1], G.a.shape[1]
    C_F = _largest(_flat(F.functions), 1, RESNET_POWER, star)
    C_G = _largest(_flat(G.functions), 1, RESNET_POWER, star)
    largest_a = max(float(part.abs().max()) for part in a)
    return ConceptReport(
        form,
        F.num_outputs,
        {"p_F": p_F, "p_G": p_G},
        {"C_F": C_F, "C_G": C_G},
        {
            "B_F": root * p_F * C_F,
            "B_F measured": mpf(measured),
            "L_G": root * p_G * C_G,
            "B_FG": root * p_F * C_F * root * p_G * C_G,
        },
        0.0,
        (Demand("largest |a|", largest_a, "≤", 1), Demand("|β − 1|", abs(target.beta - 1), "≤", 0), *demands),
    )


def _two_layers(target: TwoLayerTarget, X: Tensor, star: Number) -> ConceptReport:
    off = max(_off(target.w1.norm(dim=1)), _off(target.w2.norm(dim=1)))
    return ConceptReport(
        "(3.1)",
        target.num_outputs,
        {"p": len(target.functions)},
        {"C_s": _largest(target.functions, 1, TWO_LAYER_POWER, star)},
        {},
        0.0,
        (
            Demand("largest |a|", float(target.a.abs().max()), "≤", 1),
            Demand("largest |‖w‖ − 1|", off, "≤", TOLERANCE),
            Demand(f"largest |‖x‖ − 1| of {NUM_ROWS} rows", _off(X.norm(dim=1)), "≤", TOLERANCE),
        ),
    )


def _three_layers(target: ThreeLayerTarget, X: Tensor, star: Number) -> ConceptReport:
    p2 = max(len(target.inner1), len(target.inner2))
    inner = _largest((*target.inner1, *target.inner2), 1, TWO_LAYER_POWER, star)
    outer = _largest(target.outer, p2 * inner, TWO_LAYER_POWER, star) if inner < context.inf else inner
    off = max(_off(weights.norm(dim=1)) for weights in (target.w1, target.w2, target.v1, target.v2))
    return ConceptReport(
        "(4.1)",
        target.num_outputs,
        {"p1": len(target.outer), "p2": p2},
        {"C_s(phi)": inner, "C_s(Phi)": outer},
        {},
        0.0,
        (
            Demand("largest |a|", float(target.a.abs().max()), "≤", 1),
            Demand("largest |‖w‖ − 1| and |‖v‖ − 1|", off, "≤", TOLERANCE),
            Demand(f"largest |‖x‖ − 1| of {NUM_ROWS} rows", _off(X.norm(dim=1)), "≤", TOLERANCE),
        ),
    )


def _general_three_layers(target: GeneralThreeLayerTarget, X: Tensor, star: Number) -> ConceptReport:
    found = _three_layers(target, X, star)
    off = max(_off(weights.norm(dim=1)) for weights in (target.w3, target.w4))
    along = float((target.w1 * target.w3).sum(1).abs().max())
    return replace(
        found,
        form="Remark 4.2",
        demands=(
            *found.demands,
            Demand("largest |‖w3‖ − 1| and |‖w4‖ − 1|", off, "≤", TOLERANCE),
            Demand("largest |⟨w1, w3⟩|", along, "≤", TOLERANCE),
        ),
    )


def _largest(functions: Iterable[Function], R: Number, power: float, star: Number) -> Number:
    """The largest C_s(φ, R); each formula is summed once."""
    by_text = {_smooth(function).text: _smooth(function).series for function in functions}
    return max(complexity_sum(each, sample_weights(mpf(R), power, star)).value for each in by_text.values())


def _smooth(function: Function) -> Smooth:
    if not isinstance(function, Smooth):
        raise InputError("The target's functions must be Smooth, made from formulas, to have Taylor series.")
    return function


def _even_terms(function: Function) -> bool:
    """Whether a power 2, 4, … occurs among the first terms."""
    return any(c for c in _smooth(function).series.coefficients(64)[2::2])


def _flat(functions: Iterable[Iterable[Function]]) -> tuple[Function, ...]:
    return tuple(itertools.chain.from_iterable(functions))


def _off(norms: Tensor) -> float:
    return float((norms - 1).abs().max())


def _form(target: Target) -> str:
    match target:
        case ResidualTarget(inner=RidgeSums(), outer=RidgeSums()):
            return "Concept 1"
        case ResidualTarget(inner=GeneralSums(), outer=GeneralSums()):
            return "Concept 2"
        case TwoLayerTarget():
            return "(3.1)"
        case GeneralThreeLayerTarget():
            return "Remark 4.2"
        case ThreeLayerTarget():
            return "(4.1)"
    return ""


_REPORTS: dict[str, Callable[..., ConceptReport]] = {
    "Concept 1": _concept_1,
    "Concept 2": _concept_2,
    "(3.1)": _two_layers,
    "(4.1)": _three_layers,
    "Remark 4.2": _general_three_layers,
}
