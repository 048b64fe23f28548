"""A certificate read by somebody who does not trust it: every field there, of its type, of a sane size."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

CERTIFICATE_SCHEMA = "widenet/certificate/1"
MOST = 2**48  # rows, columns, neurons: far beyond any data, and still without overflow in a product with 8
MOST_POWER = 64
PREPARATIONS = ("unit", "standard", "raw")


class RefutedError(Exception):
    """Something that the certificate says, or that belongs to it, is not so; the message says what."""


@dataclass(frozen=True)
class Claim:
    """What a certificate says, field by field as docs/memorise.md tells it."""

    source: str
    target: str | None
    prepare: str
    impute: bool
    file_sha256: str | None
    noise: float
    seed: int
    inputs_sha256: str
    targets_sha256: str
    classes_sha256: str
    weights_sha256: str
    n: int
    points: int
    d: int
    layers: int
    k: int
    r: int
    positive: int
    negative: int
    power: int
    scale: float
    parameters: int
    loss: float
    max_residual: float
    tolerance: float
    labels_reproduced: bool
    sigma_value: float
    sigma_lower: float
    curvature_norm: float
    lambda_min: float
    bound: float | None
    holds: bool | None


def parse_claim(content: bytes) -> Claim:
    """Read a certificate, refusing any byte that its maker would not have written."""
    record = _record_of(content)
    digest = record.pop("digest", None)
    plain = _canonical(record)
    if digest != hashlib.sha256(plain).hexdigest():
        raise RefutedError("The certificate was changed: its digest does not belong to what it says.")
    if _canonical(record | {"digest": digest}) != content:
        raise RefutedError("The certificate was changed: it is not laid out as certificates are.")
    schema = record.pop("schema", None)
    if schema != CERTIFICATE_SCHEMA:
        raise RefutedError(
            f"The certificate's schema is {str(schema)[:60]!r}, and only {CERTIFICATE_SCHEMA!r} is known."
        )
    try:
        claim = _claim_of(record)
    except (KeyError, TypeError, ValueError) as error:
        raise RefutedError(f"The certificate lacks a field or has one of a wrong kind: {error}.") from error
    _check_sizes(claim)
    return claim


def _record_of(content: bytes) -> dict[str, Any]:
    try:
        record = json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RefutedError("The certificate is not JSON: it was damaged, or it is another file.") from error
    if not isinstance(record, dict):
        raise RefutedError("The certificate is JSON, but not an object with fields.")
    return record


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _canonical(record: dict[str, Any]) -> bytes:
    """The one way to write a record: keys in order, two spaces, ASCII, a newline at the end."""
    try:
        return (json.dumps(record, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()
    except (ValueError, RecursionError) as error:  # 1e999 is read as infinity
        raise RefutedError(
            "The certificate holds what none can: no number, or depths of brackets."
        ) from error


def _claim_of(record: dict[str, Any]) -> Claim:
    """Take field by field out of a record, until nothing is left that nobody would check."""
    data, network, sigma = (_object(record, name) for name in ("data", "network", "sigma_min"))
    signs = _object(network, "signs")
    claim = Claim(
        source=_text(data, "source"),
        target=_optional(_text, data, "target"),
        prepare=_text(data, "prepare"),
        impute=_truth(data, "impute"),
        file_sha256=_optional(_text, data, "file_sha256"),
        noise=_number(data, "noise"),
        seed=_whole(data, "seed", 0, 2**63 - 1),
        inputs_sha256=_text(data, "inputs_sha256"),
        targets_sha256=_text(data, "targets_sha256"),
        classes_sha256=_text(data, "classes_sha256"),
        weights_sha256=_text(network, "weights_sha256"),
        n=_whole(record, "n"),
        points=_whole(record, "points"),
        d=_whole(record, "d"),
        layers=_whole(record, "layers", 2, 3),
        k=_whole(record, "k"),
        r=_whole(record, "r"),
        positive=_whole(signs, "positive"),
        negative=_whole(signs, "negative"),
        power=_whole(network, "power", 1, MOST_POWER),
        scale=_number(network, "scale"),
        parameters=_whole(record, "parameters", 1, MOST**2),
        loss=_number(record, "loss"),
        max_residual=_number(record, "max_residual"),
        tolerance=_number(record, "tolerance"),
        labels_reproduced=_truth(record, "labels_reproduced"),
        sigma_value=_number(sigma, "value"),
        sigma_lower=_number(sigma, "lower"),
        curvature_norm=_number(record, "curvature_norm"),
        lambda_min=_number(record, "lambda_min"),
        bound=_optional(_number, record, "bound"),
        holds=_optional(_truth, record, "holds"),
    )
    _text(record, "version")
    unknown = [*data, *network, *sigma, *signs, *record]
    if unknown:
        raise ValueError(f"{unknown[0][:60]!r} is not a field that can be checked")
    return claim


def _check_sizes(claim: Claim) -> None:
    """Sizes that contradict each other."""
    if claim.r % 2 or claim.r < 2 * claim.k + 2:
        raise RefutedError(
            f"The certificate's {claim.r:,} neurons are not an even number of at least 2k + 2."
        )
    if claim.positive != claim.negative or claim.positive + claim.negative != claim.r:
        raise RefutedError("The certificate's neurons are not half of one sign and half of the other.")
    if claim.layers == 2 and (claim.k, claim.power, claim.scale) != (claim.d, 1, 1.0):
        raise RefutedError(
            "The certificate speaks of two layers, and yet of a layer between them and the data."
        )
    if claim.parameters != claim.k * claim.r:
        raise RefutedError(
            f"The certificate counts {claim.parameters:,} parameters, and k × r = {claim.k:,} × {claim.r:,} "
            f"is {claim.k * claim.r:,}."
        )
    if claim.prepare not in PREPARATIONS:
        raise RefutedError("The certificate names a preparation of the rows that there is not.")
    sizes = (claim.noise, claim.loss, claim.max_residual, claim.curvature_norm, claim.sigma_lower)
    if min(*sizes, claim.sigma_value) < 0 or claim.scale <= 0:
        raise RefutedError("The certificate has a negative number where none can be.")


def _object(record: dict[str, Any], name: str) -> dict[str, Any]:
    value = record.pop(name)
    if not isinstance(value, dict):
        raise TypeError(f"{name} is not an object")
    return value


def _text(record: dict[str, Any], name: str) -> str:
    value = record.pop(name)
    if not isinstance(value, str):
        raise TypeError(f"{name} is not text")
    return value


def _truth(record: dict[str, Any], name: str) -> bool:
    value = record.pop(name)
    if not isinstance(value, bool):
        raise TypeError(f"{name} is neither true nor false")
    return value


def _number(record: dict[str, Any], name: str) -> float:
    value = record.pop(name)
    if not isinstance(value, float):  # what is finite was settled when it was written canonically
        raise TypeError(f"{name} is not a number with a point")
    return value


def _whole(record: dict[str, Any], name: str, low: int = 1, high: int = MOST) -> int:
    value = record.pop(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise TypeError(f"{name} is not a whole number from {low} to {high}")
    return value


def _optional(kind: Callable[[dict[str, Any], str], T], record: dict[str, Any], name: str) -> T | None:
    if record[name] is None:
        record.pop(name)
        return None
    return kind(record, name)
