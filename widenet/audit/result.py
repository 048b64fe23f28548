"""What an audit finds: frozen, and the same dictionary in Python and as JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from widenet.predict.learning_curve import LearningCurve

SCHEMA = "widenet/audit/1"


@dataclass(frozen=True)
class DataSummary:
    """Is the data sound?

    Attributes:
        name: Built-in name or file name.
        n: Number of rows.
        d: Number of columns after encoding and preparation.
        classes: Class names; empty for regression.
        class_counts: Rows of each class.
        task: binary, multiclass or regression.
        prepare: The map that was used, of `Preparation`.
        duplicates: Groups of rows that are one point on the sphere, by row number.
        opposites: Pairs of rows that point in opposite directions, by row number.
        conflicts: Groups of identical rows whose targets differ, by row number.
        provenance: Sentences on what was read and which encodings were made.
    """

    name: str
    n: int
    d: int
    classes: tuple[str, ...]
    class_counts: tuple[int, ...]
    task: str
    prepare: str
    duplicates: tuple[tuple[int, ...], ...]
    opposites: tuple[tuple[int, ...], ...]
    conflicts: tuple[tuple[int, ...], ...]
    provenance: tuple[str, ...]


@dataclass(frozen=True)
class ColumnComplexity:
    """√(2 yᵀH⁻¹y / n) of one target column, between certified bounds."""

    name: str
    value: float | None
    lower: float
    upper: float | None


@dataclass(frozen=True)
class Complexity:
    """How learnable the labels are [fine-grained, eq. 10].

    Attributes:
        value: √(2 Σ_c y_cᵀH⁻¹y_c / n); None where the bracket did not close.
        lower: Certified lower bound (Gauss quadrature).
        upper: Certified upper bound (Gauss–Radau quadrature); None where λ_min has no certified bound.
        random: The same for random labels on the same inputs, √(2 E[yᵀH⁻¹y] / n).
        random_error: Standard error of `random`.
        columns: The same for each target column.
        num_matvecs: Products with the Gram matrix that were made.
    """

    value: float | None
    lower: float
    upper: float | None
    random: float | None
    random_error: float | None
    columns: tuple[ColumnComplexity, ...]
    num_matvecs: int


@dataclass(frozen=True)
class Alignment:
    """How label energy lies on the spectrum, against the random-label null.

    Attributes:
        eigenvalues: A descending grid of eigenvalues of H.
        labels: Share of ‖Y‖² that lies on eigenvectors with at least that eigenvalue.
        random: The same for random labels.
    """

    eigenvalues: tuple[float, ...]
    labels: tuple[float, ...]
    random: tuple[float, ...]


@dataclass(frozen=True)
class SpectrumSummary:
    """The spectrum of H: its largest eigenvalue, a certified floor below its smallest, label energy."""

    eigenvalue_max: float
    eigenvalue_min: float | None
    eigenvalue_min_certified: float | None
    alignment: Alignment


@dataclass(frozen=True)
class StepsTo:
    """Gradient steps until the loss is a share of the initial one; None where it is never reached."""

    share: float
    labels: int | None
    random: int | None
    worst: int | None


@dataclass(frozen=True)
class TrainedCurve:
    """A finite network trained by gradient descent, beside its prediction (`--train`).

    Attributes:
        width: Neurons.
        kappa: Scale of the initial weights.
        rows: Rows that it was trained on; the prediction is for the same ones.
        eta: Step size, 1/λ_max of those rows.
        steps: Step numbers.
        loss: Measured Φ = ½‖Y − u(k)‖².
        predicted: Predicted Φ.
        distance: ‖W − W(0)‖_F at the last step.
        predicted_distance: The same, predicted.
    """

    width: int
    kappa: float
    rows: int
    eta: float
    steps: tuple[int, ...]
    loss: tuple[float, ...]
    predicted: tuple[float, ...]
    distance: float
    predicted_distance: float


@dataclass(frozen=True)
class Curve:
    """How gradient descent will go [fine-grained, Theorem 4.1].

    Attributes:
        eta: Step size used here.
        eta_max: Step size beyond which gradient descent diverges, 2/λ_max.
        steps: Step numbers.
        loss: Predicted Φ = ½‖Y − u(k)‖² at those steps.
        random_loss: The same for random labels, in expectation.
        worst_loss: The same for labels on the last eigenvector, scaled to ‖Y‖.
        movement: Predicted ‖W(k) − W(0)‖_F at those steps.
        movement_limit: Its limit √(Σ yᵀH⁻¹y).
        steps_to: Steps until 50, 10 and 1% of the initial loss.
        trained: A real training run laid over the prediction; None unless asked for.
    """

    eta: float
    eta_max: float
    steps: tuple[int, ...]
    loss: tuple[float, ...]
    random_loss: tuple[float, ...]
    worst_loss: tuple[float, ...] | None
    movement: tuple[float, ...]
    movement_limit: float | None
    steps_to: tuple[StepsTo, ...]
    trained: TrainedCurve | None


@dataclass(frozen=True)
class Bound:
    """Theorem 5.1's bound on the population loss, with all its terms.

    Attributes:
        value: Sum of the terms; None where the complexity is not known.
        terms: Name to value, in the order of the proof.
        delta: The failure probability it is stated for.
        vacuous: Whether it says nothing (value of 1 or more).
        applies: Whether the theorem speaks of this kernel and task.
        why: A sentence on `applies` and `vacuous`.
    """

    value: float | None
    terms: dict[str, float]
    delta: float
    vacuous: bool
    applies: bool
    why: str


@dataclass(frozen=True)
class LeaveOneOutSummary:
    """Leave-one-out error of the kernel predictor.

    Attributes:
        error: Mean over rows of Σ_columns (prediction − Y)².
        error_bar: Its standard error from estimation (0 for the closed form).
        misclassified: Share of rows whose class is predicted wrongly; None for regression.
        rows: Rows that were left out, one at a time.
        method: "closed form", "estimated", or "not converged" where nothing can be shown.
        baseline: The error of predicting the mean of the targets.
    """

    error: float | None
    error_bar: float | None
    misclassified: float | None
    rows: int
    method: str
    baseline: float


@dataclass(frozen=True)
class Noise:
    """Share of wrong labels (classes), or of target variance that is noise (regression)."""

    estimate: float
    low: float
    high: float
    kernel: str
    ridge: float


@dataclass(frozen=True)
class Suspect:
    """A row whose label fits the rest badly; a higher score is more suspicious."""

    row: int
    given: str
    suggested: str
    score: float


@dataclass(frozen=True)
class Forecast:
    """What the audit was expected to cost, before it began.

    Attributes:
        memory_bytes: Peak resident memory.
        seconds: Wall-clock time.
        gram: "dense" (held whole), "packed" (half of it held, as tiles) or "tiled" (partly recomputed).
        gram_bytes: What is held of the Gram matrix, of those bytes.
    """

    memory_bytes: int
    seconds: float
    gram: str
    gram_bytes: int


@dataclass(frozen=True)
class AuditResult:
    """Everything that an audit finds."""

    schema: str
    version: str
    data: DataSummary
    kernel: str
    complexity: Complexity
    spectrum: SpectrumSummary
    curve: Curve
    bound: Bound
    loo: LeaveOneOutSummary
    learning_curve: LearningCurve
    noise: Noise
    labels: tuple[Suspect, ...]
    labels_file: str | None
    forecast: Forecast
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as `--json` prints them; the full ranking stays in `labels_file`."""
        record = asdict(self)
        del record["labels"]
        return record
