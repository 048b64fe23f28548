"""What the separation finds."""

import math
import statistics
from dataclasses import dataclass
from typing import Any, ClassVar

from widenet.base.wording import number
from widenet.papers.resnet_beyond_kernels.separation.settings import SeparationSettings
from widenet.study.forecast import Forecast
from widenet.study.result import Result


@dataclass(frozen=True)
class KernelCurve:
    """A kernel with the best weights that there are, at each number of samples.

    Attributes:
        name: The kernel.
        errors: Mean over the class, per output, averaged over the draws of samples.
        lowest: The smallest of the draws.
    """

    name: str
    errors: tuple[float, ...]
    lowest: tuple[float, ...]


@dataclass(frozen=True)
class NetworkPoint:
    """The trained network from one number of samples.

    Attributes:
        num_samples: N.
        rate: Step size that was best on the tuning functions.
        decay: Weight decay that was.
        tuning_error: Mean error on these, per output.
        errors: Error on each of the other functions, per output, over the whole cube at the end of training;
            infinite where training failed under every setting: it diverged, or the training rows ended no
            better than they began.
        num_replaced: Functions on which it failed under the best setting, so that the next best was used.
    """

    num_samples: int
    rate: float
    decay: float
    tuning_error: float
    errors: tuple[float, ...]
    num_replaced: int = 0

    @property
    def error(self) -> float:
        """Mean over the functions."""
        return sum(self.errors) / len(self.errors)

    @property
    def std(self) -> float | None:
        """Standard deviation between the functions; None for a single one, or where training failed."""
        if len(self.errors) < 2 or not math.isfinite(self.error):
            return None
        return statistics.stdev(self.errors)

    @property
    def lowest(self) -> float:
        """The smallest error of the functions."""
        return min(self.errors)

    @property
    def highest(self) -> float:
        """The largest."""
        return max(self.errors)


@dataclass(frozen=True, repr=False, kw_only=True)
class SeparationResult(Result):
    """Error against the number of samples: kernels, their bound, and the network.

    Attributes:
        settings: What it was found with.
        class_size: C(d₁, k), the number of functions.
        unlearned: α², the error per output of having learned F but not αG(F).
        sizes: Numbers of samples N.
        floor: α² max(0, 1 − N/C(d₁, k)) at each N: on average over the class, a kernel method whose kernel is
            fixed before the labels has at least this error.
        kernels: Each kernel.
        network: The network at each N.
        subsets: The coordinates of each function that the network was measured on, counted from 0.
        tuning_subsets: Those of each function that its rate and decay were chosen on, all of them others.
        forecast: What was expected.
        seconds: What it took.
    """

    schema: ClassVar[str] = "widenet/separation/1"
    room: ClassVar[str] = "widenet.report.separation"
    settings: SeparationSettings
    class_size: int
    unlearned: float
    sizes: tuple[int, ...]
    floor: tuple[float, ...]
    kernels: tuple[KernelCurve, ...]
    network: tuple[NetworkPoint, ...]
    subsets: tuple[tuple[int, ...], ...]
    tuning_subsets: tuple[tuple[int, ...], ...]
    forecast: Forecast
    seconds: float

    @property
    def smallest_margin(self) -> float:
        """The least of (kernel's error − bound) over kernels, numbers of samples and draws."""
        return min(
            error - floor
            for kernel in self.kernels
            for error, floor in zip(kernel.lowest, self.floor, strict=True)
        )

    @property
    def widest(self) -> int | None:
        """Index of the N at which the network's mean is furthest below the bound; None where it never is."""
        gaps = [
            floor - point.error if math.isfinite(point.error) else -math.inf
            for floor, point in zip(self.floor, self.network, strict=True)
        ]
        best = max(range(len(gaps)), key=lambda index: gaps[index])
        return best if gaps[best] > 0 else None

    def facts(self) -> dict[str, str]:
        index = len(self.sizes) - 1 if self.widest is None else self.widest
        return {
            "d1": f"{self.settings.d1}",
            "k": f"{self.settings.k}",
            "samples": f"{self.sizes[index]}",
            "network": number(self.network[index].error),
            "bound": number(self.floor[index]),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as JSON has them; of the forecast its seconds."""
        record = super().to_dict()
        for point, told in zip(self.network, record["network"], strict=True):
            told |= {name: getattr(point, name) for name in ("error", "std", "lowest", "highest")}
        return record | {"forecast": self.forecast.seconds, "smallest_margin": self.smallest_margin}
