"""The report of whether a network is inside the theorems."""

from widenet.report.inside.screen import screen
from widenet.report.inside.sentences import record, sentences

__all__ = ["record", "screen", "sentences"]
