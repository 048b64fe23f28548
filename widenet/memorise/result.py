"""What memorising finds."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from widenet.base.keys import private_key
from widenet.base.wording import number
from widenet.memorise.conditions import Conditions
from widenet.memorise.methods.method import MethodPlan
from widenet.spectrum.cholesky import EigenvalueBracket
from widenet.study.data import DataSummary
from widenet.study.forecast import Forecast
from widenet.study.result import Outcome, Result, aside


@dataclass(frozen=True)
class Resumed:
    """A run goes on from what an earlier one left.

    Attributes:
        steps: Steps that were made; None where the training had not begun.
    """

    steps: int | None


@dataclass(frozen=True)
class LossCurve:
    """f along the way, thinned out; each entry of the three belongs together."""

    steps: tuple[int, ...]
    seconds: tuple[float, ...]
    loss: tuple[float, ...]


@dataclass(frozen=True, repr=False, kw_only=True)
class MemoriseResult(Result):
    """Everything that memorising finds.

    Attributes:
        data: The rows; the network's output for a row is the index of its class, or a number.
        noise: Standard deviation of what was added to each coordinate of the prepared rows.
        conditions: What the theorems require, and whether this data set has it.
        points: Distinct rows, up to sign.
        layers: 2 or 3.
        k: Inputs of the trained layer: d, or the neurons of the random layer.
        r: Neurons of the trained layer.
        power: Exponent of the random layer; None for two layers.
        parameters: Trained weights, k r.
        sigma_min: Smallest singular value of [z_j^{⊗2}], as computed and as proved; a `lower` of 0 proves
            nothing.
        loss: f(W) = Σ δ_j² / (4n), in float64.
        max_residual: max |δ_j|.
        rounding: How far any output in float64 can be from the exact one.
        tolerance: What every |δ_j| has to stay below.
        labels_reproduced: Whether all do, rounding counted against them.
        curvature_norm: ‖M‖.
        lambda_min: Least eigenvalue of the Hessian, −‖M‖ by Lemma 3.
        bound: n k ‖M‖² / (4σ²), which Lemma 4 puts above the loss; None without a proved σ_min.
        holds: Whether it is above the loss.
        method: pgd, adam or direct.
        plan: What the method set out to do.
        steps: Its steps.
        curve: The loss along the way.
        forecast: What was expected.
        seconds: Wall-clock time that it took, interrupted runs included.
        weights: W, and R of a random layer, as a safetensors file.
        certificate: The certificate as a file; None where not every target was reproduced.
    """

    schema: ClassVar[str] = "widenet/memorise/1"
    room: ClassVar[str] = "widenet.report.memorise"
    data: DataSummary
    noise: float
    conditions: Conditions = aside()
    points: int
    layers: int
    k: int
    r: int
    power: int | None
    parameters: int
    sigma_min: EigenvalueBracket
    loss: float
    max_residual: float
    rounding: float
    tolerance: float
    labels_reproduced: bool
    curvature_norm: float
    lambda_min: float
    bound: float | None
    holds: bool | None
    method: str
    plan: MethodPlan = aside()
    steps: int
    curve: LossCurve
    forecast: Forecast
    seconds: float = 0.0
    weights: bytes = aside()
    certificate: bytes | None = aside()

    @property
    def certified(self) -> bool:
        """Whether a certificate was made."""
        return self.certificate is not None

    @property
    def outcome(self) -> Outcome:
        return Outcome.DONE if self.certified else Outcome.FAILED

    def facts(self) -> dict[str, str]:
        return {
            "data": self.data.name,
            "n": f"{self.data.n}",
            "layers": f"{self.layers}",
            "neurons": f"{self.r}",
            "method": self.method,
            "loss": number(self.loss),
            "certified": "yes" if self.certified else "no",
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as JSON has them; weights and certificate have files of their own."""
        record = super().to_dict()
        record["data"]["noise"] = record.pop("noise")
        return record | {"n": self.data.n, "d": self.data.d, "certified": self.certified}

    def save(self, folder: str | Path, *, force: bool = False, sign: str | Path | None = None) -> Path:
        """Write the folder that `widenet.verify` checks, as the command line does; returns the report's path.

        Args:
            folder: The folder to write.
            force: Whether an earlier result in it may be replaced.
            sign: File of a private key, ed25519 in PEM, to sign it with, if there is a certificate.
        """
        key = None if sign is None else private_key(sign)
        return self._save(Path(folder), force=force, key=key)

    def resolved(self) -> dict[str, Any]:
        return {"layers": self.layers, "width": self.r}
