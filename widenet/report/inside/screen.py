"""Whether a network is inside the theorems, on a screen of a terminal, at most 80 columns wide."""

from rich.console import Console
from rich.text import Text

from widenet.base.wording import number
from widenet.inside.answer import Answer
from widenet.inside.run import InsideResult
from widenet.report.parts.quantities import literal

INDENT = "  "
COLOURS = {True: "green", False: "yellow", None: "cyan"}


def print_inside(result: InsideResult, console: Console) -> None:
    """The gist, what was measured, then each theorem with what it asks for."""
    data, setting = result.measured, result.setting
    title = f"  {literal(result.data)}, {data.n:,} rows, width {setting.width:,}"
    console.print(Text.assemble(("widenet theory inside", "bold"), title), highlight=False)
    console.print()
    for position, sentence in enumerate(result.summary):
        _told(sentence, console, style="bold" if position == 0 else "")
    console.print()
    for line in measured_lines(result):
        _told(line, console)
    for answer in result.answers:
        console.print()
        _print_answer(answer, console)


def measured_lines(result: InsideResult) -> tuple[str, ...]:
    """What was measured, a line each."""
    data = result.measured
    certified = f"proven: at least {number(data.lambda_floor)}" if data.lambda_floor > 0 else "not proven"
    sigma = f"proven: at least {number(data.sigma_floor)}" if data.sigma_floor > 0 else "not proven"
    return (
        f"λ₀ = λ_min(H∞) = {number(data.lambda_min)} ({certified}), λ_max = {number(data.lambda_max)}",
        f"σ = σ_min([x⊗x]) = {number(data.sigma)} ({sigma})",
        f"√(yᵀH∞⁻¹y) = {number(data.quadratic**0.5)}, ‖x‖ from {number(data.smallest_norm)} to "
        f"{number(data.largest_norm)}",
    )


def _print_answer(answer: Answer, console: Console) -> None:
    verdict = (answer.verdict, COLOURS[answer.inside])
    console.print(Text.assemble((f"{answer.paper}, {answer.place}", "bold"), ": ", verdict), highlight=False)
    _told(answer.claim[0].upper() + answer.claim[1:], console)
    for demand in answer.demands:
        _told(demand.sentence[0].upper() + demand.sentence[1:], console, style=COLOURS[demand.holds])
    for note in (*(f"Assumed: {assumed}" for assumed in answer.assumes), *answer.notes):
        _told(note, console, style="dim")


def _told(sentence: str, console: Console, style: str = "") -> None:
    for line in Text(sentence, style=style).wrap(console, min(console.width, 80) - len(INDENT)):
        line.rstrip()
        console.print(Text(INDENT) + line, highlight=False)
