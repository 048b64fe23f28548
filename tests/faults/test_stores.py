"""Stores that are cut, overwritten and flipped: what is whole is kept, and nothing wrong is given back."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from widenet.base.errors import WidenetError
from widenet.memorise.experiments import synthetic_problem
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.pgd import PerturbedDescent
from widenet.memorise.train import state_arrays
from widenet.runs import Store, Trial, TrialResult
from widenet.runs.pages import sound_rows
from widenet.runs.records import pack_json, unpack_json
from widenet.runs.tables import Row, TrialState, insert_row, state_rows

PAGE, NUM_TRIALS = 4096, 40


def trial_of(number: int) -> Trial:
    return Trial({"number": number}, code="1", data="digits")


def result_of(number: int) -> TrialResult:
    """Of very different lengths: several on a page, and one over many pages."""
    weights = np.random.default_rng(number).normal(size=(number % 5 + 1, 20 if number % 2 else 400))
    return TrialResult({"losses": [0.1 * number] * 20}, {"weights": weights})


UNFINISHED, STATE = trial_of(1000), {"W": np.arange(2000.0)}


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> bytes:
    """The file of a store with finished trials and a state, some pages of which are free."""
    path = tmp_path_factory.mktemp("store") / "runs.store"
    with Store(path) as store:
        store.save_state(UNFINISHED, {"W": np.ones(9000)}, {"step": 1})
        for number in range(NUM_TRIALS):
            store.commit([Row.of(trial_of(number), result_of(number))])
        store.save_state(UNFINISHED, STATE, {"step": 2})
    return path.read_bytes()


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "runs.store"


def packed(result: TrialResult) -> tuple[str, bytes]:
    return pack_json(result.record), result.arrays["weights"].tobytes()


def found(store: Store) -> list[int]:
    """Numbers of the trials that are there, after a look at every byte of them and of the state."""
    results = {number: store.get(trial_of(number)) for number in range(NUM_TRIALS)}
    there = [number for number, result in results.items() if result is not None]
    assert all(packed(results[number]) == packed(result_of(number)) for number in there)
    state = store.load_state(UNFINISHED)
    if state is not None:
        assert (state.notes, state.arrays["W"].tobytes()) == ({"step": 2}, STATE["W"].tobytes())
    return there


def whole_in(content: bytes) -> set[int]:
    """Numbers of trials of which every stored byte is somewhere in a file: none of these may be lost.

    Checked for short trials alone, which lie in one piece.
    """
    rows = {number: Row.of(trial_of(number), result_of(number)) for number in range(1, NUM_TRIALS, 2)}
    return {n for n, row in rows.items() if row.identity + row.record + row.arrays + row.checksum in content}


def test_a_store_cut_at_any_place_keeps_what_is_whole(path, content):
    assert len(whole_in(content)) == NUM_TRIALS // 2
    num_pages, refused, kept = len(content) // PAGE, [], []
    cuts = [page * PAGE for page in range(1, num_pages)] + [page * PAGE + 1234 for page in range(num_pages)]
    for cut in cuts[:: max(1, len(cuts) // 30)]:
        path.write_bytes(content[:cut])
        try:
            with Store(path) as store:
                there, told = found(store), store.damage_told()
        except WidenetError as error:
            assert path.read_bytes() == content[:cut]
            assert not whole_in(content[:cut])
            refused.append(str(error))
            continue
        assert set(there) >= whole_in(content[: cut // PAGE * PAGE])
        assert store.aside is not None
        assert store.aside.read_bytes() == content[:cut]
        assert str(store.aside) in told
        with Store(path) as again:
            assert (found(again), again.damaged) == (there, ())
        kept.append(len(there))
        store.aside.unlink()
    assert len(kept) > 3 * len(refused)
    assert all(len(words.splitlines()) == 1 for words in refused)
    assert max(kept) > NUM_TRIALS * 0.8
    assert [each.name for each in path.parent.iterdir()] == ["runs.store"]


@pytest.mark.slow
def test_any_page_overwritten_costs_what_was_on_it(path, content):
    """Also the pages that only lead to others, behind which whole trials stand."""
    leading = {page for page in range(1, len(content) // PAGE) if content[page * PAGE] == 5}
    assert leading
    for page in sorted(leading | set(range(1, len(content) // PAGE, 2))):
        fill = (b"\0", b"\xff", b"\r")[page % 3]
        damaged = content[: page * PAGE] + fill * PAGE + content[(page + 1) * PAGE :]
        path.write_bytes(damaged)
        with Store(path) as store:
            there = found(store)
            assert set(there) >= whole_in(damaged)
            assert store.damaged or len(there) == NUM_TRIALS
            if store.aside is not None:
                store.aside.unlink()


def test_a_store_without_its_first_page_is_refused_in_one_sentence(path, content):
    path.write_bytes(bytes(PAGE) + content[PAGE:])
    with pytest.raises(WidenetError, match=f"{path} is not a store of trials, or no longer one") as caught:
        Store(path)
    assert len(str(caught.value).splitlines()) == 1
    assert path.read_bytes()[PAGE:] == content[PAGE:]


def test_garbage_on_the_first_page_is_salvaged_or_refused_but_no_decoding_error(path, content):
    """SQLite quotes broken names in its messages, which Python could not decode."""
    rng, salvaged, refused = np.random.default_rng(0), 0, []
    for _ in range(60):
        at, length = int(rng.integers(100, PAGE)), int(rng.integers(1, 30))
        path.write_bytes(content[:at] + rng.bytes(length) + content[at + length :])
        try:
            with Store(path) as store:
                assert found(store) == list(range(NUM_TRIALS))
        except WidenetError as error:
            refused.append(str(error))
            continue
        if store.aside is not None:
            salvaged += 1
            store.aside.unlink()
    assert salvaged
    assert all(str(path) in words for words in refused)


def test_pages_that_all_claim_one_long_row_are_read_in_proportion_to_the_file(path):
    with Store(path) as store:
        store.commit([Row.of(UNFINISHED, TrialResult({}, {"W": np.arange(16_000.0)}))])
    content = path.read_bytes()
    # The page of the row, as often as there is room for its place on it, and many times over.
    leaf = next(
        content[at : at + PAGE]
        for at in range(PAGE, len(content), PAGE)
        if content[at : at + 5] == b"\r\0\0\0\1" and b'"number":1000' in content[at : at + PAGE]
    )
    num_places = (int.from_bytes(leaf[8:10], "big") - 8) // 2
    many = leaf[:3] + num_places.to_bytes(2, "big") + leaf[5:8] + num_places * leaf[8:10]
    hostile = content + 40 * (many + leaf[len(many) :])
    rows = list(sound_rows(memoryview(hostile)))
    assert {row.identity for row in rows} == {UNFINISHED.identity}
    assert sum(len(row.arrays) for row in rows) < 5 * len(hostile)


def test_what_was_deleted_does_not_come_back(path, content):
    """Free pages still hold the earlier state and a set of rows; only the newest state may be given back."""
    path.write_bytes(content)
    with Store(path) as store:
        store.drop_state(UNFINISHED)
    path.write_bytes(path.read_bytes()[: len(content) // 2])
    with Store(path) as store:
        assert store.aside is not None
        assert store.load_state(UNFINISHED) is None


def test_a_journal_of_the_damaged_file_stays_with_it(path, content):
    cut = content[: len(content) // 2]
    path.write_bytes(cut)
    journal = path.with_name("runs.store-journal")
    journal.write_bytes(b"of an earlier life")
    with Store(path) as store:
        assert found(store)
    assert not journal.exists()


def test_the_damaged_files_of_two_accidents_are_both_kept(path, content):
    names = set()
    for cut in (len(content) // 2, len(content) // 2 + 99):
        path.write_bytes(content[:cut])
        with Store(path) as store:
            names.add(store.aside)
    assert {name.stat().st_size for name in names} == {len(content) // 2, len(content) // 2 + 99}


def test_a_cut_store_where_nothing_can_be_written_is_refused_and_left(path, content, monkeypatch):
    path.write_bytes(content[: len(content) // 2])

    def denied(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "link", denied)
    monkeypatch.setattr("shutil.copyfile", denied)
    with pytest.raises(WidenetError, match="move it away to start afresh"):
        Store(path)
    assert path.read_bytes() == content[: len(content) // 2]
    assert [each.name for each in path.parent.iterdir()] == ["runs.store"]


@pytest.mark.parametrize("method", [AdamRecipe(epochs=2, batch=16), PerturbedDescent()], ids=["adam", "pgd"])
def test_every_flipped_byte_of_a_memorising_state_is_noticed(path, method):
    """The state of a real training: the run starts afresh, and is told so."""
    problem = synthetic_problem(40, 10, 20, seed=0)
    state = method.start(problem)
    kept = state_arrays(method.advance(problem, state))
    with Store(path) as store:
        store.save_state(UNFINISHED, kept, {"seconds": 1.0})
    content = path.read_bytes()
    rows = list(state_rows(UNFINISHED, TrialState(kept, {"seconds": 1.0})))
    payload = rows[1].arrays
    # The payload lies in pieces over pages; flip bytes in each of the pieces that are found whole.
    pieces = [payload[at : at + 64] for at in range(0, len(payload) - 64, 64)]
    places = [content.index(piece) for piece in pieces if content.count(piece) == 1]
    assert len(places) > 20
    rng = np.random.default_rng(0)
    for at in rng.choice(places, 50).tolist():
        at += int(rng.integers(64))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        with Store(path) as store:
            assert store.load_state(UNFINISHED) is None
            assert "starts afresh" in store.damage_told()


def test_a_state_whose_text_breaks_in_an_open_store(path):
    with Store(path) as store:
        store.save_state(UNFINISHED, STATE, {"step": 1})
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE states SET record = x'ff7b' WHERE length(record) > 0")
        assert store.num_unfinished() == 0
        assert store.load_state(UNFINISHED) is None
        assert store.damaged


@pytest.mark.parametrize(
    "changed",
    [
        {"num_parts": 10**12},
        {"num_parts": -1},
        {"num_parts": "1"},
        {"num_parts": None},
        {"finished": "no"},
        {"checksum": 0},
        {"notes": []},
        {},
    ],
    ids=str,
)
def test_a_head_that_nobody_here_wrote_is_no_state(path, changed):
    """Its checksum fits, and its counts are a lie."""
    with Store(path) as store:
        store.save_state(UNFINISHED, STATE, {"step": 1})
        head = next(state_rows(UNFINISHED, TrialState(STATE, {"step": 1})))
        lie = pack_json(unpack_json(head.record) | changed if changed else [])
        forged = Row.packed(head.identity, lie.encode(), b"")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM states WHERE id = ?", (head.id,))
            insert_row(connection, "states", forged)
        assert store.load_state(UNFINISHED) is None
        assert store.num_unfinished() == 0 or changed.keys() == {"num_parts"}


@pytest.mark.slow
def test_killed_runs_lose_nothing():
    """Real runs, killed some dozen times; `python -m fuzz.kills` does so for longer."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "fuzz.kills", "15", "7"]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Nothing was lost" in ended.stdout
