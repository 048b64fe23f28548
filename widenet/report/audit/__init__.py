"""The report of an audit."""

from widenet.report.audit.files import FILES, files, record
from widenet.report.audit.page import page
from widenet.report.audit.screen import screen
from widenet.report.audit.sentences import on_the_way, sentences

__all__ = ["FILES", "files", "on_the_way", "page", "record", "screen", "sentences"]
