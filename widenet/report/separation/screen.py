"""The separation on a screen of a terminal."""

from rich.console import Console
from rich.text import Text

from widenet.base.wording import counted
from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult
from widenet.report.parts.screen import INDENT, columns, line, title, verdict
from widenet.report.separation.sentences import best_kernel, multiple, sentences

HEAD = ("samples", "ResNet", "min–max", "bound", "best kernel")
WIDTHS = (7, 9, 13, 6)  # of the columns but the last


def screen(result: SeparationResult, console: Console) -> None:
    """The verdict, then a line for each number of samples."""
    settings = result.settings
    functions = f"{result.class_size:,} functions"
    title(
        console, "theory separation", f"d1={settings.d1}, k={settings.k}, α={settings.alpha:g}, {functions}"
    )
    line(console, "")
    verdict(console, sentences(result))
    line(console, "")
    _row(console, HEAD, "bold")
    for index, size in enumerate(result.sizes):
        best, point, floor = best_kernel(result, index), result.network[index], result.floor[index]
        numbers = (multiple(error, result) for error in (point.error, floor, best.errors[index]))
        network, bound, kernel = numbers
        spread = "–".join(multiple(error, result) for error in (point.lowest, point.highest))
        cells = (f"{size:,}", network, spread, bound, f"{kernel}  {best.name}")
        _row(console, cells, "blue" if point.error < floor else "")
    num_functions = counted(len(result.subsets), "function")
    line(console, f"error of an output ÷ α²; ResNet: mean and range over {num_functions}", style="dim")
    line(console, "bound: kernels fixed before the labels, on average over the class", style="dim")
    line(console, "best kernel: of those tried, with the best possible weights", style="dim")


def _row(console: Console, cells: tuple[str, ...], style: str) -> None:
    """Numbers to the right, then the kernel, whose name may be cut where the screen is narrow."""
    *numbers, last = cells
    row = Text(f"{INDENT}{columns(numbers, WIDTHS, 0)}  {last}", style=style)
    row.truncate(console.width, overflow="ellipsis")
    line(console, row)
