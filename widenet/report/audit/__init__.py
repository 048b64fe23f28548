"""The report of an audit."""

from widenet.report.audit.files import FILES, files, record
from widenet.report.audit.page import page
from widenet.report.audit.screen import screen
from widenet.report.audit.sentences import sentences
from widenet.report.parts.stages import on_the_way

__all__ = ["FILES", "files", "on_the_way", "page", "record", "screen", "sentences"]
