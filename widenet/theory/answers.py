"""What each theorem of three papers says of one network on one data set."""

from dataclasses import dataclass
from typing import Any

from widenet.theory.demand import Demand, factor_text, text
from widenet.theory.fine_grained.bounds import generalisation_bound, generalisation_demands
from widenet.theory.fine_grained.descent import convergence_demands, step_demand, tracking_demands
from widenet.theory.fine_grained.learnable import num_samples
from widenet.theory.fine_grained.movement import movement_width
from widenet.theory.measured import Measured
from widenet.theory.mild_memorisation.descent import theorem4
from widenet.theory.mild_memorisation.landscape import landscape_demands
from widenet.theory.mild_memorisation.random_layer import (
    largest_smoothed_width,
    smoothed_width,
    symmetric_dimension,
)
from widenet.theory.mild_memorisation.three_layers import theorem5, theorem6
from widenet.theory.quantity import Quantity
from widenet.theory.resnet_beyond_kernels.theorems import table_1, theorem_1
from widenet.theory.smooth.complexity import C_STAR
from widenet.theory.smooth.series import Number, mpf

NOISE = 0.01  # standard deviation per coordinate that Theorem 5 is asked with, as in the paper's experiments
MOST_POWERS = 8  # p up to which a random layer is looked for
ROUNDING = 1e-6  # by which rows of norm 1 may miss it


@dataclass(frozen=True)
class Setting:
    """A network and its training, as given; None where something is left open.

    Attributes:
        width: Neurons m of the hidden layer.
        eta: Step η.
        kappa: Standard deviation κ of the initial weights.
        steps: Number of steps.
        epsilon: Accuracy, loss or risk to reach.
        delta: Failure probability.
    """

    width: int
    eta: float | None
    kappa: float | None
    steps: int | None
    epsilon: float
    delta: float


@dataclass(frozen=True)
class Answer:
    """What one theorem says of the network.

    Attributes:
        paper: Its id.
        place: As "Theorem 3.1".
        claim: What it promises, in words.
        demands: What it asks for.
        notes: What else is to know.
        assumes: What it asks for and data do not tell, in words.
    """

    paper: str
    place: str
    claim: str
    demands: tuple[Demand, ...]
    notes: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()

    @property
    def inside(self) -> bool | None:
        """Whether all demands are met; None where none fails but some are open, or something is assumed."""
        held = [demand.holds for demand in self.demands]
        return False if False in held else None if None in held or self.assumes else True

    @property
    def log10_short(self) -> float:
        """Decimal logarithm of the factor by which the furthest demand is missed; 0 where there is none."""
        return max((demand.log10_short or 0.0 for demand in self.demands), default=0.0)

    @property
    def verdict(self) -> str:
        """In a few words, with the factor by which the furthest demand is missed."""
        if self.inside is False:
            short = self.log10_short
            return f"outside, short by a factor of {factor_text(short)}" if short else "outside"
        return "inside" if self.inside else "open: nothing that was given speaks against it"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as `--json` prints them."""
        return {
            "paper": self.paper,
            "place": self.place,
            "claim": self.claim,
            "inside": self.inside,
            "verdict": self.verdict,
            "demands": [demand.to_dict() for demand in self.demands],
            "log10_short": self.log10_short,
            "notes": list(self.notes),
            "assumes": list(self.assumes),
        }


def all_answers(data: Measured, setting: Setting) -> tuple[Answer, ...]:
    """One answer for each theorem, paper by paper."""
    return (
        *fine_grained_answers(data, setting),
        *resnet_answers(data, setting),
        *memorisation_answers(data, setting),
    )


CLAIMS = {
    "Theorem 3.1": "gradient descent brings the training loss to 0, by a factor 1 − ηλ₀/2 each step.",
    "Theorem 4.1": "the loss follows the curve that the eigenvalues of H∞ predict.",
    "Lemma 5.3": "the weights move no further than √(yᵀH⁻¹y) and a little.",
    "Theorem 5.1": "the population loss, and for labels ±1 the share of mistakes (Corollary 5.2), is below "
    "the bound.",
}

DRAWN = (
    "The rows are independent draws of one distribution, for which λ₀ is as large with high probability.",
)


def fine_grained_answers(data: Measured, setting: Setting) -> tuple[Answer, ...]:
    """Theorems 3.1, 4.1, 5.1 with Corollary 5.2, Lemma 5.3 and Corollary 6.2."""
    asked = _asked_of_descent(data, setting)
    distinct = _distinct(data)
    quadratic = data.quadratic if data.quadratic_upper is None else data.quadratic_upper
    samples = num_samples(quadratic, setting.epsilon, setting.delta)
    return (
        *(
            Answer(
                "fine-grained",
                place,
                claim,
                (*distinct, *asked[place]),
                _notes(place, data, setting),
                (*_partly(data), *(DRAWN if place == "Theorem 5.1" else ())),
            )
            for place, claim in CLAIMS.items()
        ),
        Answer(
            "fine-grained",
            "Corollary 6.2",
            f"these labels are learned to a population loss of {setting.epsilon:g} from so many samples.",
            (
                *distinct,
                *asked["Theorem 5.1"],
                Demand("samples n", data.n, "≥", samples, "C·(yᵀH⁻¹y + log(1/δ))/ε²"),
            ),
            (f"√(yᵀH⁻¹y) = {text(quadratic**0.5)} stands for the bound 3 Σ p|α|‖β‖^p of a known target.",),
            (*_partly(data), *DRAWN, "The labels are those of a target (12) with no larger bound."),
        ),
    )


def _asked_of_descent(data: Measured, setting: Setting) -> dict[str, tuple[Demand, ...]]:
    """What each theorem in `CLAIMS` asks for; without κ, for the κ at which least is asked."""
    m, eta, kappa, delta = setting.width, setting.eta, setting.kappa, setting.delta
    n, floor = data.n, data.lambda_min
    if floor <= 0:
        return dict.fromkeys(CLAIMS, (Demand("smallest eigenvalue λ₀ of H∞", floor, ">", 0.0),))
    at_most_1 = 1.0 if kappa is None else kappa
    width = movement_width(n, floor, at_most_1, delta)
    return {
        "Theorem 3.1": convergence_demands(n, floor, m, eta, at_most_1, delta),
        "Theorem 4.1": tracking_demands(n, floor, m, eta, kappa, setting.epsilon, delta),
        "Lemma 5.3": (Demand("width m", m, "≥", width, "C_m·n⁸/(λ₀⁶κ²δ⁴)"), step_demand(n, floor, eta)),
        "Theorem 5.1": generalisation_demands(n, floor, m, eta, kappa, setting.steps, delta),
    }


def _distinct(data: Measured) -> tuple[Demand, ...]:
    """Repeated rows make λ₀ and σ of all rows 0, whatever the distinct ones have."""
    return (Demand("number of repeated rows", data.num_repeated, "≤", 0),) if data.num_repeated else ()


def _partly(data: Measured) -> tuple[str, ...]:
    """A part of the rows can prove that too little is there, but not that it is enough."""
    whole = data.num_measured + data.num_repeated == data.n
    return () if whole else ("All rows ask for no more than those that were measured.",)


def _notes(place: str, data: Measured, setting: Setting) -> tuple[str, ...]:
    bound = _bound_notes(data, setting.delta) if place == "Theorem 5.1" else ()
    return (*bound, *_output_notes(data))


def _output_notes(data: Measured) -> tuple[str, ...]:
    if data.num_outputs == 1:
        return ()
    return (f"It is about one output; each of the {data.num_outputs} columns is a network of its own.",)


def _bound_notes(data: Measured, delta: float) -> tuple[str, ...]:
    if data.quadratic_upper is None or data.lambda_floor <= 0:
        return ("Without a proven λ₀ the bound has no value.",)
    n = data.num_measured
    bound = generalisation_bound(data.quadratic_upper, n / 2, n, floor=data.lambda_floor, delta=delta).value
    tells = "which says nothing about a loss of at most 1" if bound >= 1 else "which does say something"
    return (f"In the limit of large width and small κ the bound is {text(bound)}, {tells}.",)


def resnet_answers(data: Measured, setting: Setting) -> tuple[Answer, ...]:
    """Theorem 1 for the simplest target that it has; Corollary 7.1 and Theorems 2 and 3 by their inputs."""
    k, complexity = data.num_outputs, 2 * C_STAR
    alpha = float((mpf(setting.epsilon) / 4) ** mpf(0.25) / (k * complexity))
    samples = theorem_1(k, 1, complexity, 1, complexity, alpha, setting.epsilon)
    width = table_1(max(setting.width, 2), k, 1, complexity, 1, complexity, alpha)
    target = (
        "This is for the simplest target, H = F + αG(F) with linear F and G of one term, "
        f"C_s = 2C* = {text(complexity)} and α = {text(alpha)}; richer ones ask for more."
    )
    rates = f"It takes η_w = {text(samples.terms['eta_w'])} and η_v = {text(samples.terms['eta_v'])}."
    cube = (Demand("inputs on the cube {±c}^d (1: all, 0: not all)", float(data.on_cube), "≥", 1.0),)
    return (
        Answer(
            "resnet-beyond-kernels",
            "Theorem 1",
            f"SGD on a three-layer ResNet reaches a risk of order {setting.epsilon:g}.",
            (
                Demand("width m", setting.width, "≥", _number(width), "(k·p_F·C_F)^(1/0.1215)"),
                Demand("samples n", data.n, "≥", _number(samples), "(k·p_F·C_F)²/min(1, δ²)"),
            ),
            (target, rates, "The width is the least at which Table 1 has a σ_w."),
            ("The labels are those of such a target.",),
        ),
        *(
            Answer(
                "resnet-beyond-kernels",
                place,
                claim,
                cube,
                (),
                ("The labels are those of a function of the class (7.1).",),
            )
            for place, claim in (
                ("Corollary 7.1", "a ResNet learns the class (7.1) from few samples."),
                ("Theorem 2", "no kernel method learns the class (7.1) from few samples."),
                ("Theorem 3", "nor does linear regression over few features."),
            )
        ),
    )


def _number(quantity: Quantity) -> Number:
    """The value, by its logarithm where there is one, which does not overflow."""
    return mpf(quantity.value) if quantity.log10 is None else mpf(10) ** quantity.log10


def memorisation_answers(data: Measured, setting: Setting) -> tuple[Answer, ...]:
    """Theorems 4 (with 1), 5 (with 2) and 6."""
    return (_two_layers(data, setting), _smoothed(data, setting), _without_noise(data, setting))


def _two_layers(data: Measured, setting: Setting) -> Answer:
    demands = (*_distinct(data), *landscape_demands(data.n, data.d, setting.width, data.sigma))
    notes: tuple[str, ...] = ("The network is Σ a_i (w_iᵀx)², trained by perturbed gradient descent.",)
    if data.sigma > 0:
        found = theorem4(
            data.n,
            data.d,
            setting.width,
            data.largest_norm,
            data.largest_label,
            data.sigma,
            data.start_loss,
            setting.epsilon,
            setting.delta,
        )
        demands = (*demands, Demand("steps", setting.steps, "≥", _number(found), "χ⁴ℓ(f(0)+1)/(c³ε′²)"))
        notes = (f"Its step is η = c/ℓ = {text(found.terms['η'])}.", *notes)
    elif data.n <= data.d * (data.d + 1) // 2:
        notes = ("Rounding cannot tell σ from 0; a little noise on the inputs mends that.", *notes)
    return Answer(
        "mild-memorisation",
        "Theorem 4",
        f"two layers of squares memorise these labels to a loss of {setting.epsilon:g}.",
        demands,
        notes,
        _partly(data),
    )


def _smoothed(data: Measured, setting: Setting) -> Answer:
    n, k = data.n, smoothed_width(data.n)
    fitting = (p for p in range(1, MOST_POWERS + 1) if k <= largest_smoothed_width(data.d, p))
    p = next(fitting, MOST_POWERS)
    found = theorem5(n, data.d, p, NOISE**2, setting.epsilon, setting.delta)
    most = largest_smoothed_width(data.d, p)
    layer = Demand("random neurons k = 2⌈√n⌉", k, "≤", most, "D_d^{2p}/(D_d^p C(2p,p))")
    steps = Demand("steps", setting.steps, "≥", _number(found), "Theorem 4's at z")
    return Answer(
        "mild-memorisation",
        "Theorem 5",
        f"three layers memorise these labels, noise of {NOISE:g} per coordinate added to the inputs.",
        (
            layer,
            Demand("trained neurons r", setting.width, "≥", 2 * k + 2, "2k + 2"),
            _labels_within_1(data),
            Demand("largest input norm", data.largest_norm, "≤", 1 + ROUNDING),
            *([steps] if found.applies else ()),
        ),
        (f"Its first layer is ({k:,} random directions)^{p}; it bounds σ_z by {text(found.terms['σ_z'])}.",),
        ("The noise has been added.",),
    )


def _labels_within_1(data: Measured) -> Demand:
    """What Theorems 5 and 6 are stated for; other labels are to be scaled, and ε with them."""
    return Demand("largest label |y|", data.largest_label, "≤", 1.0)


def _without_noise(data: Measured, setting: Setting) -> Answer:
    p, D = 1, symmetric_dimension(data.d, 1)
    k = 2 * p * D
    demands: tuple[Demand, ...] = (
        *_distinct(data),
        Demand("smallest singular value σ of [x^{⊗2p}]", data.sigma, ">", 0.0),
        Demand("trained neurons r", setting.width, "≥", 2 * k + 2, "2k + 2"),
        _labels_within_1(data),
    )
    if data.sigma > 0:
        found = theorem6(data.n, data.d, k, p, data.sigma, setting.epsilon, setting.delta, data.largest_norm)
        demands = (*demands, Demand("steps", setting.steps, "≥", _number(found), "Theorem 4's at z"))
    return Answer(
        "mild-memorisation",
        "Theorem 6",
        "three layers memorise these labels, the inputs as they are.",
        demands,
        (f"With p = {p} and k = 2pD_d^p = {k:,} random neurons.",),
        _partly(data),
    )
