"""The separation in plain sentences, and in the rows of tables."""

import math

from widenet.base.wording import counted
from widenet.papers.resnet_beyond_kernels.separation.kernels import PARITIES
from widenet.papers.resnet_beyond_kernels.separation.result import KernelCurve, NetworkPoint, SeparationResult
from widenet.report.parts.quantities import rounded_down
from widenet.theory.resnet_beyond_kernels.lower_bound import fewest_samples

ROUNDED = 1e-9  # by which rounding may bring a kernel below the bound


def sentences(result: SeparationResult) -> tuple[str, ...]:
    """The network beside the bound for kernels fixed before the labels, and kernels with oracle weights."""
    return (*_about_network(result), _about_kernels(result))


def the_class(result: SeparationResult) -> list[str]:
    """The functions, in words."""
    d1, k, alpha = result.settings.d1, result.settings.k, result.settings.alpha
    return [
        f"Inputs are the {2**d1:,} corners of a cube with d₁ = {d1} coordinates, each equally likely. A "
        f"function of the class picks k = {k} of the coordinates: F(x) is these {k} signs, and the target is "
        f"F(x) + αG(F(x)), where every output of G is the product of all {k} signs and α = {alpha:g}.",
        f"There are {result.class_size:,} such functions. Which coordinates matter can be read off F, which "
        "is linear; a network that has found F needs little more for the product, while a kernel that is "
        "fixed before the labels cannot use what F has shown.",
    ]


def how_separated(result: SeparationResult) -> list[str]:
    """How errors were measured, the most important first."""
    settings = result.settings
    num_replaced = sum(point.num_replaced for point in result.network)
    replaced = (
        f"Under the setting that was best on those, the training of {counted(num_replaced, 'network')} "
        "failed, as the samples themselves show; there the next best setting was used."
    )
    return [
        "Kernels were given oracle weights: of all functions in the span of K(·, x₁), …, K(·, xₙ), the one "
        f"nearest to the target over the whole cube, by projection, averaged over all {result.class_size:,} "
        f"functions of the class and {counted(settings.members, 'draw')} of the samples.",
        f"The ResNet has {settings.width:,} neurons in each hidden layer and was trained for "
        f"{settings.epochs:,} epochs on the samples alone. Its rate and weight decay were chosen on "
        f"{counted(settings.tuning, 'other function')} of the class; its error is over the whole cube, at "
        f"the end of training, on {counted(settings.members, 'function')} with samples of their own. By "
        "symmetry it has the same distribution on every function of the class.",
        *([replaced] if num_replaced else []),
        f"The functions that were measured depend on the coordinates {_picked(result.subsets)}; those "
        f"used for tuning are all different and depend on {_picked(result.tuning_subsets)}. Samples and "
        "initial weights have seeds of their own for each of them.",
    ]


def kernel_rows(result: SeparationResult) -> list[tuple[str, ...]]:
    """The bound, then a row for each kernel."""
    rows = [("bound", *(multiple(error, result) for error in result.floor))]
    rows += [(each.name, *(multiple(error, result) for error in each.errors)) for each in result.kernels]
    return rows


def network_rows(result: SeparationResult) -> list[tuple[str, ...]]:
    """A row for each number of samples."""
    return [
        (
            f"{point.num_samples:,}",
            multiple(point.error, result),
            "" if point.std is None else multiple(point.std, result),
            "\u00a0to\u00a0".join(multiple(error, result) for error in (point.lowest, point.highest)),
            multiple(floor, result),
            f"{point.rate:g}",
            f"{point.decay:g}",
        )
        for point, floor in zip(result.network, result.floor, strict=True)
    ]


def best_kernel(result: SeparationResult, index: int) -> KernelCurve:
    """The kernel with the smallest error from that number of samples."""
    return min(result.kernels, key=lambda kernel: kernel.errors[index])


def multiple(error: float, result: SeparationResult) -> str:
    """An error over α², three decimals."""
    return f"{error / result.unlearned:.3f}" if math.isfinite(error) else "diverged"


def in_units(error: float, result: SeparationResult) -> str:
    """An error as a multiple of α²."""
    if not math.isfinite(error):
        return "diverged"
    multiple = error / result.unlearned
    return f"{multiple:.2f} α²" if multiple >= 0.1 else f"{multiple:.1g} α²"


def floor_text(bound: float, result: SeparationResult) -> str:
    """A lower bound as a multiple of α², rounded down."""
    return f"{rounded_down(bound / result.unlearned, 2)} α²"


def spread_text(point: NetworkPoint, result: SeparationResult) -> str:
    """How the errors of single functions spread around their mean."""
    if point.std is None:
        return counted(len(point.errors), "function")
    return f"{in_units(point.lowest, result)} to {in_units(point.highest, result)}"


def _picked(subsets: tuple[tuple[int, ...], ...]) -> str:
    """Sets of coordinates, counted from 1."""
    return ", ".join("{" + ", ".join(str(j + 1) for j in subset) + "}" for subset in subsets)


def _about_network(result: SeparationResult) -> tuple[str, ...]:
    index = result.widest
    if index is None:
        return (
            "In this run the ResNet's mean error did not get below the bound for kernels that are fixed "
            "before the labels, at any number of samples: a larger `width`, more `epochs` or a smaller `k` "
            "may show the separation.",
        )
    point, floor = result.network[index], result.floor[index]
    needed = fewest_samples(point.error, result.settings.d1, result.settings.k, result.settings.alpha)
    above = sum(error >= floor for error in point.errors)
    some = f"; on {above} of them it is above the bound" if above else ""
    measured = f"over {counted(len(point.errors), 'function')} of the class"
    if point.std is not None:
        std = in_units(point.std, result)
        measured += f", with a standard deviation of {std} between them ({spread_text(point, result)})"
    return (
        f"From {point.num_samples} samples the trained ResNet has a mean error of "
        f"{in_units(point.error, result)} {measured}{some}. A kernel method whose kernel is fixed before the "
        f"labels has at least {floor_text(floor, result)}, on average over the class.",
        f"For a mean over all {result.class_size} functions as small as the ResNet's over these, any kernel "
        f"fixed before the labels needs at least {needed} samples.",
    )


def _about_kernels(result: SeparationResult) -> str:
    told = f"The {len(result.kernels)} kernels were given the best possible weights"
    if result.smallest_margin < -ROUNDED:
        return f"{told}, and one of them is below the bound, which should be impossible: please report this."
    nearest = min(result.kernels, key=lambda kernel: sum(kernel.errors))
    made = ", made for this class" if nearest.name == PARITIES else ""
    return f"{told}, and none of them is below the bound; the nearest to it is {nearest.name}{made}."
