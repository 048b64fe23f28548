"""What memorising finds: frozen, and the same dictionary in Python and as JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from widenet.spectrum.cholesky import EigenvalueBracket

SCHEMA = "widenet/memorise/1"


@dataclass(frozen=True)
class DataSummary:
    """The rows that were memorised.

    Attributes:
        name: Built-in name or file name.
        task: binary, multiclass or regression.
        classes: Class names; empty for regression. The network's output for a row is the index of its class.
        prepare: The map that was used.
        noise: Standard deviation of what was added to each coordinate after that.
        provenance: Sentences on what was read and which encodings were made.
    """

    name: str
    task: str
    classes: tuple[str, ...]
    prepare: str
    noise: float
    provenance: tuple[str, ...]


@dataclass(frozen=True)
class Forecast:
    """What was expected before anything large was computed.

    Attributes:
        memory_bytes: Peak resident memory.
        seconds: Wall-clock time; that of descent is a guess, since nobody knows its number of steps.
    """

    memory_bytes: int
    seconds: float


@dataclass(frozen=True)
class LossCurve:
    """f along the way, thinned out; each entry of the three belongs together."""

    steps: tuple[int, ...]
    seconds: tuple[float, ...]
    loss: tuple[float, ...]


@dataclass(frozen=True)
class MemoriseResult:
    """Everything that memorising finds, without the weights.

    Attributes:
        schema: Name and version of this record.
        version: Version of widenet.
        data: The rows.
        n: Rows.
        points: Distinct rows among them, up to sign.
        d: Columns of the prepared inputs.
        layers: 2 or 3.
        k: Inputs of the trained layer: d, or the neurons of the random layer.
        r: Neurons of the trained layer.
        power: Exponent of the random layer; None for two layers.
        parameters: Trained weights, k r.
        conditions: What the theorems ask for on this data, in sentences.
        sigma_min: Smallest singular value of [z_j^{⊗2}], as computed and as proved; a `lower` of 0 proves
            nothing.
        loss: f(W) = Σ δ_j² / (4n), in float64.
        max_residual: max |δ_j|.
        tolerance: What every |δ_j| has to stay below.
        labels_reproduced: Whether all do, rounding counted against them.
        curvature_norm: ‖M‖.
        lambda_min: Least eigenvalue of the Hessian, −‖M‖ by Lemma 3.
        bound: n k ‖M‖² / (4σ²), which Lemma 4 puts above the loss; None without a proved σ_min.
        holds: Whether it is above the loss.
        method: pgd, adam or direct.
        notes: What the method did, in sentences.
        steps: Its steps.
        curve: The loss along the way.
        certified: Whether a certificate was made.
        verdict: The answer in sentences.
        forecast: What was expected.
        seconds: Wall-clock time that it took, interrupted runs included.
    """

    schema: str
    version: str
    data: DataSummary
    n: int
    points: int
    d: int
    layers: int
    k: int
    r: int
    power: int | None
    parameters: int
    conditions: tuple[str, ...]
    sigma_min: EigenvalueBracket
    loss: float
    max_residual: float
    tolerance: float
    labels_reproduced: bool
    curvature_norm: float
    lambda_min: float
    bound: float | None
    holds: bool | None
    method: str
    notes: tuple[str, ...]
    steps: int
    curve: LossCurve
    certified: bool
    verdict: tuple[str, ...]
    forecast: Forecast
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as `--json` prints them."""
        return asdict(self)
