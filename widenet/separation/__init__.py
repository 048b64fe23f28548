"""What the ResNet learns and no kernel does, on the class (7.1) of `resnet-beyond-kernels`."""

from widenet.separation.result import SeparationResult
from widenet.separation.run import SeparationSettings, run_separation

__all__ = ["SeparationResult", "SeparationSettings", "run_separation"]
