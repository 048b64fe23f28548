"""The separation on a screen of a terminal, at most 80 columns wide."""

from rich.console import Console
from rich.text import Text

from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult
from widenet.report.separation.sentences import best_kernel, multiple

INDENT = "  "
HEAD = ("samples", "ResNet", "bound", "best kernel")
WIDTHS = (7, 8, 6)  # of the columns but the last


def print_separation(result: SeparationResult, console: Console) -> None:
    """The verdict, then a line for each number of samples."""
    settings = result.settings
    title = (
        f"  d1={settings['d1']}, k={settings['k']}, α={settings['alpha']:g}, {result.class_size:,} functions"
    )
    console.print(Text.assemble(("widenet theory separation", "bold"), title), highlight=False)
    console.print()
    for number, sentence in enumerate(result.verdict):
        told = Text(sentence, style="bold" if number == 0 else "")
        for line in told.wrap(console, min(console.width, 80) - len(INDENT)):
            line.rstrip()
            console.print(Text(INDENT) + line, highlight=False)
    console.print()
    console.print(_line(HEAD, "bold", console), highlight=False)
    for index, size in enumerate(result.sizes):
        best = best_kernel(result, index)
        point, floor = result.network[index], result.floor[index]
        cells = (
            f"{size:,}",
            multiple(point.error, result),
            multiple(floor, result),
            f"{multiple(best.errors[index], result)}  {best.name}",
        )
        style = "blue" if point.error < floor else ""
        console.print(_line(cells, style, console), highlight=False)
    note = Text("error of an output ÷ α²; kernels with the best weights that there are", style="dim")
    console.print(note, highlight=False)


def _line(cells: tuple[str, ...], style: str, console: Console) -> Text:
    """Numbers to the right, then the kernel, whose name may be cut where the screen is narrow."""
    *numbers, last = cells
    aligned = (number.rjust(width) for number, width in zip(numbers, WIDTHS, strict=True))
    line = Text(INDENT + "  ".join((*aligned, last)), style=style)
    line.truncate(console.width, overflow="ellipsis")
    return line
