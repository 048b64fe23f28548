"""The report of the separation."""

from widenet.report.separation.files import FILES, files, record
from widenet.report.separation.page import page
from widenet.report.separation.screen import screen
from widenet.report.separation.sentences import on_the_way, sentences

__all__ = ["FILES", "files", "on_the_way", "page", "record", "screen", "sentences"]
