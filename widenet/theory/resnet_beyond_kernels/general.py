"""Concept 1 of `resnet-beyond-kernels` as Concept 2 [Lemma A.2], and how steep that makes F [Fact A.3].

Networks without a random bias make functions with a constant and odd powers only, times ⟨w2, (x, 1)⟩
[Definition A.1]. A function φ(z) = Σ c_i zⁱ is φ⁺(z) + z φ⁻(z) with φ⁺ its constant and odd powers and
φ⁻(z) = Σ_{even i ≥ 2} c_i z^{i−1}, both of that form. With ‖x‖ = 1, so that ‖(x, 1)‖ = √2, and z = ⟨w, x⟩/√2,

    φ(z) = φ⁺(⟨(w,0), (x,1)⟩/‖(x,1)‖) ⟨(0,1), (x,1)⟩ + 1/√2 φ⁻(⟨(w,0), (x,1)⟩/‖(x,1)‖) ⟨(w,0), (x,1)⟩.

A term φ(⟨w1, u⟩)⟨w2, (x,1)⟩, u = (x,1)/‖(x,1)‖, has a gradient of norm at most |φ| + 2|φ′| by the proof of
Fact A.3, which is at most Σ (2i + 1)|c_i| on [−1, 1].
"""

import math

import torch

from widenet.base.errors import InputError
from widenet.data.concepts import Function, GeneralSums, RidgeSums
from widenet.theory.beyond_two_layers.hermite import taylor_degree
from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
from widenet.theory.numbers import INFINITY, four_digits, log10, mpf
from widenet.theory.resnet_beyond_kernels.symbols import RESNET
from widenet.theory.smooth.complexity import (
    C_STAR,
    RESNET_POWER,
    SMOOTH,
    complexity_sum,
    epsilon_weights,
    sample_weights,
    star_constant,
)
from widenet.theory.smooth.functions import PowerSum, Smooth, function_from_text, power_sum
from widenet.theory.smooth.taylor import Taylor, polynomial
from widenet.theory.stated import Found, entries

ACCURACY = 1e-12  # of the Taylor polynomial that stands for a function
SMOOTH_PHI = Argument("function φ: a formula in z, such as sin(3*z), or coefficients")


def odd_parts(coefficients: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients of φ⁺ and φ⁻, φ(z) = φ⁺(z) + z φ⁻(z), from those of φ.

    >>> odd_parts((1.0, 2.0, 3.0, 4.0))
    ((1.0, 2.0, 0.0, 4.0), (0.0, 3.0, 0.0))
    """
    kept = tuple(c if i == 0 or i % 2 else 0.0 for i, c in enumerate(coefficients))
    rest = tuple(c if i % 2 == 0 and i else 0.0 for i, c in enumerate(coefficients))
    return kept, rest[1:] or (0.0,)


def general_form(F: RidgeSums) -> GeneralSums:
    """F of Concept 1 as a sum of Definition A.1 with the same values at all x of norm 1 [Lemma A.2].

    It has 2p terms where all outputs share their w, as Lemma A.2 has it. Otherwise it has 2kp, those of other
    outputs with weight 0, since Definition A.1 has one w for all outputs. A function that is no polynomial is
    replaced by its Taylor polynomial, with an error of at most 10⁻¹².

    Args:
        F: With `Smooth` functions and ‖w‖ = 1/√2.
    """
    k, p, d = F.w.shape
    sets = 1 if bool((F.w == F.w[:1]).all()) else k
    w = math.sqrt(2) * F.w[:sets].reshape(sets * p, d)
    along = torch.cat([w, w.new_zeros(sets * p, 1)], dim=1)
    up = torch.eye(d + 1, dtype=w.dtype)[-1:].expand(sets * p, -1)
    a = F.a if sets == 1 else torch.block_diag(*F.a.unbind())
    functions = [F.functions[r] if sets == 1 else sum(map(tuple, F.functions), ()) for r in range(k)]
    parts = [[_split(function) for function in row] for row in functions]
    return GeneralSums(
        [[plus for plus, _ in row] + [minus for _, minus in row] for row in parts],
        torch.cat([along, along]),
        torch.cat([up, along]),
        torch.cat([a, a / math.sqrt(2)], dim=1),
    )


def _split(function: Function) -> tuple[PowerSum, PowerSum]:
    """φ⁺ and φ⁻."""
    if not isinstance(function, Smooth):
        raise InputError("The target's functions must be Smooth, made from formulas, to have Taylor series.")
    plus, minus = odd_parts(_coefficients(function.series, ACCURACY))
    return power_sum(plus), power_sum(minus)


def _coefficients(series: Taylor, epsilon: float) -> tuple[float, ...]:
    return tuple(float(c) for c in series.coefficients(taylor_degree(series, epsilon) + 1))


@RESNET.states(
    "Lemma A.2",
    "φ of Concept 1 as two functions of Concept 2: their complexities",
    phi=SMOOTH_PHI,
    epsilon=Argument(
        "accuracy ε of C_ε, and of the Taylor polynomial taken for φ", low=0.0, high=1.0, strict=True
    ),
    c_star=SMOOTH.symbols["c_star"],
)
def lemma_a_2(phi: str, epsilon: float = 1e-6, c_star: float = C_STAR) -> Found:
    """The larger C_s of φ⁺ and φ⁻, φ = φ⁺ + zφ⁻, which must not exceed C_s(φ); the same for C_ε."""
    coefficients = _coefficients(function_from_text(phi), epsilon)
    if not all(map(math.isfinite, coefficients)):
        raise InputError(f"φ = {phi} has a Taylor coefficient too large for a float; scale it down.")
    parts = dict(zip(("φ⁺", "φ⁻"), odd_parts(coefficients), strict=True))
    of_samples, of_width = (
        {
            name: complexity_sum(polynomial(list(each)), weights).value
            for name, each in ({"φ": coefficients} | parts).items()
        }
        for weights in (
            sample_weights(mpf(1), RESNET_POWER, mpf(c_star)),
            epsilon_weights(mpf(1), mpf(epsilon), mpf(c_star)),
        )
    )
    largest, widest = (max(of[name] for name in parts) for of in (of_samples, of_width))
    return Found(
        largest,
        "max(C_s(φ⁺), C_s(φ⁻)) ≤ C_s(φ),  φ(z) = φ⁺(z) + zφ⁻(z),  φ⁺ = c₀ + Σ_{odd i} cᵢzⁱ",
        f"max({four_digits(of_samples['φ⁺'])}, {four_digits(of_samples['φ⁻'])}) = {four_digits(largest)}",
        {
            "degree": len(coefficients) - 1,
            **{f"C_s({name})": value for name, value in of_samples.items()},
            **{f"log10 C_ε({name})": log10(value) for name, value in of_width.items()},
        },
        (
            Demand("max C_s of the parts", largest, "≤", of_samples["φ"], "C_s(φ)"),
            Demand("max C_ε of the parts", widest, "≤", of_width["φ"], "C_ε(φ)"),
        ),
        (
            "A term of F becomes two, so p terms become 2p, with weights a* and a*/√2; F and what it becomes "
            "agree where ‖x‖ = 1.",
        ),
        constants={"C*": star_constant(c_star)},
    )


@RESNET.states(
    "Fact A.3, proof",
    "How steep a term φ(⟨w1,u⟩)⟨w2,(x,1)⟩ of F is, and the last step of the proof",
    "resnet-fact-a.3-slope",
    phi=SMOOTH_PHI,
    c_star=SMOOTH.symbols["c_star"],
)
def fact_a3_slope(phi: str, c_star: float = C_STAR) -> Found:
    """Σ (2i + 1)|c_i| ≥ |φ| + 2|φ′| on [−1, 1], which bounds the gradient of a term, beside C_s(φ).

    The proof ends with 3C_s(φ), and with 3pC_s for an output, where the fact has pC_s. The 3 is not lost: C_s
    has C* as a factor, and Σ (2i + 1)|c_i| is below 2C_s/C*, so pC_s holds as soon as C* ≥ 2.
    """
    plain, weighted = (complexity_sum(phi, sample_weights(mpf(1), power, mpf(1))).value for power in (0, 1))
    slope = 2 * weighted - plain if weighted < INFINITY else INFINITY
    complexity = mpf(c_star) * weighted
    return Found(
        slope,
        "‖∇(φ(⟨w1,u⟩)⟨w2,(x,1)⟩)‖ ≤ |φ| + 2|φ′| ≤ Σ (2i+1)|cᵢ| ≤ C_s(φ) ≤ 3C_s(φ)",
        f"Σ (2i+1)|cᵢ| = {four_digits(slope)}, C_s(φ) = {four_digits(complexity)}",
        {"C_s(φ)": complexity, "3C_s(φ) of the proof": 3 * complexity},
        (Demand("Σ (2i+1)|cᵢ|", slope, "≤", complexity, "C_s(φ)"),),
        (
            "The first bound of the fact, ‖F(x)‖ ≤ √k·p·C_s·‖x‖, is to be read with ‖(x,1)‖ in place of ‖x‖: "
            "F(0) need not be 0.",
        ),
        constants={"C*": star_constant(c_star)},
    )


QUANTITIES = entries(lemma_a_2, fact_a3_slope)
