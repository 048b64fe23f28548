"""Memory of pieces: no more of them run at a time than it has room for."""

import pytest

from widenet.papers.figures import FIGURES, figure_by_name
from widenet.papers.jobs.job import job_of
from widenet.papers.plan import Piece, most_bytes, workers_within
from widenet.papers.run import run_figure

GIB = 2**30
PLANNED = [Piece((place,), ({},), 1.0, size * GIB) for place, size in enumerate((1, 6, 3, 4))]


def test_the_largest_pieces_may_meet():
    assert [most_bytes(PLANNED, few) // GIB for few in (1, 2, 3, 8)] == [6, 10, 13, 14]


@pytest.mark.parametrize(("gib", "workers"), [(20, 4), (13, 3), (12, 2), (9, 1), (1, 1)])
def test_workers_are_as_many_as_memory_has_room_for(gib, workers):
    assert workers_within(PLANNED, 4, gib * GIB) == workers


def test_a_figure_takes_fewer_threads_where_memory_is_short(monkeypatch):
    from widenet.papers import run

    seen = []
    figure = figure_by_name("mild-memorisation/fig2")
    settings = figure.scales["quick"].__class__(n=20, d=8, r=18, steps=5, seeds=2)
    monkeypatch.setattr(run, "workers_within", lambda planned, wanted, room: seen.append(wanted) or 1)
    assert not run_figure(figure, "quick", settings, num_workers=3).failures
    assert seen == [3]


@pytest.mark.parametrize("name", FIGURES)
def test_what_a_figure_holds_at_paper_scale_fits_a_machine(name):
    figure = figure_by_name(name)
    largest = max(job_of(batch[0]).num_bytes(batch) for batch in figure.plan(figure.scales["paper"]))
    assert 0 <= largest < 6 * GIB
