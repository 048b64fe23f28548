"""The report of quantities of the theory, and of the list of them."""

from widenet.report.theory.files import listing, record
from widenet.report.theory.screen import list_screen, screen
from widenet.report.theory.sentences import argument_lines, sentences

__all__ = ["argument_lines", "list_screen", "listing", "record", "screen", "sentences"]
