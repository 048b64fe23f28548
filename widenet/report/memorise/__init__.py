"""The report of a memorised data set."""

from widenet.report.memorise.files import FILES, files, record, seal
from widenet.report.memorise.page import page
from widenet.report.memorise.screen import screen
from widenet.report.memorise.sentences import on_the_way, sentences

__all__ = ["FILES", "files", "on_the_way", "page", "record", "screen", "seal", "sentences"]
