"""The answer in sentences."""

import math

from widenet.papers.resnet_beyond_kernels.separation.kernels import PARITIES
from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult
from widenet.theory.resnet_beyond_kernels.lower_bound import fewest_samples


def verdict(result: SeparationResult) -> tuple[str, ...]:
    """What the network does that no kernel can, and what kernels with oracle weights do."""
    return (*_about_network(result), _about_kernels(result))


def in_units(error: float, result: SeparationResult) -> str:
    """An error as a multiple of α²."""
    if not math.isfinite(error):
        return "diverged"
    multiple = error / result.unlearned
    return f"{multiple:.2f} α²" if multiple >= 0.1 else f"{multiple:.1g} α²"


def _about_network(result: SeparationResult) -> tuple[str, ...]:
    index = result.widest
    if index is None:
        return (
            "In this run the ResNet did not get below the bound that holds for every kernel, at any number "
            "of samples: a larger width, more epochs or a smaller k may show it.",
        )
    point, floor = result.network[index], result.floor[index]
    needed = fewest_samples(
        point.error, result.settings["d1"], result.settings["k"], result.settings["alpha"]
    )
    return (
        f"From {point.num_samples} samples the trained ResNet has a mean error of "
        f"{in_units(point.error, result)}, and no kernel method can have less than "
        f"{in_units(floor, result)}.",
        f"To be as good as this on average over the {result.class_size} functions, any kernel needs at least "
        f"{needed} samples.",
    )


def _about_kernels(result: SeparationResult) -> str:
    told = f"The {len(result.kernels)} kernels were given the best weights that there are"
    if result.smallest_margin < -1e-9:
        return f"{told}, and one of them is below the bound, which cannot be: please report this."
    nearest = min(result.kernels, key=lambda kernel: sum(kernel.errors))
    made = ", made for this class" if nearest.name == PARITIES else ""
    return f"{told}, and none of them is below the bound; the nearest to it is {nearest.name}{made}."
