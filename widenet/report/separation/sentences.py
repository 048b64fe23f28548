"""Words and table rows that the page, the screenful and the table of the separation share."""

import math

from widenet.base.wording import counted
from widenet.papers.resnet_beyond_kernels.separation.result import KernelCurve, SeparationResult


def the_class(result: SeparationResult) -> list[str]:
    """The functions, in words."""
    d1, k, alpha = (result.settings[name] for name in ("d1", "k", "alpha"))
    return [
        f"Inputs are the {2**d1:,} corners of a cube with d₁ = {d1} coordinates, each equally likely. A "
        f"function of the class picks k = {k} of the coordinates: F(x) is these {k} signs, and the target is "
        f"F(x) + αG(F(x)), where every output of G is the product of all {k} signs and α = {alpha:g}.",
        f"There are {result.class_size:,} such functions. Which coordinates matter can be read off F, which "
        "is linear; a network that has found F needs little more for the product, while a kernel cannot use "
        "what F has shown.",
    ]


def how_measured(result: SeparationResult) -> list[str]:
    """How errors were measured, the most important first."""
    settings = result.settings
    num_replaced = sum(point.num_replaced for point in result.network)
    replaced = (
        f"Under the setting that was best on those, the training of {counted(num_replaced, 'network')} "
        "failed, as the samples themselves tell; there the next best setting had its turn."
    )
    return [
        "Kernels were given oracle weights: of all functions in the span of K(·, x₁), …, K(·, xₙ), the one "
        f"nearest to the target over the whole cube, by projection, averaged over all {result.class_size:,} "
        f"functions of the class and {counted(settings['members'], 'draw')} of the samples.",
        f"The ResNet has {settings['width']:,} neurons in each hidden layer and was trained for "
        f"{settings['epochs']:,} epochs on the samples alone. Its rate and weight decay were chosen on "
        f"{counted(settings['tuning'], 'other function')} of the class; its error is over the whole cube, at "
        f"the end of training, on {counted(settings['members'], 'function')} with samples of their own. By "
        "symmetry it has the same distribution on every function of the class.",
        *([replaced] if num_replaced else []),
        f"The functions that were measured depend on the coordinates {_picked(result.subsets)}; those that "
        f"were tuned on, which all are others, on {_picked(result.tuning_subsets)}. Samples and initial "
        "weights have seeds of their own for each of them.",
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
            multiple(floor, result),
            "\u00a0to\u00a0".join(multiple(limit(point.errors), result) for limit in (min, max)),
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


def _picked(subsets: tuple[tuple[int, ...], ...]) -> str:
    """Sets of coordinates, counted from 1."""
    return ", ".join("{" + ", ".join(str(j + 1) for j in subset) + "}" for subset in subsets)
