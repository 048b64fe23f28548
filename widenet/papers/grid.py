"""The grid of rates and weight decays that the experiments of two papers share.

Both papers search {1, 2, 5}·10^-k for rate and weight decay without saying for which k
[resnet-beyond-kernels, section 8.1; beyond-two-layers, section 7].
"""

from dataclasses import dataclass

from widenet.papers.figure import FigureSettings
from widenet.study.settings import setting
from widenet.training.settings import TrainingSettings


@dataclass(frozen=True)
class GridSettings(FigureSettings):
    """How networks are trained, and how many rows choose and test."""

    rates: tuple[float, ...] = setting((0.2, 0.1, 0.05, 0.02), "Rates to choose from.", low=0, strict=True)
    decays: tuple[float, ...] = setting((0.01, 0.005, 0.002, 0.001), "Weight decays to choose from.", low=0)
    epochs: int = setting(800, "Epochs; the rate falls tenfold after half of them.", low=1, high=10**6)
    batch: int = setting(50, "Rows in each step.", low=1, high=2**16)
    held_out: int = setting(2000, "Validation rows, and as many test rows.", low=1, high=10**6)

    def grid(self, seed: int, **options: object) -> list[TrainingSettings]:
        """Every rate with every decay; `options` are further fields of `TrainingSettings`."""
        common = {"epochs": self.epochs, "batch": self.batch, "seed": seed, **options}
        return [
            TrainingSettings(rate=rate, decay=decay, **common)  # type: ignore[arg-type]
            for rate in self.rates
            for decay in self.decays
        ]
