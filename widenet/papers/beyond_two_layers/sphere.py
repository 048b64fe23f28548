"""What the figures share: three and two layers on functions of the unit sphere in R⁴ [section 7]."""

from dataclasses import dataclass, replace

from widenet.networks.initialise import Initialisation
from widenet.papers.grid import GridSettings
from widenet.study.settings import setting
from widenet.training.settings import TrainingSettings

WIDTHS = (20, 50, 100, 200, 500, 1000)
START = Initialisation("layers")  # a ~ N(0, 1), all else N(0, 1/m)
DEPARTURES = (
    "The paper tries rates and decays of {1, 2, 5}·10^-k without saying for which k, and does not say how "
    "many test rows there were. Epochs are looked at 41 times.",
    "Rates of hidden layers are tried as multiples of 1/m, since their gradients grow as m.",
)


@dataclass(frozen=True)
class SphereSettings(GridSettings):
    """The networks and how they are trained; a rate is divided by the width."""

    rates: tuple[float, ...] = setting(
        (2.0, 1.0, 0.5, 0.2), "Rates times m to choose from.", low=0, strict=True
    )
    decays: tuple[float, ...] = setting((1e-4, 1e-5), "Weight decays to choose from.", low=0)
    m: tuple[int, ...] = setting(WIDTHS, "Widths m of the hidden layers.", low=1, high=2**17)

    def scaled_grid(self, m: int, seed: int) -> list[TrainingSettings]:
        """Every rate with every decay, for networks of width m."""
        return [replace(each, rate=each.rate / m) for each in self.grid(seed, initialisation=START)]
