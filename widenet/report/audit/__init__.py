"""The report of an audit."""

from widenet.report.audit.files import FILES, files, record
from widenet.report.audit.page import page
from widenet.report.audit.screen import screen
from widenet.report.audit.sentences import sentences

__all__ = ["FILES", "files", "page", "record", "screen", "sentences"]
