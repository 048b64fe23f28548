"""The parts of what an audit finds: an answer to each of its questions."""

from dataclasses import dataclass, field
from enum import Enum

from widenet.data.outlying import Outlying
from widenet.predict.learning_curve import LearningCurve


@dataclass(frozen=True)
class Soundness:
    """Is the data sound? Rows are told by their numbers.

    Attributes:
        duplicates: Groups of rows that are one point on the sphere.
        opposites: Pairs of rows that point in opposite directions.
        conflicts: Groups of identical rows whose targets differ.
        outlying: The few rows that have most of the variance of the targets, where there are such.
    """

    duplicates: tuple[tuple[int, ...], ...]
    opposites: tuple[tuple[int, ...], ...]
    conflicts: tuple[tuple[int, ...], ...]
    outlying: Outlying = field(default_factory=Outlying)


@dataclass(frozen=True)
class ColumnComplexity:
    """√(2 yᵀH⁻¹y / n) of one target column, between bounds."""

    name: str
    value: float | None
    lower: float
    upper: float | None


@dataclass(frozen=True)
class Complexity:
    """How learnable the labels are [fine-grained, eq. 10].

    Attributes:
        value: √(2 Σ_c y_cᵀH⁻¹y_c / n); None where the bracket did not close.
        lower: Lower bound.
        upper: Upper bound; None where λ_min has no proved bound.
        certified: Whether these bounds include all rounding, that of the kernel's values among it.
        shuffled: The same for these labels, shuffled among the rows, √(2 E[yᵀH⁻¹y] / n).
        shuffled_error: Standard error of `shuffled`.
        shuffled_std: Standard deviation of the complexity among shuffles.
        p_value: Share of shuffles that are as low; where none is, as their mean and spread foretell.
        columns: The same for each target column.
        num_matvecs: Products with the Gram matrix that were made.
    """

    value: float | None
    lower: float
    upper: float | None
    certified: bool
    shuffled: float | None
    shuffled_error: float | None
    shuffled_std: float | None
    p_value: float
    columns: tuple[ColumnComplexity, ...]
    num_matvecs: int


@dataclass(frozen=True)
class Dependence:
    """Do the labels depend on the inputs? Their fit with a ridge, yᵀ(H + k̄I)⁻¹y, among shuffles of them.

    A ridge of k̄, the mean of the kernel's diagonal, keeps noise from hiding what can be learned, which in the
    complexity itself it does.

    Attributes:
        p_value: Share of shuffles that are as low, where the labels of rows with the same inputs move
            together, so that copies are no evidence; where none is as low, as their mean and spread foretell.
        p_value_by_row: The same where every label moves by itself: agreement of rows with the same inputs
            counts.
        rows: Rows that were looked at.
    """

    p_value: float
    p_value_by_row: float
    rows: int


@dataclass(frozen=True)
class Alignment:
    """How label energy lies on the spectrum, beside that of shuffled labels.

    Attributes:
        eigenvalues: A descending grid of eigenvalues of H.
        labels: Share of ‖Y‖² that lies on eigenvectors with at least that eigenvalue.
        random: The same for shuffled labels, in expectation.
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
    """Gradient steps until the loss is a share of the initial one; None where the curve ends before that.

    `random` is for shuffled labels, `worst` for labels on the last eigenvector.
    """

    share: float
    labels: int | None
    random: int | None
    worst: int | None


@dataclass(frozen=True)
class TrainedCurve:
    """A finite network trained by gradient descent, beside its prediction.

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
class TrainingCurve:
    """How gradient descent will go [fine-grained, Theorem 4.1].

    Attributes:
        eta: Step size used here.
        eta_max: Step size beyond which gradient descent diverges, 2/λ_max.
        steps: Step numbers.
        loss: Predicted Φ = ½‖Y − u(k)‖² at those steps.
        random_loss: The same for shuffled labels, in expectation.
        worst_loss: The same for labels on the last eigenvector, scaled to ‖Y‖.
        movement: Predicted ‖W(k) − W(0)‖_F at those steps.
        movement_limit: Its limit √(Σ yᵀH⁻¹y).
        steps_to: Steps until 50, 10 and 1% of the initial loss.
        trained: A real training run laid over the prediction; None where none was made.
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


class Outside(Enum):
    """Why Theorem 5.1 does not apply directly to a case."""

    NOT_CERTIFIED = "the complexity is not bounded"
    OTHER_KERNEL = "another kernel"
    SEVERAL_OUTPUTS = "several outputs"
    LARGE_TARGETS = "targets beyond 1"
    REPEATED = "repeated rows"
    CONFLICTS = "conflicting rows"


@dataclass(frozen=True)
class Bound:
    """Theorem 5.1's bound on the population loss, with all its terms.

    Attributes:
        value: Sum of the terms; None where the complexity is not known.
        terms: Name to value, in the order of the proof.
        delta: The failure probability it is stated for.
        vacuous: Whether the bound is 1 or more.
        reasons: Why the theorem does not apply directly; empty where it does.
    """

    value: float | None
    terms: dict[str, float]
    delta: float
    vacuous: bool
    reasons: tuple[Outside, ...]

    @property
    def applies(self) -> bool:
        """Whether the theorem covers this kernel and task."""
        return not self.reasons


class Estimate(Enum):
    """How a leave-one-out error was found."""

    CLOSED_FORM = "closed form"
    ESTIMATED = "estimated"
    NOT_CONVERGED = "not converged"
    TOO_ROUGH = "too rough"


@dataclass(frozen=True)
class LeaveOneOutSummary:
    """Leave-one-out error of a kernel predictor; rows with the same inputs are left out together.

    Attributes:
        error: Mean over rows of Σ_columns (prediction − Y)².
        standard_error: Its standard error, over the rows.
        error_bar: By how much `error` may be off besides where it is estimated, not in closed form.
        misclassified: Share of rows whose class is predicted wrongly; None for regression.
        misclassified_standard_error: Its standard error, over the rows.
        rows: Rows that were left out.
        method: How; where it did not converge, or is known too roughly, nothing is shown.
        constant: What the best constant errs: the share of rows outside the most frequent class, or, for
            regression, the squared error of the mean.
        baseline: The squared error of predicting the mean of the targets.
        auc: Share of pairs of rows, one of each class, that their predictions rank rightly, which is the area
            under the ROC curve; None unless there are two classes.
        auc_standard_error: Its standard error, over the rows.
    """

    error: float | None
    standard_error: float | None
    error_bar: float | None
    misclassified: float | None
    misclassified_standard_error: float | None
    rows: int
    method: Estimate
    constant: float
    baseline: float
    auc: float | None = None
    auc_standard_error: float | None = None

    @property
    def told(self) -> tuple[float, float] | None:
        """The error that stands beside `constant`, and its standard error; None where it is not known."""
        if self.error is None or self.standard_error is None:
            return None
        if self.misclassified is None or self.misclassified_standard_error is None:
            return self.error, self.standard_error
        return self.misclassified, self.misclassified_standard_error


@dataclass(frozen=True)
class Chosen:
    """The kernel and ridge under which each row of this data is predicted best by the others.

    Attributes:
        kernel: Name of the kernel: its depth is chosen.
        ridge: Added to its diagonal.
        loo: Its leave-one-out error, the one to expect of a wide network.
        learning_curve: Its error against the number of rows.
    """

    kernel: str
    ridge: float
    loo: LeaveOneOutSummary
    learning_curve: LearningCurve


@dataclass(frozen=True)
class WholeRows:
    """Labels and errors of all rows, where these are too many for the kernel.

    Each row is judged by a regression on the kernel's values at some points, the landmarks, with the kernel
    and ridge that were chosen on a sample. `low` and `high` are about the kernel itself with all rows, whose
    error is not computed. Both are estimates, of a share of rows or for regression a squared error; neither
    is a proved bound.

    Attributes:
        n: All rows.
        num_sampled: Rows drawn from them at random, of which all is that is not said to be of all rows.
        num_landmarks: Points among all rows that stand for the others.
        missed: Share of the kernel's diagonal, in the mean over all rows, that the landmarks do not show.
        loo: Leave-one-out error of the regression on landmarks, of all rows: exact for this predictor, which
            sees less than the kernel and mostly errs more.
        low: Lower end of the 95% interval of the sample's learning curve, extrapolated to all rows, or the
            error of `loo` less two standard errors, whichever is less.
        high: The error of `loo` and two standard errors.
    """

    n: int
    num_sampled: int
    num_landmarks: int
    missed: float
    loo: LeaveOneOutSummary
    low: float
    high: float


@dataclass(frozen=True)
class LabelNoise:
    """Share of wrong labels (classes), or of target variance that is noise (regression).

    Attributes:
        estimate: Of most likelihood; 0 where no noise is detected.
        low, high: Ends of its interval.
        level: Nominal level of the interval.
        decided: Whether the interval tells anything.
        kernel, ridge: Of the predictions that it rests on.
    """

    estimate: float
    low: float
    high: float
    level: float
    decided: bool
    kernel: str
    ridge: float


@dataclass(frozen=True, slots=True)  # there may be a million
class Suspect:
    """A row whose label fits the rest badly; a higher score is more suspicious.

    `given` and `suggested` are written as the user writes them, and are equal where they mean the same.
    """

    row: int
    given: str
    suggested: str
    score: float


class Held(Enum):
    """What is held of the Gram matrix: all of it, its half as tiles, or some tiles, others recomputed.

    Workers of a cluster hold its half.
    """

    DENSE = "dense"
    PACKED = "packed"
    TILED = "tiled"
    WORKERS = "workers"


@dataclass(frozen=True)
class GramPlan:
    """How the Gram matrix is held, and the bytes that this takes."""

    held: Held
    num_bytes: int
