"""Networks and data to trained networks, many settings at once."""

from widenet.training.run import TrainingRun
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep, train

__all__ = ["TrainingRun", "TrainingSettings", "sweep", "train"]
