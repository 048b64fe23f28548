"""A verification on a screen of a terminal."""

from rich.console import Console
from rich.text import Text

from widenet.memorise.checker.verify import CheckStatus, VerifyResult
from widenet.report.parts.quantities import literal
from widenet.report.parts.screen import line, sentence, title
from widenet.report.verify.sentences import sentences

STATUS_STYLES = {
    CheckStatus.PASSED: "green",
    CheckStatus.FAILED: "bold red",
    CheckStatus.UNDECIDED: "yellow",
    CheckStatus.SKIPPED: "yellow",
}


def screen(result: VerifyResult, console: Console) -> None:
    """A line for each check, then the verdict."""
    title(console, "verify", literal(result.folder))
    line(console, "")
    for check in result.checks:
        head = Text.assemble((f"{check.status.value:<10}", STATUS_STYLES[check.status]), f"{check.name:<12}")
        sentence(console, literal(check.sentence, longest=600), head=head)
    line(console, "")
    first, *rest = sentences(result)
    sentence(console, first, style=_style(result), indent="")
    for told in rest:
        sentence(console, told, indent="")


def _style(result: VerifyResult) -> str:
    if result.refuted:
        return "bold red"
    return "bold green" if result.verified else "bold yellow"
