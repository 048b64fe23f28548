"""The report of a verified certificate."""

from widenet.report.verify.screen import screen
from widenet.report.verify.sentences import record, sentences

__all__ = ["record", "screen", "sentences"]
