"""Is a certificate true? Checked by code that shares nothing with the code that wrote it but the data loader.

A folder from a stranger is material to doubt: sizes are checked before memory is taken, nothing is unpickled,
and whatever is wrong with it becomes a sentence.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors

from widenet.base.errors import InputError, WidenetError
from widenet.base.keys import public_key
from widenet.base.memory import is_out_of_memory, usable_bytes
from widenet.base.progress import SILENT, Progress
from widenet.data import file_hash, load
from widenet.memorise.checker.claim import Claim, RefutedError, parse_claim
from widenet.memorise.checker.files import (
    CERTIFICATE_FILE,
    LONGEST_CERTIFICATE,
    WEIGHTS_FILE,
    SignatureStatus,
    check_files,
    check_signature,
    read_file,
    signature_status,
)
from widenet.memorise.checker.recheck import Fit, Net, distinct_rows, features, fit_of
from widenet.memorise.checker.recheck_sigma import has_room, quick_ceiling, refuting_ceiling, singular_floor
from widenet.study.result import Outcome, Result

LONGEST_HEADER = 2**16  # bytes that a file of weights may have beside its numbers
TOLERANCE = 1e-3  # of the targets' standard deviation: the most that a certificate may allow for numbers
VALUE_TOLERANCE = 0.01  # relative, to which σ_min as a value is proved on both sides
NARROW = (
    1e-6  # to which a number is compared, relative to it or to what residuals as large as allowed make of it
)
RECOMPUTED = 1e-9  # relative, for a number that follows from others in a line of arithmetic


class CheckStatus(Enum):
    """How a check ended: undecided if it was neither proved nor refuted, skipped if it rests on another."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Check:
    """One thing that was checked, and what came of it in a sentence."""

    name: str
    status: CheckStatus
    sentence: str


@dataclass(frozen=True, repr=False, kw_only=True)
class VerifyResult(Result):
    """Everything that was checked.

    Attributes:
        folder: The folder.
        checks: All checks in order.
        signature: Who signed it, as far as that was asked.
    """

    schema: ClassVar[str] = "widenet/verification/1"
    folder: str
    checks: tuple[Check, ...]
    signature: SignatureStatus = SignatureStatus.UNSIGNED

    @property
    def verified(self) -> bool:
        """Whether every check passed: what could not be decided is not verified."""
        return self.num_checks(CheckStatus.PASSED) == len(self.checks)

    @property
    def refuted(self) -> bool:
        """Whether some check failed."""
        return self.num_checks(CheckStatus.FAILED) > 0

    @property
    def outcome(self) -> Outcome:
        if self.refuted:
            return Outcome.FAILED
        return Outcome.DONE if self.verified else Outcome.PARTLY

    def num_checks(self, status: CheckStatus) -> int:
        """How many checks ended so."""
        return sum(check.status is status for check in self.checks)

    def facts(self) -> dict[str, str]:
        counts = {status.value: f"{self.num_checks(status)}" for status in CheckStatus}
        return {"folder": self.folder, "verified": "yes" if self.verified else "no", **counts}

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as JSON has them."""
        return super().to_dict() | {"verified": self.verified}


@dataclass(frozen=True)
class _Rows:
    """Inputs as the network saw them, shape (n, d), and its targets, shape (n,)."""

    X: np.ndarray
    y: np.ndarray
    is_classes: bool


@dataclass(frozen=True)
class _Seen:
    """What the trained layer sees of the rows, shape (n, k), and how well the net fits."""

    Z: np.ndarray
    fit: Fit


class _UndecidedError(Exception):
    """Something can be neither proved nor refuted here; the message says why."""


def verify(
    folder: str | Path,
    data: str | None = None,
    *,
    trust: str | Path | None = None,
    progress: Progress = SILENT,
) -> VerifyResult:
    """Check a certificate against its weights and the data.

    Args:
        folder: What `widenet memorise` wrote.
        data: Built-in name or file; by default the one that the certificate names, so give it where the
            folder is a stranger's.
        trust: File of the public key, ed25519 in PEM, whose owner must have signed the folder.
        progress: Told of each check.
    """
    folder, key = Path(folder), None if trust is None else public_key(trust)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give the one that widenet memorise wrote.")
    run = _Run(progress)
    with np.errstate(all="ignore"):  # what overflows fails a comparison, and is told there
        claim, certificate = run("certificate", partial(_read_claim, folder)) or (None, None)
        manifest = run("files", partial(check_files, folder), claim, certificate)
        trusted = None if key is None else run("signature", partial(check_signature, folder, key), manifest)
        net = run("weights", partial(_read_net, folder), claim)
        rows = run("data", partial(_read_rows, data), claim)
        seen = run("loss", _check_loss, claim, net, rows)
        run("labels", _check_labels, claim, rows, seen)
        run("curvature", _check_curvature, claim, rows, seen)
        proved = run("sigma_min", _check_sigma, claim, rows, seen)
        run("bound", partial(_check_bound, proved=proved is not None), claim, seen)
    signature = signature_status(folder, asked=key is not None, trusted=trusted is not None)
    return VerifyResult(folder=str(folder), checks=tuple(run.checks), signature=signature)


class _Run:
    """Runs checks one after the other; one that lacks what an earlier one should have found is skipped."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.checks: list[Check] = []

    def __call__(self, name: str, check: Callable[..., tuple[Any, str]], *needs: Any) -> Any:
        """What a check found, such as the weights; None where it failed or could not be made."""
        if any(need is None for need in needs):
            because = "Not checked, because an earlier check did not pass."
            self.checks.append(Check(name, CheckStatus.SKIPPED, because))
            return None
        self.progress(f"checking {name}")
        value, status = None, CheckStatus.FAILED
        try:
            value, sentence = check(*needs)
            status = CheckStatus.PASSED
        except _UndecidedError as error:
            status, sentence = CheckStatus.UNDECIDED, str(error)
        except RefutedError as error:
            sentence = str(error)
        except np.linalg.LinAlgError:
            sentence = "The network's numbers are not finite, or too large to compute with."
        except WidenetError as error:  # data that cannot be had here refute nothing
            status, sentence = CheckStatus.UNDECIDED, str(error)
        except OSError as error:
            status, sentence = (
                CheckStatus.UNDECIDED,
                f"{error.filename or 'A file'} cannot be read ({error.strerror}).",
            )
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            status, sentence = CheckStatus.UNDECIDED, "There is not enough memory for this check."
        self.checks.append(Check(name, status, sentence))
        return value


def _read_claim(folder: Path) -> tuple[tuple[Claim, bytes], str]:
    """What the certificate says, and the file as it was read."""
    content = read_file(folder / CERTIFICATE_FILE, 0, LONGEST_CERTIFICATE)
    claim = parse_claim(content)
    if not claim.labels_reproduced:
        raise RefutedError("The certificate itself says that not all labels are reproduced.")
    told = f"The certificate is intact: {claim.layers} layers, {claim.r:,} neurons, {claim.n:,} rows."
    return (claim, content), told


def _read_net(folder: Path, claim: Claim) -> tuple[Net, str]:
    shapes = {"W": (claim.k, claim.r)} | ({"R": (claim.k, claim.d)} if claim.layers == 3 else {})
    expected = 8 * sum(rows * columns for rows, columns in shapes.values())
    if 3 * expected > usable_bytes():
        raise _UndecidedError(
            f"The certificate declares {expected / 2**30:,.1f} GiB of weights, which do not fit here."
        )
    content = read_file(folder / WEIGHTS_FILE, expected, expected + LONGEST_HEADER)
    if hashlib.sha256(content).hexdigest() != claim.weights_sha256:
        raise RefutedError(f"{WEIGHTS_FILE} was changed, or is not the one that the certificate is about.")
    try:
        tensors = load_tensors(content)
    except (SafetensorError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise RefutedError(
            f"{WEIGHTS_FILE} is not a file of weights: it is damaged, or of another format."
        ) from error
    found = {name: (tensor.shape, str(tensor.dtype)) for name, tensor in tensors.items()}
    if found != {name: (shape, "float64") for name, shape in shapes.items()}:
        told = ", ".join(f"{name} of {_times(shape)}" for name, shape in shapes.items())
        raise RefutedError(f"{WEIGHTS_FILE} does not hold {told} in float64, as the certificate says.")
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise RefutedError(f"{WEIGHTS_FILE} holds weights that are not finite.")
    net = Net(tensors["W"], tensors.get("R"), claim.power, claim.scale)
    return net, f"The weights match the certificate: {claim.parameters:,} parameters for {claim.n:,} rows."


def _read_rows(data: str | None, claim: Claim) -> tuple[_Rows, str]:
    """Load the data, prepare and perturb it as the certificate says, and compare its hashes.

    Of a file every bit counts, also one that the preparation would round away. The names of the classes count
    in their order: the same numbers under other names are other data.
    """
    if claim.file_sha256 is not None and file_hash(data or claim.source) != claim.file_sha256:
        raise RefutedError(
            f"{data or claim.source!r} is not, bit for bit, the file that the certificate is about."
        )
    dataset = load(
        data or claim.source,
        target=claim.target,
        prepare=claim.prepare,  # type: ignore[arg-type]
        drop=claim.drop,
        keep=claim.keep,
        categorical=claim.categorical,
        task=claim.task,  # type: ignore[arg-type]
    )
    if (dataset.n, dataset.d) != (claim.n, claim.d):
        raise RefutedError(
            f"The certificate is about other data: {claim.n:,} rows of {claim.d:,} columns, but "
            f"{dataset.name} has {dataset.n:,} of {dataset.d:,}."
        )
    if dataset.labels is None and dataset.Y.shape[1] != 1:
        raise RefutedError(
            f"{dataset.name} has {dataset.Y.shape[1]} targets, but a certificate is about one."
        )
    X = dataset.X.numpy()
    if claim.noise:
        X = X + claim.noise * np.random.Generator(np.random.PCG64(claim.seed)).standard_normal(X.shape)
    y = dataset.Y[:, 0].numpy() if dataset.labels is None else dataset.labels.numpy().astype(np.float64)
    if array_sha256(X) != claim.inputs_sha256:
        raise RefutedError(f"The inputs of {dataset.name} are not those that the certificate is about.")
    if array_sha256(y) != claim.targets_sha256:
        raise RefutedError(f"The targets of {dataset.name} are not those that the certificate is about.")
    if hashlib.sha256(json.dumps(dataset.classes).encode()).hexdigest() != claim.classes_sha256:
        raise RefutedError(
            f"The classes of {dataset.name} have other names than those that the certificate is about, or "
            "another order."
        )
    return _Rows(X, y, is_classes=dataset.labels is not None), _data_words(data, claim)


def _data_words(data: str | None, claim: Claim) -> str:
    """Which data were found to be the certificate's; whoever did not name them should know who did."""
    source = f"{data!r}" if data else f"{claim.source!r}, named by the certificate"
    exactly = ", bit for bit the same file" if claim.file_sha256 else ""
    noise = f", with noise of {claim.noise:g} from seed {claim.seed}" if claim.noise else ""
    prepared = f"prepared {claim.prepare}{noise}"
    return f"This is the data that the certificate is about: {source}{exactly}, {prepared}."


def _check_loss(claim: Claim, net: Net, rows: _Rows) -> tuple[_Seen, str]:
    if 8 * claim.n * claim.k > usable_bytes():
        raise _UndecidedError(f"The network's features of {claim.n:,} rows do not fit into memory here.")
    Z = features(net, rows.X)
    fit = fit_of(net, rows.X, Z, rows.y)
    allowed = _tolerated(claim, rows)
    _agree("‖ŷ − y‖", (4 * claim.n * claim.loss) ** 0.5, fit.norm, fit.norm_slack, allowed * claim.n**0.5)
    _agree("largest residual", claim.max_residual, fit.largest, float(fit.rounding.max()), allowed)
    loss = fit.norm**2 / (4 * claim.n)
    return _Seen(Z, fit), f"The loss is {loss:.3g} and the largest residual {fit.largest:.3g}, as claimed."


def _tolerated(claim: Claim, rows: _Rows) -> float:
    """What residuals must stay below, as far as a certificate may choose it."""
    most = 0.5 if rows.is_classes else TOLERANCE * float(rows.y.std()) * (1 + RECOMPUTED)
    if not 0 < claim.tolerance <= most:
        raise RefutedError(
            f"The certificate allows residuals of {claim.tolerance:.3g}, but may allow at most {most:.3g}."
        )
    return claim.tolerance


def _check_labels(claim: Claim, rows: _Rows, seen: _Seen) -> tuple[bool, str]:
    """Every label, with all that rounding can have done counted against it."""
    fit = seen.fit
    missed = ~(np.abs(fit.residuals) - fit.rounding < claim.tolerance)
    if missed.any():
        first = int(np.flatnonzero(missed)[0]) + 1
        raise RefutedError(
            f"{missed.sum():,} of {claim.n:,} targets are not reproduced, the first in row {first:,}."
        )
    unsure = ~(np.abs(fit.residuals) + fit.rounding < claim.tolerance)
    if unsure.any():
        raise _UndecidedError(
            f"Rounding hides whether {unsure.sum():,} of {claim.n:,} targets are reproduced."
        )
    if rows.is_classes:
        return True, f"Each of the {claim.n:,} labels is the network's output, rounded."
    return True, f"Each of the {claim.n:,} targets is reproduced to {claim.tolerance:.3g}."


def _check_curvature(claim: Claim, rows: _Rows, seen: _Seen) -> tuple[bool, str]:
    """‖M‖, and λ_min(∇²f) = −‖M‖ by Lemma 3, for which there are enough neurons."""
    largest = _tolerated(claim, rows) * float(np.square(seen.Z).sum(1).mean())  # of M within the tolerance
    _agree("‖M‖", claim.curvature_norm, seen.fit.curvature_norm, seen.fit.curvature_slack, largest)
    if claim.lambda_min != -claim.curvature_norm:
        raise RefutedError("The certificate's λ_min does not follow from its ‖M‖ by Lemma 3.")
    return (
        True,
        f"‖M‖ is {claim.curvature_norm:.3g}, so the Hessian's least eigenvalue is {claim.lambda_min:.3g}.",
    )


def _check_sigma(claim: Claim, rows: _Rows, seen: _Seen) -> tuple[bool, str]:
    """The lower bound is proved anew, and the value from both sides.

    Rounding of the random layer can have moved [z_j ⊗ z_j], and so σ_min, by `moved`. So that much more is
    proved of the rows as computed, and what is claimed is true of the exact ones.
    """
    distinct = distinct_rows(rows.X)
    if len(distinct) != claim.points:
        raise RefutedError(
            f"The certificate counts {claim.points:,} distinct rows, but there are {len(distinct):,}."
        )
    value, lower = claim.sigma_value, claim.sigma_lower
    if not lower <= value:
        raise RefutedError("The certificate's lower bound on σ_min is above its value.")
    if value == 0:
        return True, "Nothing is claimed of σ_min."
    Z, moved = seen.Z[distinct], 1.001 * float(np.linalg.norm(seen.fit.moved[distinct]))
    least = max(lower, (1 - VALUE_TOLERANCE) * value)
    _refuse_above(least, quick_ceiling(Z) + moved)
    if not has_room(*Z.shape):
        _refuse_above(least, refuting_ceiling(Z) + moved)  # hundreds of products, needless for a proof
        raise _UndecidedError(
            f"σ_min ≥ {lower:.6g} was not refuted, but there is no room here for its proof: "
            f"{claim.points:,} rows need more memory, or more space for temporary files."
        )
    floor = singular_floor(Z, least + moved)
    _refuse_above(least, floor.upper + moved)
    if not floor.proved:
        raise _UndecidedError(
            f"σ_min ≥ {least:.6g} was neither proved nor refuted: rounding hides it at this size."
        )
    most = (1 + VALUE_TOLERANCE) * value
    if not floor.upper + moved <= most:
        if singular_floor(Z, most + moved).proved:
            raise RefutedError(f"σ_min is more than {most:.6g}, and the certificate says {value:.6g}.")
        raise _UndecidedError(f"σ_min may be {floor.upper:.6g}, 1% more than the certificate says, or less.")
    return True, f"σ_min is {value:.4g} to 1%, and certainly at least {lower:.4g}."


def _refuse_above(least: float, upper: float) -> None:
    """Refuse a σ_min that is said to be above what it is at most."""
    if not least <= upper:
        raise RefutedError(
            f"The certificate says that σ_min is {least:.6g} or more; it is at most {upper:.6g}."
        )


def _check_bound(claim: Claim, seen: _Seen, *, proved: bool) -> tuple[bool, str]:
    """Lemma 4: f ≤ nk‖M‖²/(4σ²), with what the checks before have confirmed; `proved`: also σ."""
    if claim.sigma_lower == 0:
        if claim.bound is not None or claim.holds is not None:
            raise RefutedError("The certificate has Lemma 4's bound without a σ_min to compute it from.")
        return True, "Nothing is claimed by Lemma 4, which needs a bound on σ_min."
    bound = _lemma4(claim, claim.curvature_norm)
    if claim.bound is None or not abs(claim.bound - bound) <= RECOMPUTED * bound < float("inf"):
        raise RefutedError(f"Lemma 4's bound is {bound:.6g}, and the certificate does not say so.")
    # M is known up to rounding only, so a loss within rounding of the bound may be told either way.
    if claim.loss > _lemma4(claim, claim.curvature_norm + seen.fit.curvature_slack):
        raise RefutedError(f"The loss {claim.loss:.3g} is more than Lemma 4's bound {bound:.3g}.")
    if not claim.holds and claim.loss <= bound:
        raise RefutedError("The certificate says that Lemma 4's bound does not hold, but it does.")
    if not proved:
        raise _UndecidedError("Lemma 4's bound rests on σ_min, which was not proved here.")
    relation = "at most" if claim.loss <= bound else "up to rounding at most"
    return True, f"Lemma 4: the loss {claim.loss:.3g} is {relation} nk‖M‖²/(4σ²) = {bound:.3g}."


def _lemma4(claim: Claim, norm: float) -> float:
    ratio = norm / claim.sigma_lower
    return claim.n * claim.k * ratio * ratio / 4  # a power would raise an error where this is infinite


def _agree(what: str, claimed: float, found: float, slack: float, scale: float) -> None:
    """Accept a claim that is right to `NARROW` of what was found, or of `scale` if that is larger.

    Args:
        what: What is claimed.
        claimed: The claim.
        found: The same, computed here.
        slack: How far that can be from the truth.
        scale: What it would be if residuals were as large as they may be.
    """
    if not slack < float("inf"):
        raise RefutedError("The network's numbers are not finite, or too large to compute with.")
    allowed, apart = NARROW * max(found, scale), abs(claimed - found)
    if not apart - slack <= allowed:
        raise RefutedError(f"The certificate's {what} is {claimed:.6g}, and it is {found:.6g}.")
    if not apart + slack <= allowed:
        raise _UndecidedError(
            f"The certificate's {what} is {claimed:.6g}, and it is {found:.6g} up to {slack:.3g}: rounding "
            "hides too much."
        )


def array_sha256(array: np.ndarray) -> str:
    """SHA-256 of the shape, as in '(3, 2)', and of the values as little-endian float64 in C order."""
    values = np.ascontiguousarray(array, dtype="<f8")
    digest = hashlib.sha256(str(tuple(int(size) for size in array.shape)).encode())
    digest.update(values.data)
    return digest.hexdigest()


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape)
