"""A certificate read by somebody who does not trust it: every field there, of its type, of a sane size."""

import hashlib
import json
from dataclasses import dataclass, field, fields
from typing import Any

CERTIFICATE_SCHEMA = "widenet/certificate/2"
EARLIER_SCHEMA = "widenet/certificate/1"  # has `impute` where there are lists of columns now
MOST = 2**48  # rows, columns, neurons: far beyond any data, and still without overflow in a product with 8
MOST_POWER = 64
PREPARATIONS = ("unit", "standard", "raw")
TASKS = (None, "classification", "regression")


class RefutedError(Exception):
    """Something that the certificate says, or that belongs to it, is not so; the message says what."""


@dataclass(frozen=True)
class _Kind:
    """Values of a type: words for others, the range of whole numbers, and whether it may be absent."""

    type: type
    words: str
    low: int = 0
    high: int = 0
    is_absent: bool = False

    def read(self, record: dict[str, Any], name: str, *, optional: bool = False) -> Any:
        """Take a field out of a record; what is finite was settled when it was written canonically."""
        if self.is_absent and name not in record:
            return None
        value: Any = record.pop(name)
        if value is None and optional:
            return None
        fits = type(value) is self.type
        if self.type is list and fits and all(type(item) is str for item in value):
            return tuple(value)
        if self.type is list or not fits or (self.type is int and not self.low <= value <= self.high):
            raise TypeError(f"{name} is {self.words}")
        return value


def _whole(low: int = 1, high: int = MOST) -> _Kind:
    return _Kind(int, f"not a whole number from {low} to {high}", low, high)


OBJECT, TEXT = _Kind(dict, "not an object"), _Kind(str, "not text")
MAYBE = _Kind(str, "not text", is_absent=True)  # for what was not asked for
TEXTS = _Kind(list, "not a list of texts")
TRUTH, NUMBER = _Kind(bool, "neither true nor false"), _Kind(float, "not a number with a point")


def _at(place: str, kind: _Kind, name: str = "", *, optional: bool = False) -> Any:
    """A field that a certificate has at this place, under its own name or another; it may be optional."""
    return field(metadata={"at": (place, kind, name, optional)})


@dataclass(frozen=True)
class Claim:
    """What a certificate says, field by field as docs/memorise.md tells it."""

    source: str = _at("data", TEXT)
    target: str | None = _at("data", TEXT, optional=True)
    prepare: str = _at("data", TEXT)
    drop: tuple[str, ...] = _at("data", TEXTS)
    keep: tuple[str, ...] = _at("data", TEXTS)
    categorical: tuple[str, ...] = _at("data", TEXTS)
    task: str | None = _at("data", MAYBE)
    file_sha256: str | None = _at("data", TEXT, optional=True)
    noise: float = _at("data", NUMBER)
    seed: int = _at("data", _whole(0, 2**63 - 1))
    inputs_sha256: str = _at("data", TEXT)
    targets_sha256: str = _at("data", TEXT)
    classes_sha256: str = _at("data", TEXT)
    weights_sha256: str = _at("network", TEXT)
    n: int = _at("", _whole())
    points: int = _at("", _whole())
    d: int = _at("", _whole())
    layers: int = _at("", _whole(2, 3))
    k: int = _at("", _whole())
    r: int = _at("", _whole())
    positive: int = _at("signs", _whole())
    negative: int = _at("signs", _whole())
    power: int = _at("network", _whole(1, MOST_POWER))
    scale: float = _at("network", NUMBER)
    parameters: int = _at("", _whole(1, MOST**2))
    loss: float = _at("", NUMBER)
    max_residual: float = _at("", NUMBER)
    tolerance: float = _at("", NUMBER)
    labels_reproduced: bool = _at("", TRUTH)
    sigma_value: float = _at("sigma_min", NUMBER, "value")
    sigma_lower: float = _at("sigma_min", NUMBER, "lower")
    curvature_norm: float = _at("", NUMBER)
    lambda_min: float = _at("", NUMBER)
    bound: float | None = _at("", NUMBER, optional=True)
    holds: bool | None = _at("", TRUTH, optional=True)


def parse_claim(content: bytes) -> Claim:
    """Read a certificate, refusing any byte that its maker would not have written."""
    record = record_of(content, "The certificate")
    digest = record.pop("digest", None)
    plain = canonical(record, "The certificate")
    if digest != hashlib.sha256(plain).hexdigest():
        raise RefutedError("The certificate was changed: its digest does not match its content.")
    if canonical(record | {"digest": digest}, "The certificate") != content:
        raise RefutedError("The certificate was changed: its layout is not that of a certificate.")
    schema = record.pop("schema", None)
    if schema not in (CERTIFICATE_SCHEMA, EARLIER_SCHEMA):
        raise RefutedError(
            f"The certificate's schema is {str(schema)[:60]!r}, but only {EARLIER_SCHEMA!r} and "
            f"{CERTIFICATE_SCHEMA!r} are known."
        )
    try:
        claim = _claim_of(_as_now(record) if schema == EARLIER_SCHEMA else record)
    except (KeyError, TypeError, ValueError) as error:
        raise RefutedError(f"The certificate lacks a field or has one of the wrong kind: {error}.") from error
    _check_sizes(claim)
    return claim


def _as_now(record: dict[str, Any]) -> dict[str, Any]:
    """A certificate of the earlier schema, whose data had every column and no gaps; its hashes tell if so."""
    data = OBJECT.read(record, "data")
    if TRUTH.read(data, "impute"):
        raise RefutedError("The certificate is of data with gaps, which are filled in another way now.")
    return record | {"data": data | {"drop": [], "keep": [], "categorical": []}}


def record_of(content: bytes, name: str) -> dict[str, Any]:
    """The fields of a file of this name, which a stranger wrote."""
    try:
        record = json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RefutedError(f"{name} is not JSON: it was damaged, or it is another file.") from error
    if not isinstance(record, dict):
        raise RefutedError(f"{name} is JSON, but not an object with fields.")
    return record


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def canonical(record: dict[str, Any], name: str) -> bytes:
    """The one way to write a record: keys in order, two spaces, ASCII, a newline at the end."""
    try:
        return (json.dumps(record, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()
    except (ValueError, RecursionError) as error:  # 1e999 is read as infinity
        raise RefutedError(
            f"{name} holds a number that is not finite, or brackets nested too deeply."
        ) from error


def _claim_of(record: dict[str, Any]) -> Claim:
    """Take field by field out of a record, until nothing is left that nobody would check."""
    places = {name: OBJECT.read(record, name) for name in ("data", "network", "sigma_min")}
    places |= {"signs": OBJECT.read(places["network"], "signs"), "": record}
    found = {}
    for each in fields(Claim):
        place, kind, name, optional = each.metadata["at"]
        found[each.name] = kind.read(places[place], name or each.name, optional=optional)
    TEXT.read(record, "version")
    unknown = [name for place in places.values() for name in place]
    if unknown:
        raise ValueError(f"{unknown[0][:60]!r} is not a field that can be checked")
    return Claim(**found)


def _check_sizes(claim: Claim) -> None:
    """Sizes that contradict each other."""
    if claim.r % 2 or claim.r < 2 * claim.k + 2:
        raise RefutedError(
            f"The certificate's {claim.r:,} neurons are not an even number of at least 2k + 2."
        )
    if claim.positive != claim.negative or claim.positive + claim.negative != claim.r:
        raise RefutedError("The certificate's neurons are not half of one sign and half of the other.")
    if claim.layers == 2 and (claim.k, claim.power, claim.scale) != (claim.d, 1, 1.0):
        raise RefutedError("The certificate claims two layers, yet also a random layer before them.")
    if claim.parameters != claim.k * claim.r:
        raise RefutedError(
            f"The certificate counts {claim.parameters:,} parameters, but k × r = {claim.k:,} × {claim.r:,} "
            f"is {claim.k * claim.r:,}."
        )
    if claim.task not in TASKS:
        raise RefutedError(f"The certificate names the task {str(claim.task)[:60]!r}, which does not exist.")
    if claim.prepare not in PREPARATIONS:
        raise RefutedError("The certificate names an unknown preparation of the rows.")
    sizes = (claim.noise, claim.loss, claim.max_residual, claim.curvature_norm, claim.sigma_lower)
    if min(*sizes, claim.sigma_value) < 0 or claim.scale <= 0:
        raise RefutedError("The certificate has a negative number where none is possible.")
