"""What figures 2 and 3 share: H = βF + αG(F) on {±1}^d [resnet-beyond-kernels, section 8.1]."""

from collections.abc import Iterator
from dataclasses import dataclass

from widenet.papers.cells import Cell
from widenet.papers.curve import Style
from widenet.papers.grid import GridSettings
from widenet.papers.jobs.networks import network_trial, rate_and_decay
from widenet.runs.trial import Record
from widenet.study.settings import setting

WIDTHS = (20, 50, 100, 200, 500, 1000)
DECAYS = (0.005, 0.002, 0.001)  # of hidden layers, and of all where β varies


@dataclass(frozen=True)
class CubeSettings(GridSettings):
    """The target, its sample and the networks."""

    m: tuple[int, ...] = setting(WIDTHS, "Widths m of the hidden layers.", low=1, high=2**17)
    n: int = setting(500, "Training rows N.", low=2, high=10**6)
    d: int = setting(30, "Coordinates of x.", low=8, high=10**4)
    alpha: float = setting(0.3, "α of H = βF + αG(F).", low=0, strict=True)

    @property
    def k(self) -> int:
        """Outputs: one for each pair of coordinates."""
        return self.d // 2

    @property
    def unlearned(self) -> float:
        """kα², the error of a learner that has F and nothing of αG(F)."""
        return self.k * self.alpha**2

    def data(self, seed: int, beta: float = 1.0) -> str:
        """The draw of this seed, by its name."""
        return f"resnet-cube:n={self.n},d={self.d},alpha={self.alpha:g},beta={beta:g},seed={seed}"


def network_cells(
    settings: CubeSettings,
    curve: str,
    network: str,
    beta: float = 1.0,
    style: Style = "line",
    **options: object,
) -> Iterator[Cell]:
    """A network at every width and seed, under every rate and decay; options are those of training."""
    for m in settings.m:
        for seed in settings.all_seeds:
            data = settings.data(seed, beta)
            grid = settings.grid(seed, **options)
            trials: tuple[Record, ...] = tuple(
                network_trial(data, settings.held_out, network, m, each) for each in grid
            )
            yield Cell(curve, m, seed, trials, rate_and_decay, style)
