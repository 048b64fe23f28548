"""Words that the page of a memorised data set and its screenful share."""

from widenet.base.wording import duration, memory, number
from widenet.memorise.result import Forecast, MemoriseResult


def forecast_sentence(forecast: Forecast) -> str:
    return f"Forecast: {memory(forecast.memory_bytes)} of memory and {duration(forecast.seconds)}."


def small(value: float) -> str:
    """A number that may be tiny, in two digits and a power of ten."""
    return "0" if value == 0 else f"{value:.1e}" if abs(value) < 1e-2 else number(value)


def targets_word(result: MemoriseResult) -> str:
    return "labels" if result.data.classes else "targets"


def statements(result: MemoriseResult) -> list[tuple[str, str]]:
    """What was measured, each with its value, the most important first."""
    kind = "after rounding" if result.data.classes else f"to {small(result.tolerance)}"
    proved = small(result.sigma_min.lower) if result.sigma_min.lower > 0 else "nothing proved"
    return [
        (
            f"{targets_word(result)} reproduced {kind}",
            f"all {result.n:,}" if result.labels_reproduced else "not all",
        ),
        ("loss f", small(result.loss)),
        ("largest residual", small(result.max_residual)),
        ("trained weights", f"{result.parameters:,} for {result.n:,} rows"),
        ("σ_min, as computed", small(result.sigma_min.value)),
        ("σ_min, proved at least", proved),
        ("‖M‖", small(result.curvature_norm)),
        ("λ_min of the Hessian (Lemma 3)", small(result.lambda_min)),
        ("bound on f (Lemma 4)", "none without σ_min" if result.bound is None else small(result.bound)),
        ("f is within it", {True: "yes", False: "hidden by rounding", None: "says nothing"}[result.holds]),
    ]
