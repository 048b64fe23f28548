"""What the theorems of `mild-memorisation` say of one network on one data set."""

from collections.abc import Callable
from functools import partial

from widenet.inside.answer import NORM_ROUNDING, Answer, distinct, exact, partly, unproven
from widenet.inside.measured import MeasuredData
from widenet.inside.settings import InsideSettings
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.mild_memorisation.descent import C_PGD, rise_demand, theorem4
from widenet.theory.mild_memorisation.landscape import landscape_demands
from widenet.theory.mild_memorisation.random_layer import (
    MOST_NEURONS,
    largest_smoothed_width,
    smoothed_width,
    symmetric_dimension,
)
from widenet.theory.mild_memorisation.symbols import MILD_MEMORISATION
from widenet.theory.mild_memorisation.three_layers import theorem5, theorem6
from widenet.theory.quantity import Quantity

PAPER = MILD_MEMORISATION.id
NOISE = 0.01  # standard deviation per coordinate for Theorem 5, as in the paper's experiments
MOST_LAYER_POWERS = 8  # p up to which a random layer is looked for
HIDDEN_SIGMA = "Rounding hides whether σ is above 0; a little noise on inputs of norm 1 fixes that."
OUR_C = (
    f"Algorithm 1 has η = c/ℓ with c ≤ c_max, which the paper does not give: c = {C_PGD:g} is our choice."
    " A smaller η means a smaller c = ηℓ, which takes more steps."
)


def memorisation_answers(data: MeasuredData, settings: InsideSettings) -> tuple[Answer, ...]:
    """Theorems 4 (with 1), 5 (with 2) and 6."""
    return (_two_layers(data, settings), _smoothed(data, settings), _without_noise(data, settings))


def _two_layers(data: MeasuredData, settings: InsideSettings) -> Answer:
    sigma = _known(data.sigma, data.sigma_floor, data.n > symmetric_dimension(data.d, 2))

    def descent(sigma: float) -> tuple[Demand, ...]:
        sizes = (data.n, data.d, settings.width, data.largest_norm, data.largest_label)
        at = partial(theorem4, *sizes, sigma, data.start_loss, settings.epsilon, settings.delta)
        return _descent_demands(at, settings, "((f(0)+1)/f_thres + 1)(t_thres + 1)") if sigma > 0 else ()

    needed, proven = descent(data.sigma), descent(data.sigma_floor)
    demands = (*_up_to_sign(data), *landscape_demands(data.n, data.d, settings.width, sigma), *needed)
    return Answer(
        PAPER,
        "Theorem 4",
        f"two layers of squares memorise these labels to a loss of {settings.epsilon:g}.",
        demands,
        (
            "The network is Σ a_i (w_iᵀx)², trained by perturbed gradient descent.",
            OUR_C,
            *((HIDDEN_SIGMA,) if sigma is None else ()),
        ),
        (*partly(data), *unproven("σ", data.sigma, data.sigma_floor, demands, proven)),
    )


def _known(value: float, floor: float, impossible: bool) -> float | None:
    """σ where it is proven to be above 0, or to be 0; None where rounding hides which."""
    return 0.0 if impossible else value if floor > 0 else None


def _up_to_sign(data: MeasuredData) -> tuple[Demand, ...]:
    """Repeated rows, and opposite ones, for which x⊗x is the same: either makes σ of all rows 0."""
    opposite = Demand("number of rows x with a row −x", data.num_opposite, "≤", 0)
    return (*distinct(data), *((opposite,) if data.num_opposite else ()))


def _descent_demands(at: Callable[..., Quantity], settings: InsideSettings, count: str) -> tuple[Demand, ...]:
    """Steps and step size of perturbed gradient descent, by the theorem `at` a constant c of Algorithm 1.

    A step η below c/ℓ is that of Algorithm 1 at the smaller c = ηℓ.
    """
    found = at(c=C_PGD)
    largest = found.terms["η"]
    if settings.eta is not None and settings.eta < largest:
        found = at(c=settings.eta * found.terms["ℓ"])
    rise = rise_demand(found.terms["rise of g"])
    return (
        Demand("steps", settings.steps, "≥", exact(found), count),
        Demand("step η", settings.eta, "≤", largest, "c/ℓ"),
        *(() if rise.holds else (rise,)),
    )


def _smoothed(data: MeasuredData, settings: InsideSettings) -> Answer:
    n, k = data.n, smoothed_width(data.n)
    fitting = (p for p in range(1, MOST_LAYER_POWERS + 1) if k <= largest_smoothed_width(data.d, p))
    p = next(fitting, MOST_LAYER_POWERS)
    most = largest_smoothed_width(data.d, p)
    at = partial(theorem5, n, data.d, p, NOISE**2, settings.epsilon, settings.delta)
    return Answer(
        PAPER,
        "Theorem 5",
        f"three layers memorise these labels, noise of {NOISE:g} per coordinate added to the inputs.",
        (
            Demand("random neurons k = 2⌈√n⌉", k, "≤", most, MOST_NEURONS),
            Demand("trained neurons r", settings.width, "≥", 2 * k + 2, "2k + 2"),
            _labels_within_1(data),
            Demand("largest input norm", data.largest_norm, "≤", 1 + NORM_ROUNDING),
            *(_descent_demands(at, settings, "Theorem 4's at z") if k <= most else ()),
        ),
        (
            f"Its first layer is ({k:,} random directions)^{p}; it bounds σ_z by "
            f"{mpf_text(at(c=C_PGD).terms['σ_z'])}.",
            OUR_C,
        ),
        ("The noise has been added.",),
    )


def _labels_within_1(data: MeasuredData) -> Demand:
    """What Theorems 5 and 6 are stated for; other labels are to be scaled, and ε with them."""
    return Demand("largest label |y|", data.largest_label, "≤", 1.0)


def _without_noise(data: MeasuredData, settings: InsideSettings) -> Answer:
    p = data.power
    k, most = 2 * p * symmetric_dimension(data.d, p), symmetric_dimension(data.d, 2 * p)
    value, floor = data.power_sigma, data.power_sigma_floor
    sigma = _known(value, floor, data.n > most)

    def descent(sigma: float) -> tuple[Demand, ...]:
        of_layer = (data.n, data.d, k, p, sigma, settings.epsilon, settings.delta, data.largest_norm)
        at = partial(theorem6, *of_layer)
        return _descent_demands(at, settings, "Theorem 4's at z") if sigma > 0 else ()

    needed, proven = descent(value), descent(floor)
    demands: tuple[Demand, ...] = (
        *_up_to_sign(data),
        Demand("number of samples n", data.n, "≤", most, "D_d^{2p}"),
        Demand(f"smallest singular value σ of [x^{{⊗{2 * p}}}]", sigma, ">", 0.0),
        Demand("trained neurons r", settings.width, "≥", 2 * k + 2, "2k + 2"),
        _labels_within_1(data),
        *needed,
    )
    return Answer(
        PAPER,
        "Theorem 6",
        "three layers memorise these labels, the inputs as they are.",
        demands,
        (
            f"With p = {p} and k = 2pD_d^p = {k:,} random neurons.",
            OUR_C,
            *((HIDDEN_SIGMA,) if sigma is None else ()),
        ),
        (*partly(data), *unproven("σ", value, floor, demands, proven)),
    )
