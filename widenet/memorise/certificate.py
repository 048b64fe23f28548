"""The certificate: what is true of the weights on this data, in a form that a stranger can check.

It holds nothing that differs between two equal runs, such as times, and it is written in one way only, so
that any changed bit shows.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from widenet.data.dataset import Dataset
from widenet.data.origin import Origin
from widenet.memorise.conditions import Conditions
from widenet.memorise.landscape import Landscape, landscape
from widenet.memorise.problem import SquaresProblem
from widenet.memorise.rounding import layer_errors, output_rounding
from widenet.spectrum.cholesky import EigenvalueBracket

SCHEMA = "widenet/certificate/2"
HALF = 0.5  # residuals of classes below it are gone after rounding
SHARE = 1e-3  # of the standard deviation of targets that are numbers, which residuals must stay below


@dataclass(frozen=True)
class MeasuredFit:
    """Weights with everything that is measured at them.

    Attributes:
        W: Shape (k, r), float64.
        landscape: Loss, residuals, curvature, and Lemma 4's bound.
        rounding: How far any output in float64 can be from the exact one.
        tolerance: What residuals must stay below: a half for classes, `SHARE` of the standard deviation else.
    """

    W: Tensor
    landscape: Landscape
    rounding: float
    tolerance: float

    @property
    def labels_reproduced(self) -> bool:
        """Whether every target is met, so that anybody who computes the outputs in float64 finds it met.

        The residuals here and those of a checker are each off by at most `rounding`, and a checker counts
        its own against us.
        """
        return self.landscape.max_residual + 3 * self.rounding < self.tolerance


def measure_fit(
    problem: SquaresProblem, X: Tensor, W: Tensor, conditions: Conditions, *, is_classes: bool
) -> MeasuredFit:
    """Everything that a certificate says of weights W (k, r), for inputs X (n, d) as they were perturbed."""
    W = W.to(torch.float64)
    tolerance = HALF if is_classes else SHARE * float(problem.y.std(correction=0))
    found = landscape(problem.Z, problem.y, W, conditions.sigma_min.lower)
    rounding = output_rounding(problem.Z, layer_errors(problem.layer, X), W, problem.y)
    return MeasuredFit(W, found, rounding, tolerance)


def pack_weights(problem: SquaresProblem, W: Tensor) -> bytes:
    """W, and R of the random layer, in the safetensors format."""
    tensors = {"W": W} | ({} if problem.layer is None else {"R": problem.layer.R})
    return save({name: tensor.contiguous() for name, tensor in tensors.items()})


def certificate_bytes(
    problem: SquaresProblem,
    X: Tensor,
    conditions: Conditions,
    fit: MeasuredFit,
    dataset: Dataset,
    weights: bytes,
) -> bytes:
    """The certificate as a file.

    Args:
        problem: What was memorised.
        X: Its inputs, prepared and perturbed, shape (n, d).
        conditions: What the theorems require.
        fit: The weights, of which it must be true that they reproduce all targets.
        dataset: Where the rows came from, and the classes in the order of the numbers that stand for them.
        weights: The file of weights.
    """
    if not fit.labels_reproduced:
        raise ValueError("weights that miss a target have no certificate")
    layer = problem.layer
    origin = dataset.origin or Origin(dataset.name, None, dataset.preparation.kind)
    record = {
        "schema": SCHEMA,
        "version": version("widenet"),
        "data": {
            **{name: value for name, value in asdict(origin).items() if (name, value) != ("task", None)},
            "noise": float(problem.noise),
            "seed": problem.seed,
            "inputs_sha256": tensor_sha256(X),
            "targets_sha256": tensor_sha256(problem.y),
            "classes_sha256": hashlib.sha256(json.dumps(dataset.classes).encode()).hexdigest(),
        },
        "network": {
            "power": 1 if layer is None else layer.power,
            "scale": 1.0 if layer is None else layer.scale,
            "signs": {"positive": problem.r // 2, "negative": problem.r // 2},
            "weights_sha256": hashlib.sha256(weights).hexdigest(),
        },
        "n": problem.n,
        "d": X.shape[1],
        **measured_facts(problem, conditions, fit),
        "sigma_min": asdict(_claimed(conditions.sigma_min)),
    }
    return canonical(record | {"digest": hashlib.sha256(canonical(record)).hexdigest()})


def _claimed(sigma_min: EigenvalueBracket) -> EigenvalueBracket:
    """σ_min as far as somebody else can prove it: nothing where no bound was found."""
    return sigma_min if sigma_min.lower > 0 else EigenvalueBracket(0.0, 0.0)


def measured_facts(problem: SquaresProblem, conditions: Conditions, fit: MeasuredFit) -> dict[str, Any]:
    """What certificate and result say of a network; without a proof that σ_min is not 0, no bound holds."""
    unproved = {} if conditions.sigma_min.lower > 0 else {"bound": None, "holds": None}
    return {
        "points": conditions.num_points,
        "layers": problem.layers,
        "k": problem.k,
        "r": problem.r,
        "parameters": problem.num_parameters,
        "sigma_min": conditions.sigma_min,
        "tolerance": fit.tolerance,
        "labels_reproduced": fit.labels_reproduced,
        **asdict(fit.landscape),
        **unproved,
    }


def canonical(record: dict[str, Any]) -> bytes:
    """The one way in which a record is written: keys in order, ASCII, floats in full."""
    return (json.dumps(record, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def tensor_sha256(tensor: Tensor) -> str:
    """SHA-256 of the shape, as in '(3, 2)', and of the values as little-endian float64 in C order."""
    digest = hashlib.sha256(str(tuple(tensor.shape)).encode())
    digest.update(tensor.contiguous().numpy().astype("<f8", copy=False).data)
    return digest.hexdigest()
