"""The report of whether a network is inside the theorems."""

from widenet.report.inside.screen import screen
from widenet.report.inside.sentences import on_the_way, record, sentences

__all__ = ["on_the_way", "record", "screen", "sentences"]
