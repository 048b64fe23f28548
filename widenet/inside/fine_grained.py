"""What the theorems of `fine-grained` say of one network on one data set."""

from widenet.inside.answer import NORM_ROUNDING, Answer, distinct, partly, unproven
from widenet.inside.measured import MeasuredData
from widenet.inside.settings import InsideSettings
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.fine_grained.bounds import generalisation_bound, generalisation_demands, theorem_5_1
from widenet.theory.fine_grained.descent import (
    convergence_demands,
    start_demand,
    step_demand,
    tracking_demands,
)
from widenet.theory.fine_grained.learnable import num_samples
from widenet.theory.fine_grained.movement import movement_width
from widenet.theory.fine_grained.symbols import FINE_GRAINED

PAPER = FINE_GRAINED.id
CLAIMS = {
    "Theorem 3.1": "gradient descent brings the training loss to 0, by a factor 1 − ηλ₀/2 each step.",
    "Theorem 4.1": "the loss follows the curve that the eigenvalues of H∞ predict.",
    "Lemma 5.3": "the weights move no further than √(yᵀH⁻¹y), up to a small error.",
    "Theorem 5.1": "the population loss, and for labels ±1 the share of mistakes (Corollary 5.2), is below "
    "the bound.",
}
DRAWN = (
    "The rows are independent draws of one distribution, for which λ₀ is as large with high probability "
    "(Definition 5.1; `widenet theory fine-grained-definition-5.1` asks samples of them).",
)


def fine_grained_answers(data: MeasuredData, settings: InsideSettings) -> tuple[Answer, ...]:
    """Theorems 3.1, 4.1, 5.1 with Corollary 5.2, Lemma 5.3 and Corollary 6.2."""
    needed, proven = (_needed(data.n, floor, settings) for floor in (data.lambda_min, data.lambda_floor))
    quadratic = data.quadratic if data.quadratic_upper is None else data.quadratic_upper
    samples = num_samples(quadratic, settings.epsilon, settings.delta)
    known = data.lambda_min, data.lambda_floor
    assumed = {place: unproven("λ₀", *known, needed[place], proven[place]) for place in CLAIMS}
    return (
        *(
            Answer(
                PAPER,
                place,
                claim,
                (*distinct(data), *needed[place]),
                (*_notes(place, data, settings), *_label_notes(data), *_row_notes(data)),
                (*partly(data), *assumed[place], *(DRAWN if place == "Theorem 5.1" else ())),
            )
            for place, claim in CLAIMS.items()
        ),
        Answer(
            PAPER,
            "Corollary 6.2",
            f"these labels are learned to a population loss of {settings.epsilon:g} from this many samples.",
            (
                *distinct(data),
                *needed["Theorem 5.1"],
                Demand("samples n", data.n, "≥", samples, "C·(yᵀH⁻¹y + log(1/δ))/ε²"),
            ),
            (
                f"√(yᵀH⁻¹y) = {mpf_text(quadratic**0.5)} stands for the bound 3 Σ p|α|‖β‖^p of a known "
                "target.",
                *_row_notes(data),
            ),
            (
                *partly(data),
                *assumed["Theorem 5.1"],
                *DRAWN,
                "The labels are those of a target (12) with no larger bound.",
            ),
        ),
    )


def _needed(n: int, floor: float, settings: InsideSettings) -> dict[str, tuple[Demand, ...]]:
    """What each theorem in `CLAIMS` requires; without κ, at the κ that requires least."""
    m, eta, kappa, delta = settings.width, settings.eta, settings.kappa, settings.delta
    if floor <= 0:  # rounding hides it, which is no proof that it is 0
        return dict.fromkeys(CLAIMS, (Demand("smallest eigenvalue λ₀ of H∞", None, ">", 0.0),))
    width = movement_width(n, floor, 1.0 if kappa is None else kappa, delta)
    return {
        "Theorem 3.1": convergence_demands(n, floor, m, eta, kappa, delta),
        "Theorem 4.1": tracking_demands(n, floor, m, eta, kappa, settings.epsilon, delta),
        "Lemma 5.3": (
            start_demand(kappa),
            Demand("width m", m, "≥", width, "C_m·n⁸/(λ₀⁶κ²δ⁴)"),
            step_demand(n, floor, eta),
        ),
        "Theorem 5.1": generalisation_demands(n, floor, m, eta, kappa, settings.steps, delta),
    }


def _notes(place: str, data: MeasuredData, settings: InsideSettings) -> tuple[str, ...]:
    if data.lambda_min <= 0:
        return ("Rounding hides whether λ₀ is above 0.",)
    return _bound_notes(data, settings) if place == "Theorem 5.1" else ()


def _label_notes(data: MeasuredData) -> tuple[str, ...]:
    one = f"It covers one output; each of the {data.num_outputs} columns is a network of its own."
    scaled = f"Labels were divided by {mpf_text(data.label_scale)}, to be at most 1 as in the paper."
    return (*((one,) if data.num_outputs > 1 else ()), *((scaled,) if data.label_scale > 1 else ()))


def _row_notes(data: MeasuredData) -> tuple[str, ...]:
    off = max(1 - data.smallest_norm, data.largest_norm - 1)
    return ("Rows were scaled to norm 1, as in the paper.",) if off > NORM_ROUNDING else ()


def _bound_notes(data: MeasuredData, settings: InsideSettings) -> tuple[str, ...]:
    n, floor, quadratic, delta = data.num_measured, data.lambda_floor, data.quadratic_upper, settings.delta
    if quadratic is None or floor <= 0:
        return ("Without a proven λ₀ the bound has no value.",)
    bound = generalisation_bound(quadratic, n / 2, n, delta=delta).value
    tells = "which is vacuous for a loss of at most 1" if bound >= 1 else "which is not vacuous"
    limit = f"For unbounded width and vanishing κ the bound is {mpf_text(bound)}, {tells}."
    eta, kappa, steps = settings.eta, settings.kappa, settings.steps
    if eta is None or kappa is None or steps is None:
        return (limit,)
    here = theorem_5_1(n, floor, settings.width, eta, kappa, delta, steps, quadratic)
    given = "With this width, κ, step and number of steps, and this λ₀ known before the sample"
    return (limit, f"{given}, the proof gives {mpf_text(here.value)}.")
