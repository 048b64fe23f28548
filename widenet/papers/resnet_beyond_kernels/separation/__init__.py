"""What the ResNet learns and no kernel does, on the class (7.1) of `resnet-beyond-kernels`."""

from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult
from widenet.papers.resnet_beyond_kernels.separation.run import SeparationSettings, run_separation

__all__ = ["SeparationResult", "SeparationSettings", "run_separation"]
