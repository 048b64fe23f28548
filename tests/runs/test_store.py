"""The store itself: exact round trips, claims, damage, and files that are no store."""

import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from widenet.base.errors import InputError, WidenetError
from widenet.runs import Store, Trial, TrialResult, run_trials, store as module
from widenet.runs.owner import Owner, current_place
from widenet.runs.records import pack_json
from widenet.runs.tables import TORN, Row

NUM_TRIALS = 60
PAGE = 4096


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def trial() -> Trial:
    return Trial({"rate": 0.1}, code="1", data="d")


def trial_of(number: int) -> Trial:
    return Trial({"number": f"setting-{number:03}"}, code="1", data="digits")


def result_of(number: int) -> TrialResult:
    weights = np.random.default_rng(number).normal(size=(number % 5 + 1, 120))
    return TrialResult({"note": f"record-{number:03}", "losses": [0.1 * number] * 40}, {"weights": weights})


def same(result: TrialResult | None, expected: TrialResult) -> bool:
    return (
        result is not None
        and pack_json(result.record) == pack_json(expected.record)
        and result.arrays.keys() == expected.arrays.keys()
        and all(np.array_equal(result.arrays[name], array) for name, array in expected.arrays.items())
    )


@pytest.fixture(scope="session")
def content(tmp_path_factory) -> bytes:
    """The file of a store of finished trials, without leftovers of earlier pages."""
    path = tmp_path_factory.mktemp("store") / "runs.db"
    with Store(path) as store:
        store.commit([Row.of(trial_of(number), result_of(number)) for number in range(NUM_TRIALS)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")
    return path.read_bytes()


def rerun(path: Path) -> tuple[list[int], tuple[str, ...]]:
    """Run all trials on a store; returns the numbers of those that were not found there, and `damaged`."""
    ran: list[int] = []

    def work(group):
        ran.extend(int(settings["number"][-3:]) for settings in group)
        return [result_of(int(settings["number"][-3:])) for settings in group]

    with Store(path) as store:
        outcomes = run_trials([[trial_of(number)] for number in range(NUM_TRIALS)], work, store=store)
        damaged = store.damaged
    assert all(same(outcome, result_of(number)) for number, outcome in enumerate(outcomes))
    return ran, damaged


def flipped(content: bytes, at: int, bit: int = 0) -> bytes:
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]


def test_results_come_back_exactly(path, trial):
    record = {"z": [0.1, 1e-320, -0.0, 2**70, float("inf")], "a": {"ok": True, "none": None, "η": "\ud800"}}
    arrays = {
        "weights": np.random.default_rng(0).normal(size=(3, 4)).T,
        "float32": np.float32([np.nan, np.inf, 1e-45]),
        "scalar": np.array(2.5),
        "counts": np.arange(3),
        "empty": np.zeros((0, 2)),
    }
    with Store(path) as store:
        assert store.get(trial) is None
        store.commit([Row.of(trial, TrialResult(record, arrays))])
    with Store(path) as store:
        result = store.get(trial)
    assert result.record == record
    assert list(result.record) == ["z", "a"]
    assert str(result.record["z"]) == str(record["z"])
    for name, array in arrays.items():
        assert result.arrays[name].dtype == array.dtype
        assert result.arrays[name].shape == array.shape
        assert result.arrays[name].flags.writeable
        assert np.array_equal(result.arrays[name], array, equal_nan=True)


@pytest.mark.parametrize(
    "other",
    [Trial({"rate": 0.2}, "1", "d"), Trial({"rate": 0.1}, "2", "d"), Trial({"rate": 0.1}, "1", "e")],
    ids=["settings", "code", "data"],
)
def test_what_differs_in_anything_is_another_trial(path, trial, other):
    with Store(path) as store:
        store.commit([Row.of(trial, TrialResult({"error": 1}))])
        assert store.get(other) is None
        assert store.claim([trial, other]) == [other]
        store.commit([Row.of(other, TrialResult({"error": 2}))])
        assert store.get(trial).record == {"error": 1}


def test_the_first_commit_stays(path, trial):
    with Store(path) as store, Store(path) as other:
        assert store.commit([Row.of(trial, TrialResult({"by": "store"}))])[0].record == {"by": "store"}
        assert other.commit([Row.of(trial, TrialResult({"by": "other"}))])[0].record == {"by": "store"}


def test_a_claim_keeps_others_away_until_given_back(path, trial):
    with Store(path) as other:
        with Store(path) as store:
            assert store.claim([trial]) == [trial]
            assert other.claim([trial]) == []
            other.release([trial])
            assert other.claim([trial]) == []
            store.release([trial])
            assert other.claim([trial]) == [trial]
            other.release([trial])
            assert store.claim([trial]) == [trial]
        assert other.claim([trial]) == [trial]


@pytest.mark.parametrize(
    ("change", "free"),
    [
        ("place = 'elsewhere'", False),
        (f"place = 'elsewhere', beat = beat - {module.LEASE + 1}", True),
        (f"place = 'elsewhere', beat = beat + {module.LEASE + 9}", True),
        ("started = started - 1", True),
        ("pid = 1073741824", True),
        (f"beat = beat - {module.LEASE + 1}", True),
    ],
    ids=["other machine", "expired", "from the future", "number used again", "process gone", "no sign"],
)
def test_when_a_claim_ends(path, trial, query, change, free):
    with Store(path) as store, Store(path) as other:
        store.claim([trial])
        query(path, f"UPDATE claims SET {change}")
        assert bool(other.claim([trial])) == free


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs to see when processes started")
def test_a_process_that_ended_but_was_not_collected_is_gone():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        stat = Path(f"/proc/{process.pid}/stat").read_text()
        owner = Owner("token", current_place(), process.pid, int(stat.split()[21]))
        assert not owner.is_gone()
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert owner.is_gone()
    assert owner.is_gone()


def test_signs_of_life(path, trial, query, wait_until, monkeypatch):
    monkeypatch.setattr(module, "BEAT", 0.02)
    with Store(path) as store:
        store.claim([trial])
        begin = query(path, "SELECT beat FROM claims")
        wait_until(lambda: query(path, "SELECT beat FROM claims") > begin, 5)
    assert query(path, "SELECT * FROM claims") == []


@pytest.mark.parametrize("words", [b"record-017", b"setting-017"], ids=["result", "settings"])
def test_a_flipped_byte_costs_one_trial(path, content, words):
    assert content.count(words) == 1
    path.write_bytes(flipped(content, content.index(words) + len(words) - 1, 1))
    ran, damaged = rerun(path)
    assert ran == [17]
    assert len(damaged) == 1
    assert "setting-01" in damaged[0]
    assert rerun(path) == ([], ())


@pytest.mark.parametrize("part", ["weights", "checksum"])
def test_a_flipped_bit_in_what_is_not_text(path, content, part):
    row = Row.of(trial_of(19), result_of(19))
    at = content.index(row.checksum if part == "checksum" else row.arrays[-50:])
    path.write_bytes(flipped(content, at))
    ran, damaged = rerun(path)
    assert ran == [19]
    assert "setting-019" in damaged[0]


def test_a_trial_damaged_in_an_open_store(path, content, query):
    path.write_bytes(content)
    with Store(path) as store:
        number = Row.of(trial_of(17), result_of(17)).id
        query(path, f"UPDATE trials SET record = record || ' ' WHERE id = {number}")
        assert store.get(trial_of(17)) is None
        assert len(store.damaged) == 1
        assert same(store.get(trial_of(18)), result_of(18))
        assert store.claim([trial_of(17), trial_of(18)]) == [trial_of(17)]


def test_wherever_a_byte_flips_no_result_is_wrong(path, content):
    """Flips all over the file: trials are right or not there, mostly one is lost, or the file is refused."""
    lost, refused = [], []
    for at in np.random.default_rng(0).choice(len(content), 60, replace=False).tolist():
        path.write_bytes(flipped(content, at, at % 8))
        try:
            with Store(path) as store:
                results = [store.get(trial_of(number)) for number in range(NUM_TRIALS)]
        except WidenetError as error:
            refused.append((at, str(error)))
            continue
        found = [number for number, result in enumerate(results) if result is not None]
        assert all(same(results[number], result_of(number)) for number in found)
        assert bool(store.damaged) >= (len(found) < NUM_TRIALS)
        lost.append(NUM_TRIALS - len(found))
    assert all(at < 2 * PAGE and str(path) in words for at, words in refused)  # header, schema, root
    assert np.mean(np.array(lost) <= 1) > 0.95
    assert max(lost) < NUM_TRIALS // 2


def fullest_page(content: bytes) -> tuple[int, list[int]]:
    """Where the page with most trials begins, and their numbers."""
    pages: dict[int, list[int]] = {}
    for number in range(NUM_TRIALS):
        pages.setdefault(content.index(b"setting-%03d" % number) // PAGE * PAGE, []).append(number)
    return max(pages.items(), key=lambda page: len(page[1]))


def test_a_torn_page_costs_what_was_on_it(path, content):
    at, on_it = fullest_page(content)
    path.write_bytes(content[:at] + bytes(range(256)) * (PAGE // 256) + content[at + PAGE :])
    ran, damaged = rerun(path)
    assert ran == on_it
    assert damaged == (TORN,)
    assert rerun(path) == ([], ())


def test_a_trial_that_vanished_from_its_page_is_missed(path, content):
    """One less in the page's count of cells hides the last of them without breaking anything else."""
    at, on_it = fullest_page(content)
    count = at + 4  # low byte of the number of cells, in a page of rows
    assert content[count] == len(on_it)
    path.write_bytes(content[:count] + bytes([len(on_it) - 1]) + content[count + 1 :])
    last = max(on_it, key=lambda n: Row.of(trial_of(n), result_of(n)).id)
    assert rerun(path) == ([last], (TORN,))


def test_a_torn_table_of_claims_is_renewed(path, content):
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'claims'").fetchone()
    path.write_bytes(content[: (root - 1) * PAGE] + b"\xff" * PAGE + content[root * PAGE :])
    assert rerun(path) == ([], ())
    with Store(path) as store:
        assert len(store.claim([Trial({}, "", "")])) == 1


@pytest.mark.parametrize("num_bytes", [PAGE // 2, PAGE + 100, 2 * PAGE])
def test_a_file_cut_short_is_refused(path, content, num_bytes):
    path.write_bytes(content[:num_bytes])
    with pytest.raises(WidenetError, match=str(path)):
        rerun(path)
    assert path.read_bytes() == content[:num_bytes]


def test_a_file_that_is_no_store(path):
    path.write_text("rate,error\n0.1,0.2\n" * 100)
    with pytest.raises(InputError, match=f"{path} is not a store"):
        Store(path)


def test_a_database_of_something_else(path, query):
    query(path, "CREATE TABLE cats (name)")
    with pytest.raises(InputError, match=f"{path} is not a store"):
        Store(path)
    assert query(path, "SELECT name FROM sqlite_master") == [("cats",)]


def test_a_store_of_a_newer_version(path, query):
    Store(path).close()
    query(path, "PRAGMA user_version = 9")
    with pytest.raises(InputError, match=f"{path} was written by a newer widenet"):
        Store(path)


def test_a_folder_in_place_of_the_file(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path} cannot be opened"):
        Store(tmp_path)


def test_a_file_in_place_of_the_folder(path):
    path.touch()
    with pytest.raises(InputError, match="cannot be opened"):
        Store(path / "below.db")


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write anything, so root steps down for a while."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("damaged", [False, True])
def test_a_store_that_may_not_be_written(content, damaged):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        path.write_bytes(flipped(content, content.index(b"record-017")) if damaged else content)
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        with unprivileged(), Store(path) as store:
            assert same(store.get(trial_of(3)), result_of(3))
            assert len(store.damaged) == damaged
            with pytest.raises(InputError, match=f"{path} is not writable"):
                store.claim([Trial({}, "", "")])
        Path(folder).chmod(0o755)


def test_a_store_in_use_for_too_long(path, trial, monkeypatch):
    monkeypatch.setattr(module, "BUSY", 0.1)
    with Store(path) as store, closing(sqlite3.connect(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(WidenetError, match=f"{path} was in use"):
            store.claim([trial])


def old_store(path: Path) -> None:
    """A store as the first schema has it, with one finished trial and no table of states."""
    row = Row.of(trial_of(1), result_of(1))
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, columns in (
            ("trials", "id INTEGER PRIMARY KEY, identity BLOB, record BLOB, arrays BLOB, checksum BLOB"),
            (
                "claims",
                "id INTEGER PRIMARY KEY, token TEXT, place TEXT, pid INTEGER, started INTEGER, beat REAL",
            ),
        ):
            connection.execute(f"CREATE TABLE {table} ({columns})")
        values = (row.id, row.identity, row.record, row.arrays, row.checksum)
        connection.execute("INSERT INTO trials VALUES (?, ?, ?, ?, ?)", values)
        connection.execute(f"PRAGMA application_id = {module.APPLICATION}")
        connection.execute("PRAGMA user_version = 1")


def test_a_store_of_the_first_schema_is_read_and_goes_on(path, query):
    old_store(path)
    with Store(path) as store:
        assert same(store.get(trial_of(1)), result_of(1))
        assert store.load_state(trial_of(2)) is None
        assert store.num_unfinished() == 0
        store.save_state(trial_of(2), {"W": np.ones(2)}, {"n": 1})
        store.commit([Row.of(trial_of(3), result_of(3))])
    assert query(path, "PRAGMA user_version") == [(module.SCHEMA,)]
    with Store(path) as store:
        assert store.damaged == ()
        assert store.load_state(trial_of(2)).notes == {"n": 1}
        assert same(store.get(trial_of(1)), result_of(1))
        assert same(store.get(trial_of(3)), result_of(3))


def test_a_store_of_the_first_schema_that_may_not_be_written():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        old_store(path)
        before = path.read_bytes()
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        with unprivileged(), Store(path) as store:
            assert same(store.get(trial_of(1)), result_of(1))
            assert store.load_state(trial_of(1)) is None
            assert (store.num_unfinished(), store.is_empty()) == (0, False)
            store.drop_state(trial_of(1))
            with pytest.raises(InputError, match=f"{path} is not writable"):
                store.save_state(trial_of(1), {}, {})
        Path(folder).chmod(0o755)
        assert path.read_bytes() == before


def test_where_a_folder_keeps_its_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert module.beside(Path("result")) == tmp_path.resolve() / "result.store"
    assert module.beside(Path("x/..")).parent == tmp_path.resolve().parent
