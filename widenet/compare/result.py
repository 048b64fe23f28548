"""What a comparison finds."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from widenet.base.wording import number, percent
from widenet.compare.importances import Importances
from widenet.compare.significance import Finding, PairedTest
from widenet.compare.tuning import Choice, Family
from widenet.study.data import DataSummary
from widenet.study.forecast import Forecast
from widenet.study.result import Outcome, Result


class Measure(Enum):
    """What an error is: the share of misclassified rows, or the mean of ‖prediction − y‖²."""

    MISCLASSIFIED = "misclassified"
    SQUARED = "squared error"


@dataclass(frozen=True)
class MethodResult:
    """One method.

    Attributes:
        name: Its name.
        family: network, kernel or baseline.
        error: Mean error over the folds; None where the method failed on one.
        std: Standard deviation of the error between folds.
        low: Lower end of the 95% interval of its error, by the corrected variance of the tests.
        high: Upper end.
        rank: Average rank over the folds among the methods that failed on none, 1 the best; None for others.
        wins: Folds on which none of these had a smaller error; None for others.
        seconds: Time of all its fits and predictions.
        best: The setting that was chosen most often.
        errors: Error on each fold; None where it failed.
        inner: The error by which its setting was chosen, on each fold; None where it failed.
        settings: The setting that was chosen, on each fold; None where it failed.
        failures: What went wrong, one sentence for each fold that failed.
        balanced_error: Mean over the folds of the mean over the classes of the share of their rows that is
            misclassified; None for regression.
        auc: Mean over the folds of the area under the ROC curve, of several classes the mean over each
            against all others; None for regression, and where a fold has no rows of some class to test on.
        log_loss: Mean over the folds of the log loss of its calibrated probabilities; None for regression.
    """

    name: str
    family: Family
    error: float | None
    std: float | None
    low: float | None
    high: float | None
    rank: float | None
    wins: int | None
    seconds: float
    best: Choice | None
    errors: tuple[float | None, ...]
    inner: tuple[float | None, ...]
    settings: tuple[Choice | None, ...]
    failures: tuple[str, ...]
    balanced_error: float | None = None
    auc: float | None = None
    log_loss: float | None = None


@dataclass(frozen=True)
class BestConstant:
    """The best constant prediction, on the test rows of the same folds: the most frequent class, or the mean.

    Attributes:
        error: Mean error over the folds.
        std: Standard deviation between folds.
        errors: Its error on each fold.
        balanced_error: As of a method.
        auc: As of a method: 1/2, since it tells no two rows apart.
        log_loss: As of a method, with the shares of the classes as probabilities.
    """

    error: float
    std: float
    errors: tuple[float, ...]
    balanced_error: float | None = None
    auc: float | None = None
    log_loss: float | None = None


@dataclass(frozen=True)
class Champion:
    """A family as one method: in each fold the member with the best inner error, chosen without test rows.

    Attributes:
        family: network, kernel or baseline.
        error: Mean error over the folds.
        std: Standard deviation between folds.
        chosen: The member chosen on each fold.
        errors: Its error on each fold.
    """

    family: Family
    error: float
    std: float
    chosen: tuple[str, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Significance:
    """Paired tests over the folds, in three groups, each corrected for the number of its tests.

    Attributes:
        level: Significance level of a group.
        champions: Each family that was compared.
        against_kernels: The champion of each other family against that of the kernels.
        against_best: Each other method against the one of the smallest error. One that is significant is not
            the best: the best itself is found here with a probability of at most `level`, although the test
            errors have chosen what it is tested against.
        against_constant: The champion of each family against the best constant.
    """

    level: float
    champions: tuple[Champion, ...]
    against_kernels: tuple[PairedTest, ...]
    against_best: tuple[PairedTest, ...]
    against_constant: tuple[PairedTest, ...]

    @property
    def learned(self) -> bool:
        """Whether some family is shown to be better than the best constant."""
        return any(test.finding is Finding.BETTER for test in self.against_constant)

    @property
    def settled(self) -> bool:
        """Whether other divisions of the rows into folds would hardly change an answer on families."""
        tests = (*self.against_kernels, *self.against_constant)
        return all(test.finding is not Finding.OPEN for test in tests)

    @property
    def adjusted(self) -> dict[str, float]:
        """The corrected p-value of each method but the best, by name."""
        return {test.first: test.adjusted for test in self.against_best}


@dataclass(frozen=True)
class Protocol:
    """How it was measured.

    Attributes:
        measure: What the errors are.
        chance: The error over all rows of the best constant prediction: the most frequent class, or the mean.
        folds: Outer folds.
        repeats: How often the rows were divided into folds.
        train_rows: Rows to train on in a fold.
        test_rows: Rows to test on in a fold.
        width: Neurons of each hidden layer of the networks.
        epochs: Epochs of the networks' training.
        seed: Seed of every random choice.
        repeated_rows: Rows whose inputs are those of an earlier row.
    """

    measure: Measure
    chance: float
    folds: int
    repeats: int
    train_rows: int
    test_rows: int
    width: int
    epochs: int
    seed: int
    repeated_rows: int


@dataclass(frozen=True, repr=False, kw_only=True)
class CompareResult(Result):
    """Everything that a comparison finds.

    Attributes:
        data: The rows.
        protocol: How it was measured.
        methods: All methods, the smallest error first and those that failed last.
        best: Name of the first; None where all failed.
        constant: The best constant, to be read beside every error.
        significance: Paired tests.
        importances: What the best method relies on.
        forecast: What was expected.
        seconds: What it took.
    """

    schema: ClassVar[str] = "widenet/compare/1"
    room: ClassVar[str] = "widenet.report.compare"
    data: DataSummary
    protocol: Protocol
    methods: tuple[MethodResult, ...]
    best: str | None
    constant: BestConstant
    significance: Significance
    importances: Importances
    forecast: Forecast
    seconds: float

    @property
    def num_failed(self) -> int:
        """Fits that failed, of all methods and folds."""
        return sum(len(method.failures) for method in self.methods)

    @property
    def outcome(self) -> Outcome:
        return Outcome.PARTLY if self.num_failed else Outcome.DONE

    def facts(self) -> dict[str, str]:
        shown = percent if self.protocol.measure is Measure.MISCLASSIFIED else number
        errors = {each.name: shown(each.error) for each in self.methods[:3] if each.error is not None}
        told = {"data": self.data.name, "n": f"{self.data.n}", "methods": f"{len(self.methods)}", **errors}
        return told | {"constant": shown(self.constant.error)}

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as JSON has them; the forecast is a number of seconds."""
        return super().to_dict() | {"forecast": self.forecast.seconds}

    def resolved(self) -> dict[str, Any]:
        names = [method.name for method in self.methods]
        return {"methods": names, "epochs": self.protocol.epochs, "repeats": self.protocol.repeats}
