"""The report of the separation."""

from widenet.report.separation.files import FILES, files, record
from widenet.report.separation.page import page
from widenet.report.separation.screen import screen
from widenet.report.separation.sentences import sentences

__all__ = ["FILES", "files", "page", "record", "screen", "sentences"]
