"""The registry of figures: every name leads to a figure of its paper whose plan and claims are whole."""

from dataclasses import fields
from importlib import import_module

import pytest

from widenet.base.errors import InputError
from widenet.papers.figure import SCALES
from widenet.papers.figures import FIGURES, figure_by_name, figures_by_name
from widenet.papers.jobs.job import Job, job_of
from widenet.study.speed import Speed
from widenet.theory.names import TITLES

SPEED = Speed(single=1e11, double=5e10, bytes=1e10)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_one_of_its_paper(name):
    figure = figure_by_name(name)
    assert figure.full_name == name
    assert figure.paper in TITLES
    assert FIGURES[name].startswith(f"widenet.papers.{figure.paper.replace('-', '_')}.{figure.name}:")
    assert set(figure.scales) == set(SCALES)
    assert figure.claims


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("scale", SCALES)
def test_every_plan_has_jobs_and_costs(name, scale):
    figure = figure_by_name(name)
    plan = figure.plan(figure.scales[scale])
    assert plan
    assert all(plan)
    for batch in plan:
        assert len({trial["job"] for trial in batch}) == 1
        assert isinstance(job_of(batch[0]), Job)
    assert job_of(plan[0][0]).seconds(plan[0], SPEED) > 0


@pytest.mark.parametrize("name", FIGURES)
def test_quick_is_smaller_and_says_where(name):
    figure = figure_by_name(name)
    quick = figure.scales["quick"]
    assert quick.seeds >= 2
    assert figure.changed(quick)
    assert not figure.changed(figure.scales["paper"])
    assert {each.name for each in fields(quick)} >= set(figure.changed(quick))


@pytest.mark.parametrize("paper", TITLES)
def test_every_paper_has_a_folder(paper):
    assert import_module(f"widenet.papers.{paper.replace('-', '_')}").__doc__


def test_names_of_papers_stand_for_their_figures():
    found = [figure.full_name for figure in figures_by_name("resnet-beyond-kernels")]
    assert found == [name for name in FIGURES if name.startswith("resnet-beyond-kernels/")]
    assert [figure.full_name for figure in figures_by_name()] == list(FIGURES)


def test_unknown_names_suggest_near_ones():
    with pytest.raises(InputError, match="did you mean 'resnet-beyond-kernels/fig2"):
        figure_by_name("resnet-beyond-kernels/fig2c")
    with pytest.raises(InputError, match="no paper 'resnet'"):
        figures_by_name("resnet")
