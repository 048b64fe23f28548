"""When a state is saved: seldom by default, after each step where a step is the work of many machines."""

import numpy as np
import pytest

from widenet.runs import Store, Trial, checkpoints
from widenet.runs.checkpoints import Checkpoints

STATE = {"x": np.zeros(3)}


class Clock:
    """Time as the test has it; each saving takes some of it."""

    def __init__(self):
        self.now, self.saving = 0.0, 0.1

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(checkpoints, "time", clock)
    save_state = Store.save_state

    def slow(self, *arguments, **options):
        clock.now += clock.saving
        save_state(self, *arguments, **options)

    monkeypatch.setattr(Store, "save_state", slow)
    return clock


def num_savings(clock, store, *, each_step, seconds, num_steps=40):
    """How many of some steps were saved."""
    stage = Checkpoints(store, lambda: Trial({}, "1", "d"), each_step=each_step).stage("steps")
    found = 0
    for _ in range(num_steps):
        clock.now += seconds
        if stage.is_due():
            stage.save(STATE)
            found += 1
    return found


def test_each_step_is_saved_where_it_is_worth_it(clock, tmp_path):
    with Store(tmp_path / "work.store") as store:
        assert num_savings(clock, store, each_step=True, seconds=0.5) == 40
        assert num_savings(clock, store, each_step=False, seconds=0.5) == 0
        clock.saving = 1.0  # longer than a step
        assert num_savings(clock, store, each_step=True, seconds=0.5) == 10


def test_an_end_that_is_reached_soon_is_kept_too(clock, tmp_path):
    with Store(tmp_path / "work.store") as store:
        for each_step in (False, True):
            stage = Checkpoints(store, lambda: Trial({}, "1", "d"), each_step=each_step).stage("end")
            clock.now += 1.0
            stage.finish(STATE)
            assert (stage.load() is not None) == each_step
