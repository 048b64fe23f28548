"""The registry of figures: every name leads to a study that reads no data, with a command."""

from importlib import import_module

import pytest

from widenet.base.errors import InputError
from widenet.cli.study import study_command
from widenet.papers.figures import FIGURES, figure_by_name
from widenet.theory.names import TITLES


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_a_study_of_its_paper(name):
    paper, _, figure = name.partition("/")
    study = figure_by_name(name)
    assert paper in TITLES
    assert study.name == figure
    assert not study.reads_data
    assert callable(study.run)
    assert study_command(study).name == figure
    for door in ("FILES", "files", "page", "record", "screen", "sentences"):
        assert hasattr(study.room, door)


@pytest.mark.parametrize("paper", TITLES)
def test_every_paper_has_a_folder(paper):
    assert import_module(f"widenet.papers.{paper.replace('-', '_')}").__doc__


def test_unknown_names_suggest_near_ones():
    with pytest.raises(InputError, match="did you mean 'resnet-beyond-kernels/separation'"):
        figure_by_name("resnet-beyond-kernels/seperation")
