"""States of trials that have not come to their end: whole or not there, and only for their own trial."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from widenet.base.errors import WidenetError
from widenet.runs import Store, Trial, TrialResult, kept, tables
from widenet.runs.kept import KeptState
from widenet.runs.tables import Row

MINE, OTHER = Trial({"seed": 0}, code="1", data="d"), Trial({"seed": 1}, code="1", data="d")


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "runs.store"


@pytest.fixture
def state() -> dict[str, np.ndarray]:
    W = np.random.default_rng(0).normal(size=(3, 4))
    return {
        "W": W,
        "before": W,
        "t": np.array(7),
        "finished": np.array(False),
        "strip": W[:, 1],
        "turned": W.T,
    }


def assert_same(found, expected) -> None:
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert np.array_equal(found[name], array)
        assert found[name].flags.writeable


def test_what_is_saved_comes_back_bit_for_bit(path, state):
    notes = {"seconds": 0.1, "conditions": {"sigma": [1e-320, float("inf")], "power": None}}
    with Store(path) as store:
        store.save_state(MINE, state, notes)
    with Store(path) as store:
        found = store.load_state(MINE)
        assert store.load_state(OTHER) is None
    assert found.notes == notes
    assert not found.finished
    assert_same(found.arrays, state)


def test_an_empty_state_keeps_its_notes(path):
    with Store(path) as store:
        store.save_state(MINE, {}, {"conditions": "{}"})
        found = store.load_state(MINE)
    assert (found.arrays, found.notes) == ({}, {"conditions": "{}"})


@pytest.mark.parametrize("part", [64, 100, 2**20])
def test_large_states_are_kept_in_parts(path, state, query, monkeypatch, part):
    monkeypatch.setattr(tables, "PART", part)
    with Store(path) as store:
        store.save_state(MINE, state, {"n": 1})
        assert_same(store.load_state(MINE).arrays, state)
        assert all(size <= part for (size,) in query(path, "SELECT length(arrays) FROM states"))
        assert (len(query(path, "SELECT id FROM states")) > 2) == (part < 2**20)
        store.save_state(MINE, {"W": np.zeros(1)}, {"n": 2})  # fewer parts than before
        assert_same(store.load_state(MINE).arrays, {"W": np.zeros(1)})
        store.drop_state(MINE)
    assert query(path, "SELECT id FROM states") == []


def test_the_newest_state_is_kept_and_each_trial_has_its_own(path, state):
    with Store(path) as store:
        assert store.is_empty()
        for step in range(3):
            store.save_state(MINE, state, {"step": step})
        store.save_state(OTHER, {}, {"step": 9})
        assert store.num_unfinished() == 2
        assert not store.is_empty()
        store.drop_state(OTHER)
        store.drop_state(OTHER)
        assert store.load_state(OTHER) is None
        assert store.load_state(MINE).notes == {"step": 2}
        store.save_state(MINE, state, {"step": 3}, finished=True)
        assert store.load_state(MINE).finished
        assert store.num_unfinished() == 0
        assert not store.is_empty()


def test_many_savings_do_not_make_the_file_grow(path):
    arrays = {"W": np.ones(20_000)}
    with Store(path) as store:
        store.save_state(MINE, arrays, {})
        store.save_state(MINE, arrays, {})
        size = path.stat().st_size
        for _ in range(5):
            store.save_state(MINE, arrays, {})
    assert path.stat().st_size == size


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_damaged_part_costs_its_state_alone(path, state, monkeypatch, part):
    monkeypatch.setattr(tables, "PART", 200)
    with Store(path) as store:
        store.commit([Row.of(MINE, TrialResult({"error": 1}))])
        store.save_state(MINE, state, {"words": "of the first"})
        store.save_state(OTHER, state, {"words": "of the other"})
    number = tables.row_id(tables.part_identity(MINE, part))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE states SET checksum = x'00' WHERE id = ?", (number,))
    with Store(path) as store:
        assert len(store.damaged) == 1
        assert f"part {part}" in store.damaged[0]
        assert store.load_state(MINE) is None
        assert_same(store.load_state(OTHER).arrays, state)
        assert store.get(MINE).record == {"error": 1}
        store.save_state(MINE, state, {})
        assert_same(store.load_state(MINE).arrays, state)
    with Store(path) as store:
        assert store.damaged == ()
        assert store.num_unfinished() == 2


def test_a_state_damaged_in_an_open_store(path, state, query):
    with Store(path) as store:
        store.save_state(MINE, state, {})
        query(path, "UPDATE states SET arrays = arrays || x'00' WHERE length(arrays) > 0")
        assert store.load_state(MINE) is None
        assert len(store.damaged) == 1


def test_wherever_a_byte_flips_no_state_is_wrong(path, state):
    with Store(path) as store:
        store.commit([Row.of(MINE, TrialResult({"error": 1}))])
        store.save_state(MINE, state, {"number": 1})
        store.save_state(OTHER, {"W": np.arange(3000.0)}, {"number": 2})
    content, num_lost = path.read_bytes(), 0
    refused: list[str] = []
    for at in np.random.default_rng(0).choice(len(content), 80, replace=False).tolist():
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        try:
            with Store(path) as store:
                mine, other = store.load_state(MINE), store.load_state(OTHER)
        except WidenetError as error:
            refused.append(str(error))
            continue
        if mine is not None:
            assert_same(mine.arrays, state)
        if other is not None:
            assert_same(other.arrays, {"W": np.arange(3000.0)})
        if mine is None or other is None:
            num_lost += 1
            assert store.damaged
    assert num_lost
    assert all(str(path) in words for words in refused)


def test_a_torn_table_of_states_leaves_the_trials(path, state):
    with Store(path) as store:
        store.commit([Row.of(MINE, TrialResult({"error": 1}))])
        store.save_state(MINE, state, {})
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'states'").fetchone()
    content = path.read_bytes()
    path.write_bytes(content[: (root - 1) * 4096] + b"\xff" * 4096 + content[root * 4096 :])
    with Store(path) as store:
        assert store.damaged
        assert store.load_state(MINE) is None
        assert store.get(MINE).record == {"error": 1}
        store.save_state(MINE, state, {})
        assert_same(store.load_state(MINE).arrays, state)


def test_it_is_written_now_and_then(path, state, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(kept.time, "monotonic", lambda: now[0])
    with Store(path) as store:
        mine = KeptState(store, MINE)
        assert mine.earlier is None
        mine.save_if_due(state, {"n": 1})
        mine.finish(state, {"n": 2})
        assert store.is_empty()
        now[0] += kept.EVERY
        mine.save_if_due(state, {"n": 3})
        mine.save_if_due(state, {"n": 4})
        assert store.load_state(MINE).notes == {"n": 3}
        mine.finish(state, {"n": 5})
        assert KeptState(store, MINE).earlier.notes == {"n": 5}
        assert store.num_unfinished() == 0
        mine.drop()
        assert store.is_empty()


def test_without_a_store_nothing_is_kept(state):
    mine = KeptState(None, MINE)
    mine.save(state, {})
    mine.finish(state, {})
    mine.drop()
    assert mine.earlier is None


def test_a_state_that_cannot_be_written_leaves_the_one_before(path, state, monkeypatch):
    """SQLite says that the disk is full where the file may not grow."""
    with Store(path) as store:
        store.save_state(MINE, state, {"number": 1})
        store._connection.execute(f"PRAGMA max_page_count = {path.stat().st_size // 4096 + 1}")
        with pytest.raises(WidenetError, match=f"{path} cannot be written.*free some disk space"):
            store.save_state(MINE, {"W": np.ones(100_000)}, {"number": 2})
        assert store.load_state(MINE).notes == {"number": 1}
        assert_same(store.load_state(MINE).arrays, state)


def test_a_result_takes_the_place_of_its_own_state_alone(path, state):
    with Store(path) as store:
        for trial in (MINE, OTHER):
            store.save_state(trial, state, {})
        store.commit([Row.of(MINE, TrialResult({"loss": 1.0}))])
        assert store.load_state(MINE) is None
        assert_same(store.load_state(OTHER).arrays, state)


def test_a_state_outlives_a_result_that_is_not_stored(path, state, monkeypatch):
    """A kill at any moment of the commit leaves the state, from which the trial goes on."""
    delete = tables.delete_state

    def die(*arguments):
        delete(*arguments)
        raise KeyboardInterrupt

    with Store(path) as store:
        store.save_state(MINE, state, {})
        monkeypatch.setattr(tables, "delete_state", die)
        with pytest.raises(KeyboardInterrupt):
            store.commit([Row.of(MINE, TrialResult({"loss": 1.0}))])
    with Store(path) as store:
        assert store.get(MINE) is None
        assert_same(store.load_state(MINE).arrays, state)
