"""Figures run: from plan to verdict, resumed, spread over processes, and with a trial that fails."""

import math
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from widenet.base.errors import InputError, WidenetError
from widenet.papers import run
from widenet.papers.figures import figure_by_name
from widenet.papers.gallery import run_figures
from widenet.papers.jobs.job import figure_trial
from widenet.papers.plan import pieces, wall_seconds
from widenet.papers.run import run_figure
from widenet.papers.verdict import Verdict
from widenet.runs import workers
from widenet.runs.store import Store
from widenet.study.result import Outcome
from widenet.study.speed import Speed

HERE = Path(__file__).parent
SPEED = Speed(single=1e11, double=5e10, bytes=1e10)


@pytest.fixture
def toy(monkeypatch):
    """The figure of toy.py, importable from here and from other processes."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    import toy

    return toy


def test_from_plan_to_verdict(toy):
    result = run_figure(toy.TOY)
    assert [point.best for point in result.curves[0].points] == [(1.0, 1.1), (2.0, 2.1)]
    assert result.claims[0].verdict is Verdict.HELD
    assert result.outcome is Outcome.DONE
    assert not result.settings_changed
    assert result.trials.columns == ("n", "seed", "value")
    assert result.trials.rows == ((1, 0, 1.0), (2, 0, 2.0), (1, 1, 1.1), (2, 1, 2.1))
    assert result.trials.common["wait"] == 0
    assert result.differences == ("seeds is 2; at paper scale 3.", "n is 1, 2; at paper scale 1, 2, 3, 4.")


def test_changed_settings_are_not_the_papers(toy):
    result = run_figure(toy.TOY, "paper", replace(toy.TOY.scales["paper"], n=(1,)))
    assert result.settings_changed
    assert result.differences == ("n is 1; at paper scale 1, 2, 3, 4.",)


def test_a_failed_trial_leaves_the_others_and_decides_nothing(toy):
    result = run_figure(toy.TOY, "quick", replace(toy.TOY.scales["quick"], bad=1), num_workers=2)
    assert result.outcome is Outcome.PARTLY
    assert "This number is bad." in result.failures[0].error
    assert all(map(math.isnan, result.curves[0].at(1).best))
    assert result.claims[0].verdict is Verdict.NOT_DECIDED


def test_finished_trials_are_not_run_again(toy, tmp_path):
    log = tmp_path / "log"
    settings = replace(toy.TOY.scales["quick"], log=str(log))
    with Store(tmp_path / "store") as store:
        first = run_figure(toy.TOY, "quick", settings, store=store)
        more = run_figure(toy.TOY, "quick", replace(settings, n=(1, 2, 3)), store=store)
        again = run_figure(toy.TOY, "quick", settings, store=store)
    assert max(Counter(log.read_text().split()).values()) == 1
    assert len(log.read_text().split()) == 6
    assert first.curves == again.curves
    assert again.forecast.seconds == 0
    assert more.curves[0].points[:2] == first.curves[0].points


@pytest.mark.slow
def test_a_killed_run_goes_on(toy, tmp_path):
    """Killed at several moments, also within a trial: no trial that was finished is run twice."""
    store, log = str(tmp_path / "store"), str(tmp_path / "log")
    command = [sys.executable, "-c", "import sys, toy; toy.main(*sys.argv[1:])"]
    for moment in (2, 7):
        process = subprocess.Popen([*command, store, log], stdout=subprocess.DEVNULL)
        while process.poll() is None and len(lines(log)) < moment:
            time.sleep(0.005)
        process.kill()
        process.wait()
    before, stored = lines(log), finished(toy, store, log)
    assert stored
    done = subprocess.run([*command, store, log], capture_output=True, text=True, check=True)
    again = lines(log)[len(before) :]
    assert not set(again) & stored
    assert set(again) | stored == {f"{n},{seed}" for n in (1, 2, 3, 4) for seed in range(5)}
    assert done.stdout == f"{[tuple(n + 0.1 * seed for seed in range(5)) for n in (1, 2, 3, 4)]}\n"


def lines(log: str) -> list[str]:
    return Path(log).read_text().split() if Path(log).exists() else []


def finished(toy, store: str, log: str) -> set[str]:
    """The trials that the store has, as the log names them."""
    trials = [trial for batch in toy.plan(toy.slow(log)) for trial in batch]
    with Store(store) as opened:
        return {
            f"{each['n']},{each['seed']}" for each in trials if opened.get(figure_trial(each)) is not None
        }


@pytest.mark.slow
def test_processes_make_the_same_table(toy, monkeypatch):
    """A real job, networks, with its groups cut otherwise than in this process."""
    figure = figure_by_name("resnet-beyond-kernels/fig3a")
    settings = replace(
        figure.scales["quick"],
        **{"m": (12,), "n": 60, "d": 8, "beta": (1.0, 0.0), "epochs": 4, "seeds": 2, "held_out": 50},
    )
    here = run_figure(figure, "quick", settings)
    ignore = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(2, get_context("spawn"), initializer=signal.signal, initargs=ignore) as pool:
        there = run_figure(figure, "quick", settings, executor=pool, num_workers=2)
    monkeypatch.setattr(workers, "LONG", 0.0)
    monkeypatch.setattr(run, "threads", None)  # long work of small steps has no use for them
    by_default = run_figure(figure, "quick", settings, num_workers=2)
    assert here.curves == there.curves == by_default.curves
    assert here.claims == there.claims == by_default.claims


def test_long_work_of_large_steps_stays_in_threads(toy, monkeypatch):
    """They share what one of them has computed."""
    monkeypatch.setattr(workers, "LONG", 0.0)
    monkeypatch.setattr(run, "processes", None)
    result = run_figure(toy.TOY, "quick", num_workers=2)
    assert not result.failures


def test_plans_are_cut_to_keep_all_workers_busy(toy):
    plan = toy.plan(toy.ToySettings(n=tuple(range(32)), seeds=1))
    for num_workers in (1, 2, 8):
        planned = pieces(plan, num_workers, SPEED)
        assert len(planned) >= 2 * num_workers
        assert sorted(place for piece in planned for place in piece.places) == list(range(32))
        assert wall_seconds(planned, num_workers) == pytest.approx(320 / num_workers, rel=0.3)


def test_a_claim_without_its_point_is_not_decided(toy):
    result = run_figure(toy.TOY, "quick", replace(toy.TOY.scales["quick"], n=(2, 3)))
    assert result.claims[0].verdict is Verdict.NOT_DECIDED
    assert result.claims[0].measured == ()


@pytest.mark.parametrize(("n", "message"), [((), "`n` is empty"), ((1, 1), "`n` has a value twice")])
def test_lists_of_settings_have_values_that_differ(toy, n, message):
    with pytest.raises(InputError, match=message):
        replace(toy.TOY.scales["quick"], n=n)


def test_a_gallery_goes_on_after_an_error_and_is_refused_as_a_whole(toy):
    broken = replace(toy.TOY, name="broken", curves=lambda settings, done: refuse())
    gallery = run_figures([broken, toy.TOY])
    assert [each.figure for each in gallery.figures] == ["toy"]
    assert gallery.missing[0].reason == "It cannot be drawn."
    assert gallery.outcome is Outcome.PARTLY
    long = [replace(toy.TOY, name=f"toy{number}") for number in range(240)]  # on any few threads
    told = []
    with pytest.raises(InputError, match="hours"):
        run_figures(long, "paper", finished=told.append)
    assert not told


def refuse():
    raise WidenetError("It cannot be drawn.")


def test_long_runs_are_refused(toy):
    settings = replace(toy.TOY.scales["paper"], n=tuple(range(2000)))
    with pytest.raises(InputError, match="hours"):
        run_figure(toy.TOY, "paper", settings)
