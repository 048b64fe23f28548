"""What the theorems of `beyond-two-layers` say of one network on one data set.

They are agnostic: they compare the risk with OPT, that of the best target of a class, whatever the labels
are. Which class is a choice. Here it is the one that requires least, targets that are linear functions: φ = 1
in (3.1), and Φ = 1, φ = z in (4.1).
"""

from widenet.inside.answer import Answer, exact
from widenet.inside.measured import MeasuredData
from widenet.inside.settings import InsideSettings
from widenet.theory.beyond_two_layers.choices import three_layer_widths, two_layer_widths
from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.beyond_two_layers.theorems import (
    LARGEST_RISK,
    theorem_1,
    theorem_2,
    three_layer_complexities,
)
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.numbers import mpf
from widenet.theory.smooth.complexity import C_STAR

PAPER = BEYOND_TWO_LAYERS.id
CONSTANT, LINEAR = "1", "z"  # the simplest functions, of which one makes the target a linear function
OF_CONSTANT = 2.0  # C_ε of the function 1
ROWS = "Rows are to be scaled and padded to ‖x‖ = 1 with x_d = 1/2, as any rows can be."
RICHER = "This is against the best linear function of x; a richer class of targets requires more."
LOSS = (
    "The rows are independent draws, the loss is convex, 1-Lipschitz and 1-smooth, and no more than 1 at "
    "output 0."
)
HIDDEN = "Steps are as many and as small as polynomials in m say, which the paper does not write down."
TABLE = (
    "M is a polynomial that the paper does not write down; this is what Corollary 6.6 requires, "
    "C_0·τ_v^(2/3) ≤ ε at Table 1's τ_v = m^(−0.001)."
)


def beyond_answers(data: MeasuredData, settings: InsideSettings) -> tuple[Answer, ...]:
    """Theorem 1 on two layers, Theorems 2 and 3 on three layers of one width."""
    return (_theorem_1(data, settings), *_three_layers(data, settings))


def _theorem_1(data: MeasuredData, settings: InsideSettings) -> Answer:
    k, m = data.num_outputs, settings.width
    epsilon = min(settings.epsilon, float(1 / (k * mpf(C_STAR))))
    largest = 1 / (mpf(epsilon) * k * m)
    slower = largest / min(settings.eta or largest, largest)  # times as many steps, for a smaller rate
    steps = slower * exact(theorem_1(CONSTANT, k, 1, epsilon, m))
    widths = two_layer_widths(mpf(C_STAR), mpf(OF_CONSTANT), mpf(k), mpf(1), mpf(epsilon))
    return Answer(
        PAPER,
        "Theorem 1",
        f"SGD on the hidden layer of two layers comes within {settings.epsilon:g} of the risk of the best "
        "target (3.1).",
        (
            Demand("width m", m, "≥", max(widths.values()), "M0 of its proof"),
            Demand("samples n", data.n, "≥", steps, "C_s²·k³·p²/ε² at η = 1/(εkm)"),
            Demand("step η", settings.eta, "≤", largest, "1/(εkm)"),
            Demand("steps T", settings.steps, "≥", steps, "C_s²·k³·p²/ε² at η = 1/(εkm)"),
        ),
        (
            RICHER,
            f"It is for ε below 1/(p·k·C_s), and is held at ε = {mpf_text(epsilon)}.",
            "M0 is the largest width that a step of its proof requires; the paper says poly(C_ε(φ,1), 1/ε).",
            ROWS,
        ),
        (
            "Hidden weights and biases begin as N(0, 1/m) and output weights as N(0, ε²); only the hidden "
            "weights are trained.",
            LOSS,
        ),
    )


def _three_layers(data: MeasuredData, settings: InsideSettings) -> tuple[Answer, ...]:
    k, m, epsilon0 = data.num_outputs, settings.width, min(settings.epsilon, LARGEST_RISK)
    found = three_layer_complexities(LINEAR, CONSTANT, k, 1, 1, epsilon0)
    least = max(three_layer_widths(mpf(epsilon0), found.epsilon, found.C_0, mpf(k)).values())
    width = Demand("width m of both layers", m, "≥", least, "(C_0/ε)^1500")
    few = exact(theorem_2(LINEAR, CONSTANT, k, 1, 1, epsilon0))
    at = f"It is for ε0 ≤ 1/100, and is held at ε0 = {mpf_text(epsilon0)}, ε = {mpf_text(found.epsilon)}."
    return tuple(
        Answer(
            PAPER,
            place,
            f"{algorithm} on three layers comes within {settings.epsilon:g} of (1 + γ) times the risk of the "
            "best target (4.1).",
            (width, Demand("samples n", data.n, "≥", samples, formula)),
            (RICHER, at, TABLE, ROWS),
            (HIDDEN, LOSS),
        )
        for place, algorithm, samples, formula in (
            ("Theorem 2", "Algorithm 2", few, "(k·C_0/ε0)²"),
            ("Theorem 3", "Algorithm 3", least * mpf(m) ** mpf(1.5), "M·m^1.5"),
        )
    )
