"""An audit on one screen of a terminal."""

from rich.console import Console

from widenet.audit.result import AuditResult
from widenet.report.audit.sentences import answers, most_suspicious, outlying, questions, sampled
from widenet.report.audit.verdicts import verdicts
from widenet.report.parts.leaks import leak_sentences
from widenet.report.parts.quantities import literal
from widenet.report.parts.screen import line, sentence, title

MOST_SENTENCES = 3  # of an answer; the page has them all
NUM_ANSWERED = 2  # answers that the verdicts give already


def screen(result: AuditResult, console: Console) -> None:
    """The three verdicts, then the other answers, each with its most important sentences."""
    title(console, "audit", literal(result.data.name))
    for told in (*sampled(result), *leak_sentences(result.data), *outlying(result)):
        sentence(console, told)
    for card, more in zip(verdicts(result), (most_suspicious(result), [], []), strict=True):
        line(console, "")
        line(console, f"{card.title}: {card.headline}", style="bold cyan")
        sentence(console, " ".join((*card.beside, *more)))
    for question, answer in list(zip(questions(result), answers(result), strict=True))[NUM_ANSWERED:]:
        line(console, "")
        line(console, question, style="bold cyan")
        sentence(console, " ".join(answer[:MOST_SENTENCES]))
