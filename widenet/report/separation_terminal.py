"""The separation on a screen of a terminal, at most 80 columns wide."""

from rich.console import Console
from rich.text import Text

from widenet.report.separation_words import best_kernel, multiple
from widenet.separation.result import SeparationResult

INDENT = "  "
HEAD = ("samples", "ResNet", "bound", "best kernel", "")


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
    console.print(Text(_line(HEAD), style="bold"), highlight=False)
    for index, size in enumerate(result.sizes):
        best = best_kernel(result, index)
        point, floor = result.network[index], result.floor[index]
        cells = (
            f"{size:,}",
            multiple(point.error, result),
            multiple(floor, result),
            multiple(best.errors[index], result),
            best.name,
        )
        style = "blue" if point.error < floor else ""
        console.print(Text(_line(cells), style=style), highlight=False)
    console.print(
        Text("error of an output ÷ α²; kernels with the best weights that there are", style="dim"),
        highlight=False,
    )


def _line(cells: tuple[str, ...]) -> str:
    """Numbers to the right, the kernel's name after them."""
    *numbers, name = cells
    return (INDENT + " ".join(cell.rjust(12) for cell in numbers) + "  " + name).rstrip()
