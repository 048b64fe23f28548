"""An audit on one screen of a terminal."""

from rich.console import Console
from rich.text import Text

from widenet.audit.result import AuditResult
from widenet.report.quantities import literal
from widenet.report.words import answers, questions

INDENT = "  "
MOST_SENTENCES = 2  # of an answer; the page has them all


def print_summary(result: AuditResult, console: Console) -> None:
    """The six questions, each with the most important sentences of its answer.

    Text is handed over as `Text`, in which rich reads no markup, so that names in the data stay literal.
    """
    title = Text.assemble(("widenet audit", "bold"), f"  {literal(result.data.name)}, kernel {result.kernel}")
    console.print(title, highlight=False)
    for question, sentences in zip(questions(result), answers(result), strict=True):
        console.print()
        console.print(Text(question, style="bold cyan"), highlight=False)
        told = Text(" ".join(sentences[:MOST_SENTENCES]))
        for line in told.wrap(console, console.width - len(INDENT)):
            line.rstrip()
            console.print(Text(INDENT) + line, highlight=False)
