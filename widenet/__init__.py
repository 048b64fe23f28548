"""What a wide neural network can learn from your data, before and without training one.

The public names, each imported when it is first used, so that `import widenet` stays light.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "AuditResult": "widenet.audit",
    "AuditSettings": "widenet.audit",
    "TrainSettings": "widenet.audit",
    "run_audit": "widenet.audit",
    "CompareSettings": "widenet.compare",
    "ComparisonResult": "widenet.compare",
    "run_comparison": "widenet.compare",
    "Dataset": "widenet.data",
    "flip_labels": "widenet.data",
    "held_out": "widenet.data",
    "load": "widenet.data",
    "Dense": "widenet.kernels",
    "Erf": "widenet.kernels",
    "Relu": "widenet.kernels",
    "Residual": "widenet.kernels",
    "Serial": "widenet.kernels",
    "cross_matrix": "widenet.kernels",
    "gram_matrix": "widenet.kernels",
    "kernel_by_name": "widenet.kernels",
    "MemoriseResult": "widenet.memorise.result",
    "MemoriseSettings": "widenet.memorise.plan",
    "run_memorise": "widenet.memorise.run",
    "verify": "widenet.memorise.checker.verify",
    "Initialisation": "widenet.networks",
    "network_by_name": "widenet.networks",
    "Store": "widenet.runs",
    "SeparationResult": "widenet.papers.resnet_beyond_kernels.separation",
    "SeparationSettings": "widenet.papers.resnet_beyond_kernels.separation",
    "run_separation": "widenet.papers.resnet_beyond_kernels.separation",
    "DenseGram": "widenet.spectrum",
    "TiledGram": "widenet.spectrum",
    "gauss_measure": "widenet.spectrum",
    "inverse_bracket": "widenet.spectrum",
    "lanczos": "widenet.spectrum",
    "descent_distance": "widenet.predict",
    "descent_loss": "widenet.predict",
    "leave_one_out": "widenet.predict",
    "predict_learning_curve": "widenet.predict",
    "steps_until": "widenet.predict",
    "InsideResult": "widenet.inside.run",
    "inside": "widenet.inside.run",
    "TrainingRun": "widenet.training",
    "TrainingSettings": "widenet.training",
    "sweep": "widenet.training",
    "train": "widenet.training",
    "InputError": "widenet.base.errors",
    "NotConvergedError": "widenet.base.errors",
    "WidenetError": "widenet.base.errors",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'widenet' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
