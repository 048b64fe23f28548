"""Whether a network is inside the theorems, on a screen of a terminal."""

from rich.console import Console
from rich.text import Text

from widenet.inside.answer import Answer
from widenet.inside.result import InsideResult
from widenet.report.inside.sentences import answer_verdict, measured_sentences, sentences
from widenet.report.parts.quantities import literal
from widenet.report.parts.screen import line, sentence, title, verdict

COLOURS = {True: "green", False: "yellow", None: "cyan"}


def screen(result: InsideResult, console: Console) -> None:
    """The gist, what was measured, then each theorem with what it requires."""
    rows, width = result.measured.n, result.setting.width
    title(console, "theory inside", f"{literal(result.data)}, {rows:,} rows, width {width:,}")
    line(console, "")
    verdict(console, sentences(result))
    line(console, "")
    for told in measured_sentences(result):
        sentence(console, told)
    for answer in result.answers:
        line(console, "")
        _print_answer(answer, console)


def _print_answer(answer: Answer, console: Console) -> None:
    told = (answer_verdict(answer), COLOURS[answer.inside])
    line(console, Text.assemble((f"{answer.paper}, {answer.place}", "bold"), ": ", told))
    sentence(console, _capitalised(answer.claim))
    for demand in answer.demands:
        sentence(console, _capitalised(demand.sentence), style=COLOURS[demand.holds])
    for note in (*(f"Assumed: {assumed}" for assumed in answer.assumes), *answer.notes):
        sentence(console, note, style="dim")


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]
