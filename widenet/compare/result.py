"""What a comparison finds: frozen, and the same dictionary in Python and as JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from widenet.compare.significance import PairedTest
from widenet.compare.tuning import Family, Setting

SCHEMA = "widenet/compare/1"


@dataclass(frozen=True)
class DataSummary:
    """The rows that were compared on.

    Attributes:
        name: Built-in name or file name.
        n: Number of rows.
        d: Number of columns after encoding and preparation.
        outputs: Columns of the target.
        classes: Class names; empty for regression.
        class_counts: Rows of each class.
        task: binary, multiclass or regression.
        prepare: The map that was used.
        provenance: Sentences on what was read and which encodings were made.
    """

    name: str
    n: int
    d: int
    outputs: int
    classes: tuple[str, ...]
    class_counts: tuple[int, ...]
    task: str
    prepare: str
    provenance: tuple[str, ...]


@dataclass(frozen=True)
class MethodResult:
    """One method.

    Attributes:
        name: Its name.
        family: network, kernel or baseline.
        error: Mean error over the folds; None where the method failed on one.
        std: Standard deviation of the error between folds.
        rank: Average rank over the folds among the methods that failed on none, 1 the best; None for others.
        wins: Folds on which none of these had a smaller error; None for others.
        seconds: Time of all its fits and predictions.
        best: The setting that was chosen most often.
        errors: Error on each fold; None where it failed.
        inner: The error by which its setting was chosen, on each fold; None where it failed.
        settings: The setting that was chosen, on each fold; None where it failed.
        failures: What went wrong, one sentence for each fold that failed.
    """

    name: str
    family: Family
    error: float | None
    std: float | None
    rank: float | None
    wins: int | None
    seconds: float
    best: Setting | None
    errors: tuple[float | None, ...]
    inner: tuple[float | None, ...]
    settings: tuple[Setting | None, ...]
    failures: tuple[str, ...]


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
    """Paired tests over the folds.

    Attributes:
        test: What was done, in a sentence.
        level: Significance level.
        champions: Each family that was compared.
        against_kernels: The champion of each other family against that of the kernels.
        against_best: Each other method against the best one.
    """

    test: str
    level: float
    champions: tuple[Champion, ...]
    against_kernels: tuple[PairedTest, ...]
    against_best: tuple[PairedTest, ...]


@dataclass(frozen=True)
class Protocol:
    """How it was measured.

    Attributes:
        measure: "misclassified", the share of rows, or "squared error", the mean of ‖prediction − y‖².
        chance: The error of the best constant prediction: the most frequent class, or the mean.
        folds: Outer folds.
        repeats: How often the rows were divided into folds anew.
        train_rows: Rows to train on in a fold.
        test_rows: Rows to test on in a fold.
        width: Neurons of each hidden layer of the networks.
        epochs: Epochs of the networks' training.
        seed: Seed of every random choice.
    """

    measure: str
    chance: float
    folds: int
    repeats: int
    train_rows: int
    test_rows: int
    width: int
    epochs: int
    seed: int


@dataclass(frozen=True)
class ComparisonResult:
    """Everything that a comparison finds; `methods` has the best first.

    Attributes:
        schema: Name and version of this record.
        version: Version of widenet.
        data: The rows.
        protocol: How it was measured.
        methods: All methods, the smallest error first and those that failed last.
        best: Name of the first; None where all failed.
        significance: Paired tests.
        verdict: The answer in sentences.
        forecast: Seconds that were expected.
        seconds: Seconds that it took.
    """

    schema: str
    version: str
    data: DataSummary
    protocol: Protocol
    methods: tuple[MethodResult, ...]
    best: str | None
    significance: Significance
    verdict: tuple[str, ...]
    forecast: float
    seconds: float

    @property
    def num_failed(self) -> int:
        """Fits that failed, of all methods and folds."""
        return sum(len(method.failures) for method in self.methods)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as `--json` prints them."""
        return asdict(self)
