"""The report of the papers' figures: a page for each, and a gallery of several."""

from widenet.report.reproduce.files import FILES, files, record
from widenet.report.reproduce.gallery import gallery_page, gallery_record
from widenet.report.reproduce.listing import figures_record, figures_screen
from widenet.report.reproduce.page import page
from widenet.report.reproduce.screen import gallery_screen, screen
from widenet.report.reproduce.sentences import on_the_way, sentences

__all__ = [
    "FILES",
    "figures_record",
    "figures_screen",
    "files",
    "gallery_page",
    "gallery_record",
    "gallery_screen",
    "on_the_way",
    "page",
    "record",
    "screen",
    "sentences",
]
