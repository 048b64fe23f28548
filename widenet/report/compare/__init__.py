"""The report of a comparison."""

from widenet.report.compare.files import FILES, files, record
from widenet.report.compare.page import page
from widenet.report.compare.screen import screen
from widenet.report.compare.sentences import sentences

__all__ = ["FILES", "files", "page", "record", "screen", "sentences"]
