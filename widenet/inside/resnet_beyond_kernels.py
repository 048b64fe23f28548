"""What the theorems of `resnet-beyond-kernels` say of one network on one data set."""

from widenet.inside.answer import Answer, exact
from widenet.inside.measured import MeasuredData
from widenet.inside.settings import InsideSettings
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.numbers import context, mpf
from widenet.theory.resnet_beyond_kernels.symbols import RESNET
from widenet.theory.resnet_beyond_kernels.table import BEYOND_TABLE, WIDTH_POWER, table_1
from widenet.theory.resnet_beyond_kernels.theorems import corollary_7_1, theorem_1, theorem_2
from widenet.theory.smooth.complexity import C_STAR

PAPER = RESNET.id
OF_CLASS = "The labels are those of a function of the class (7.1), and the cube's columns are fair coins."


def resnet_answers(data: MeasuredData, settings: InsideSettings) -> tuple[Answer, ...]:
    """Theorem 1 for the simplest target that it has; Corollary 7.1, Theorems 2 and 3 by inputs and sizes."""
    return (_theorem_1(data, settings), *_hard_class(data, settings))


def _theorem_1(data: MeasuredData, settings: InsideSettings) -> Answer:
    k, complexity = data.num_outputs, 2 * C_STAR
    alpha = _largest_alpha(k, complexity, settings)
    samples = theorem_1(k, 1, complexity, 1, complexity, alpha, settings.epsilon)
    largest = samples.terms["eta_w"]
    slower = largest / mpf(min(settings.eta or largest, largest))  # times as many samples, for a smaller step
    width = table_1(max(settings.width, 2), k, 1, complexity, 1, complexity, alpha)
    target = (
        "This is for the simplest target, H = F + αG(F) with linear F and G of one term, "
        f"C_s = 2C* = {mpf_text(complexity)} and α = {mpf_text(alpha)}; richer ones require more."
    )
    return Answer(
        PAPER,
        "Theorem 1",
        f"SGD on a three-layer ResNet reaches a risk of order {settings.epsilon:g}.",
        (
            Demand("width m", settings.width, "≥", exact(width), "max((k·p_F·C_F)^(1/0.1215), m_v)"),
            Demand("samples n", data.n, "≥", slower * exact(samples), "(k·p_F·C_F)²/(η_w·min(1, δ))"),
            Demand("step η_w", settings.eta, "≤", largest, "min(1, δ)"),
        ),
        (
            target,
            f"V has a step of its own, η_v = {mpf_text(samples.terms['eta_v'] / slower)}.",
            "The width is the least to leave Table 1 a σ_w and a σ_v; its polylog(m) is taken as ln m.",
            BEYOND_TABLE,
        ),
        ("The labels are those of such a target.",),
    )


def _largest_alpha(k: int, complexity: float, settings: InsideSettings) -> float:
    """The largest α with α⁴(k·C_G)⁴(1+B_F)² ≤ ε at B_F = 1, and with Table 1's τ_v ≤ 1/ln m at its width."""
    log_width = max(mpf(WIDTH_POWER) * context.log(k * complexity), context.log(settings.width))
    tau_v = min((mpf(settings.epsilon) / 4) ** mpf(0.25), 1 / log_width)
    return float(tau_v / (k * complexity))


def _hard_class(data: MeasuredData, settings: InsideSettings) -> tuple[Answer, ...]:
    d1, k, d = data.cube_columns, data.num_outputs, data.d
    inputs: tuple[Demand, ...] = (Demand("columns d₁ on a cube {±c}", d1, "≥", max(k, 2), "max(k, 2)"),)
    enough: dict[str, tuple[Demand, ...]] = {}
    if d1 >= k >= 2:
        learns = corollary_7_1(d, d1, k, 2.0**-k)
        few = theorem_2(d, d1, k, data.n, 0.5).terms["largest N"]
        enough = {
            "Corollary 7.1": (Demand("samples n", data.n, "≥", exact(learns), "k²d/α⁸ at α = 2^−k"),),
            "Theorem 2": (Demand("samples n", data.n, "≤", few, "C(d₁,k)/1000"),),
            "Theorem 3": (
                Demand("features D, one for each neuron,", settings.width, "≤", few, "C(d₁,k)/1000"),
            ),
        }
    elif d1 >= 2:
        inputs = (*inputs, Demand("outputs k", k, "≥", 2))
    return tuple(
        Answer(PAPER, place, claim, (*inputs, *enough.get(place, ())), notes, (OF_CLASS,))
        for place, claim, notes in (
            (
                "Corollary 7.1",
                "a ResNet learns the class (7.1) from few samples.",
                ("Its width is a polynomial that the paper does not write down.",),
            ),
            (
                "Theorem 2",
                "no kernel fixed before the labels learns most of the class (7.1) from few samples.",
                (),
            ),
            ("Theorem 3", "nor does linear regression over few features.", ()),
        )
    )
