"""An audit on one screen of a terminal."""

from rich.console import Console

from widenet.audit.result import AuditResult
from widenet.report.audit.sentences import answers, questions
from widenet.report.parts.quantities import literal
from widenet.report.parts.screen import line, sentence, title

MOST_SENTENCES = 3  # of an answer; the page has them all


def screen(result: AuditResult, console: Console) -> None:
    """The six questions, each with the most important sentences of its answer."""
    title(console, "audit", f"{literal(result.data.name)}, kernel {result.kernel}")
    for question, told in zip(questions(result), answers(result), strict=True):
        line(console, "")
        line(console, question, style="bold cyan")
        sentence(console, " ".join(told[:MOST_SENTENCES]))
