"""`run_trials` in one process: order, groups, failures, executors, interruptions."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

from widenet.base.errors import WidenetError
from widenet.runs import Failure, Store, Trial, TrialResult, run_trials


@pytest.fixture(params=["nowhere", "store"])
def store(request, tmp_path):
    if request.param == "nowhere":
        yield None
        return
    with Store(tmp_path / "runs.db") as store:
        yield store


def trials(*numbers: int) -> list[Trial]:
    return [Trial({"number": number}, code="1", data="d") for number in numbers]


def squares(group):
    return [TrialResult({"square": settings["number"] ** 2, "pair": (1, 2)}) for settings in group]


def numbers_of(outcomes) -> list[int]:
    return [outcome.record["square"] for outcome in outcomes]


def test_results_in_the_order_of_the_trials(store):
    seen = []

    def work(group):
        seen.append([settings["number"] for settings in group])
        return (result for result in squares(group))

    outcomes = run_trials([trials(3, 1), trials(), trials(2), trials(1, 5)], work, store=store)
    assert numbers_of(outcomes) == [9, 1, 4, 1, 25]
    assert seen == [[3, 1], [2], [5]]


def test_a_result_is_what_the_store_gives_back(store):
    (outcome,) = run_trials([trials(1)], squares, store=store)
    assert outcome.record == {"square": 1, "pair": [1, 2]}


def test_only_what_is_not_finished_of_a_group_is_run(tmp_path):
    seen = []

    def work(group):
        seen.append([settings["number"] for settings in group])
        return squares(group)

    with Store(tmp_path / "runs.db") as store:
        run_trials([trials(1, 2)], work, store=store)
        assert numbers_of(run_trials([trials(0, 1, 2, 3)], work, store=store)) == [0, 1, 4, 9]
    assert seen == [[1, 2], [0, 3]]


def raises(group):
    if group[0]["number"] == 2:
        raise ValueError("two")
    return squares(group)


def too_few(group):
    return squares(group)[group[0]["number"] == 2 :]


def not_storable(group):
    return [TrialResult({"tensor": np.ones(2)})] * 2 if group[0]["number"] == 2 else squares(group)


@pytest.mark.parametrize(
    ("work", "kind"), [(raises, ValueError), (too_few, WidenetError), (not_storable, TypeError)]
)
@pytest.mark.parametrize("threads", [False, True])
def test_a_group_that_fails_leaves_the_others(store, query, work, kind, threads):
    with ThreadPoolExecutor(2) as pool:
        groups = [trials(1), trials(2, 3), trials(4)]
        outcomes = run_trials(groups, work, store=store, executor=pool if threads else None)
        assert [type(outcome) for outcome in outcomes] == [TrialResult, Failure, Failure, TrialResult]
        assert isinstance(outcomes[1].error, kind)
        assert outcomes[2].trial == groups[1][1]
        assert store is None or query(store.path, "SELECT * FROM claims") == []
        again = run_trials(groups, squares, store=store)
        assert numbers_of(again) == [1, 4, 9, 16]


def test_groups_run_side_by_side(store):
    meeting = threading.Barrier(3)

    def work(group):
        meeting.wait(timeout=10)
        return squares(group)

    with ThreadPoolExecutor(3) as pool:
        outcomes = run_trials([trials(1), trials(2), trials(3)], work, store=store, executor=pool)
    assert numbers_of(outcomes) == [1, 4, 9]


def test_a_pool_that_takes_no_work(store):
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    (outcome,) = run_trials([trials(1)], squares, store=store, executor=pool)
    assert isinstance(outcome.error, RuntimeError)


def test_a_waiting_process_gets_what_another_one_finishes(tmp_path):
    with Store(tmp_path / "runs.db") as store, Store(tmp_path / "runs.db") as other:
        assert len(other.claim(trials(1, 2))) == 2
        calls = []

        def progress(stage, done, total):
            calls.append((stage, done, total))
            if done in (1, 2):
                with suppress(StopIteration):
                    next(finishing)

        def finish():
            run_trials([trials(1)], squares, store=other)
            yield
            other.release(trials(2))
            yield

        finishing = finish()
        outcomes = run_trials([trials(1, 2, 3)], squares, store=store, progress=progress)
    assert numbers_of(outcomes) == [1, 4, 9]
    assert calls[0] == ("trials", 0, 3)
    assert calls[-1] == ("trials", 3, 3)


def test_an_interruption_goes_on_and_gives_claims_back(tmp_path, query):
    def work(group):
        if group[0]["number"] == 2:
            raise KeyboardInterrupt
        return squares(group)

    with Store(tmp_path / "runs.db") as store:
        with pytest.raises(KeyboardInterrupt):
            run_trials([trials(1), trials(2), trials(3)], work, store=store)
        assert [store.get(trial) is None for trial in trials(1, 2, 3)] == [False, True, True]
        assert query(store.path, "SELECT * FROM claims") == []


def test_an_interruption_within_a_commit_loses_nothing(tmp_path, monkeypatch):
    with Store(tmp_path / "runs.db") as store:
        commit, calls = store.commit, []

        def interrupted(rows):
            calls.append(len(rows))
            if len(calls) == 1:
                raise KeyboardInterrupt
            return commit(rows)

        monkeypatch.setattr(store, "commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_trials([trials(1, 2)], squares, store=store)
        assert calls == [2, 2]
        assert numbers_of(store.get(trial) for trial in trials(1, 2)) == [1, 4]


class OnlySubmit:
    """A future of Dask is none of `concurrent.futures`: only what both have may be used."""

    class Future:
        def __init__(self, future: Future) -> None:
            self._future = future

        def __getattr__(self, name: str):
            assert name in {"result", "done", "cancel", "cancelled", "exception"}
            return getattr(self._future, name)

        def add_done_callback(self, callback) -> None:
            threading.Thread(target=lambda: (self._future.exception(), callback(self))).start()

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def submit(self, function, *arguments):
        return self.Future(self._pool.submit(function, *arguments))


def test_any_place_that_has_submit_will_do(store):
    with ThreadPoolExecutor(2) as pool:
        groups = [trials(number) for number in range(6)]
        assert numbers_of(run_trials(groups, squares, store=store, executor=OnlySubmit(pool))) == [
            number**2 for number in range(6)
        ]
