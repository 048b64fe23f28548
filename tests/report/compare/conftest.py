"""A comparison of four methods, with numbers that hang together but were not computed."""

from collections.abc import Callable

import pytest

from widenet.compare.importances import Importance, Importances
from widenet.compare.measures import ClassMeasures
from widenet.compare.result import CompareResult, Measure, Protocol
from widenet.compare.significance import FoldRows
from widenet.compare.summary import constant_of, significance_of, summarise_methods
from widenet.compare.trial import FoldOutcome
from widenet.compare.tuning import Family
from widenet.study.data import DataSummary
from widenet.study.forecast import Forecast

ERRORS: dict[str, tuple[Family, list[float]]] = {
    "3resnet-hidden": ("network", [0.031, 0.042, 0.035, 0.027]),
    "relu3-bias-all": ("kernel", [0.012, 0.011, 0.013, 0.016]),
    "random-features": ("kernel", [0.02, 0.025, 0.022, 0.019]),
    "forest": ("baseline", [0.21, 0.24, 0.22, 0.23]),
}


class Named:
    """Just enough of a method to be summarised."""

    def __init__(self, name: str, family: Family) -> None:
        self.name, self.family = name, family


def make_compared(
    measure: str = "misclassified", name: str = "digits", failing: bool = False
) -> CompareResult:
    methods = [Named(each, family) for each, (family, _) in ERRORS.items()]
    setting = {"rate": 0.2, "features": "relu"}
    others = (0.21, 0.987, 0.345) if measure == "misclassified" else (None,) * 3
    trials = {
        each: [FoldOutcome(error, error, setting, 12.5, None, *others) for error in errors]
        for each, (_, errors) in ERRORS.items()
    }
    if failing:
        trials["forest"][2] = FoldOutcome(None, None, None, 1.0, "forest failed: it went wrong.")
    rows = FoldRows(75, 25, counted=measure == "misclassified")
    results = summarise_methods(methods, trials, rows)
    measures = ClassMeasures(0.5, 0.5, 0.6931) if measure == "misclassified" else None
    constant = constant_of([0.5, 0.52, 0.48, 0.5], measures)
    classes = ("a", "b") if measure == "misclassified" else ()
    return CompareResult(
        version="0.1.0",
        data=DataSummary(name, 100, 7, 1, classes, (50, 50)[: len(classes)], "binary", "unit", ("Read it.",)),
        protocol=Protocol(Measure(measure), 0.5, 4, 1, 75, 25, 256, 80, 0, 0),
        methods=results,
        best=results[0].name,
        constant=constant,
        significance=significance_of(results, constant, rows),
        importances=Importances(
            results[0].name,
            5,
            (
                Importance("age", 0.12, 0.02),
                Importance("<b>", 0.03, 0.01),
                Importance("id", 0.0, 0.01),
            ),
        ),
        forecast=Forecast(100.0),
        seconds=150.0,
    )


@pytest.fixture
def compared() -> Callable[..., CompareResult]:
    """Makes a comparison."""
    return make_compared


@pytest.fixture(params=["misclassified", "squared error"])
def result(request) -> CompareResult:
    return make_compared(request.param)
