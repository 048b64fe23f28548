"""What an audit finds."""

from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor

from widenet.audit.findings import (
    Bound,
    Chosen,
    Complexity,
    Dependence,
    GramPlan,
    LabelNoise,
    LeaveOneOutSummary,
    Soundness,
    SpectrumSummary,
    Suspect,
    TrainingCurve,
    WholeRows,
)
from widenet.base.wording import number, percent
from widenet.predict.learning_curve import LearningCurve
from widenet.study.data import DataSummary
from widenet.study.forecast import Forecast
from widenet.study.result import Result, aside

if TYPE_CHECKING:
    import pandas as pd

LABELS_FILE = "labels.csv"
NUM_REVIEWED = 100  # suspicious rows that are shown with the rows nearest to them
NUM_NEAREST = 2  # rows that a suspicious one is shown beside
NUM_PICTURED = 16  # suspicious rows whose images a result holds, with those of the rows nearest to them
FAR = 3.0  # standard deviations from which on a target is far from its prediction


@dataclass(frozen=True, repr=False, kw_only=True)
class AuditResult(Result):
    """Everything that an audit finds.

    With `whole`, a sample of the rows was audited, and besides it labels and errors of all of them. Then
    `data`, `soundness`, `noise`, `contradicting` and `ranking` are of all rows, and all else of the sample.

    Attributes:
        data: The rows.
        soundness: Repeated, opposite and contradictory rows.
        kernel: Name of the kernel.
        complexity: How learnable the labels are.
        dependence: Whether they depend on the inputs at all.
        spectrum: Of the Gram matrix.
        curve: How gradient descent will go.
        bound: Theorem 5.1's.
        loo: Leave-one-out error of that kernel, interpolating.
        learning_curve: Its error against the number of rows.
        chosen: The predictor that was chosen for this data.
        whole: The error of all rows by landmarks; None where all that were audited are left out of the
            kernel itself.
        noise: Of the labels.
        contradicting: Rows whose label is not the one that the other rows predict; None for regression.
        ranking: All rows that were audited, the most suspicious first; `labels` is the same as a DataFrame.
        nearest: Rows with the most similar inputs, by the number of a suspicious row, the nearest first.
        pictures: Pixels of the first of them, and of their nearest rows, by row number; empty where rows are
            no images.
        cells: The table as it was read, its index the numbers of the rows; None where there is none.
        files: The file of each row, by row number; empty where rows share one.
        raw_cells: Whether text that looks like a formula is written as it is.
        labels_file: Where the ranking was written; None where it was not.
        forecast: What was expected.
        gram: How the Gram matrix was held.
        seconds: What it took.
    """

    schema: ClassVar[str] = "widenet/audit/1"
    room: ClassVar[str] = "widenet.report.audit"
    data: DataSummary
    soundness: Soundness
    kernel: str
    complexity: Complexity
    dependence: Dependence
    spectrum: SpectrumSummary
    curve: TrainingCurve
    bound: Bound
    loo: LeaveOneOutSummary
    learning_curve: LearningCurve
    chosen: Chosen
    whole: WholeRows | None = None
    noise: LabelNoise
    contradicting: int | None
    ranking: tuple[Suspect, ...] = aside()
    nearest: dict[int, tuple[int, ...]] = aside(default_factory=dict)
    pictures: dict[int, Tensor] = aside()
    cells: "pd.DataFrame | None" = aside(default=None)
    files: dict[int, str] = aside(default_factory=dict)
    raw_cells: bool = aside(default=False)
    labels_file: str | None = None
    forecast: Forecast
    gram: GramPlan
    seconds: float

    @property
    def suspicious(self) -> tuple[Suspect, ...]:
        """Rows whose label the others contradict, or whose target is far from its prediction, worst first."""
        if self.data.task == "regression":
            return tuple(each for each in self.ranking if each.score > FAR)
        return tuple(each for each in self.ranking if each.given != each.suggested)

    @property
    def judged(self) -> LeaveOneOutSummary:
        """The error of the predictions by which labels are judged, those by landmarks if there are such."""
        return self.chosen.loo if self.whole is None else self.whole.loo

    def facts(self) -> dict[str, str]:
        value, loo = self.complexity.value, self.judged
        noise = percent(self.noise.estimate) if self.noise.estimate else "none detected"
        error = {} if loo.error is None else {"error": number(loo.error)}
        error |= {} if loo.misclassified is None else {"misclassified": percent(loo.misclassified)}
        return {
            "data": self.data.name,
            "n": f"{self.data.n}",
            "kernel": self.kernel,
            "complexity": "open" if value is None else number(value),
            **error,
            "constant": number(loo.constant) if loo.misclassified is None else percent(loo.constant),
            "noise": noise if self.noise.decided else "not known",
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as JSON has them; the full ranking stays in `labels_file`."""
        record = super().to_dict()
        record["data"] |= record.pop("soundness")
        record["bound"]["applies"] = self.bound.applies
        null = record["complexity"]
        null |= {"random": null["shuffled"], "random_error": null["shuffled_error"]}
        gram = record.pop("gram")
        record["forecast"] |= {"gram": gram["held"], "gram_bytes": gram["num_bytes"]}
        return record

    @property
    def labels(self) -> "pd.DataFrame":
        """All rows that were audited as a DataFrame, the most suspicious first.

        Its `index` is the position of a row in the data that was given, counted from 0, so that
        `data.iloc[result.labels.index[:10]]` shows the ten most suspicious. Rows without a target, and those
        that a sample left out, are not in it.
        """
        import pandas as pd

        names = [each.name for each in fields(Suspect)]
        frame = pd.DataFrame([astuple(each) for each in self.ranking], columns=names)
        if self.files:
            frame["file"] = frame["row"].map(self.files)
        return frame.set_index(pd.Index(frame["row"] - 1, name="index"))

    def resolved(self) -> dict[str, Any]:
        return {"eta": self.curve.eta}

    def placed(self, out: Path) -> "AuditResult":
        return replace(self, labels_file=str(out / LABELS_FILE))
