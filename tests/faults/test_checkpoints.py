"""Long linear algebra that was interrupted goes on from its last checkpoint, to the very same result."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from widenet.audit import forecast
from widenet.audit.run import audit_trial, run_audit
from widenet.audit.settings import AuditSettings
from widenet.base.checkpoint import StageNotKept, StageResumed
from widenet.base.errors import WidenetError
from widenet.base.progress import Progress
from widenet.cli.main import cli
from widenet.data import load
from widenet.data.noise import subset
from widenet.predict.loo import estimated_leave_one_out
from widenet.report.audit import record
from widenet.runs import Store, Trial, checkpoints
from widenet.runs.checkpoints import Checkpoints
from widenet.runs.records import unpack_json
from widenet.spectrum.gram import DenseGram, TiledGram
from widenet.spectrum.lanczos import gauss_measure, lanczos

MINE, OTHER = Trial({"seed": 0}, "1", "d"), Trial({"seed": 1}, "1", "d")
N = 120


class StoppedError(Exception):
    """Somebody pulled the plug."""


class Noted(Progress):
    """Hears what is noted."""

    def __init__(self):
        self.facts = []

    def note(self, fact):
        self.facts.append(fact)


class MortalGram(DenseGram):
    """One that is gone at some product."""

    def __init__(self, matrix, last=None):
        super().__init__(matrix)
        self.last, self.num_products = last, 0

    def matmul(self, V):
        self.num_products += 1
        if self.num_products == self.last:
            raise StoppedError
        return super().matmul(V)


@pytest.fixture(autouse=True)
def always_due(monkeypatch):
    for name in ("EVERY", "SHORT"):
        monkeypatch.setattr(checkpoints, name, 0.0)
    monkeypatch.setattr(checkpoints, "MOST_SHARE", 1e9)


@pytest.fixture
def matrix():
    X = torch.randn(N, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return X @ X.T + torch.diag(torch.linspace(0.1, 1, N, dtype=torch.float64))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "work.store"


def columns(num):
    return torch.randn(N, num, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def krylov(matrix, path, last=None, trial=MINE, progress=None, solve=False):
    """A run in a store, gone at some product."""
    gram = MortalGram(matrix, last)
    with Store(path) as store:
        kept = Checkpoints(store, lambda: trial, progress or Noted()).stage("lanczos")
        return gram, lanczos(gram, columns(3), num_steps=12, solve=solve, checkpoint=kept)


def same(first, second):
    blocks = zip((*first.diagonal, *first.below), (*second.diagonal, *second.below), strict=True)
    assert all(torch.equal(*pair) for pair in blocks)
    assert torch.equal(gauss_measure(first).weights, gauss_measure(second).weights)


@pytest.mark.parametrize("last", [2, 7, 12])
def test_lanczos_goes_on_bit_for_bit(matrix, path, last):
    undisturbed = lanczos(DenseGram(matrix), columns(3), num_steps=12)
    with pytest.raises(StoppedError):
        krylov(matrix, path, last)
    noted = Noted()
    gram, resumed = krylov(matrix, path, progress=noted)
    assert gram.num_products == 12 - (last - 1)
    assert noted.facts == [StageResumed("lanczos")]
    same(resumed, undisturbed)
    gram, again = krylov(matrix, path)
    assert gram.num_products == 0
    same(again, undisturbed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_space_that_solves_goes_on_bit_for_bit(matrix, path, dtype):
    """The product that refines the solution is repeated, if it was the last; the space is not."""
    matrix = (matrix + torch.eye(N, dtype=torch.float64)).to(dtype)
    undisturbed = lanczos(DenseGram(matrix), columns(3), num_steps=12, solve=True)
    for last, num_left in ((7, 12 - 6 + 1), (13, 1)):
        with pytest.raises(StoppedError):
            krylov(matrix, path, last, solve=True)
        path.rename(path.with_suffix(f".{last}"))
        gram, resumed = krylov(matrix, path.with_suffix(f".{last}"), solve=True)
        assert gram.num_products == num_left
        same(resumed, undisturbed)
        assert torch.equal(resumed.solution, undisturbed.solution)
    gram, again = krylov(matrix, path.with_suffix(".7"), solve=True)
    assert gram.num_products == 0
    assert torch.equal(again.solution, undisturbed.solution)


def left_out(matrix, path, last=None):
    gram = MortalGram(matrix, last)
    with Store(path) as store:
        kept = Checkpoints(store, lambda: MINE)
        generator = torch.Generator().manual_seed(2)
        loo = estimated_leave_one_out(
            gram,
            columns(2),
            1e-3,
            1 / gram.diag(),
            num_probes=6,
            rank=4,
            generator=generator,
            checkpoint=kept.stage("solves"),
            sketched=kept.stage("sketch"),
        )
        return gram, loo, torch.rand(3, generator=generator), store.num_unfinished()


def test_solves_go_on_bit_for_bit(matrix, path, tmp_path):
    undisturbed, expected, after, _ = left_out(matrix, tmp_path / "undisturbed.store")
    with pytest.raises(StoppedError):
        left_out(matrix, path, last=undisturbed.num_products // 2)
    resumed, found, later, num_unfinished = left_out(matrix, path)
    assert 0 < resumed.num_products == undisturbed.num_products - undisturbed.num_products // 2 + 1
    assert torch.equal(found.predictions, expected.predictions)
    assert torch.equal(found.precision_error, expected.precision_error)
    assert torch.equal(later, after)  # what is drawn later is the same, too
    assert num_unfinished == 0
    assert left_out(matrix, path)[0].num_products == 0


def test_the_state_of_another_computation_is_not_taken(matrix, path):
    with pytest.raises(StoppedError):
        krylov(matrix, path, last=7)
    noted = Noted()
    gram, found = krylov(matrix, path, trial=OTHER, progress=noted)
    assert gram.num_products == 12
    assert noted.facts == []
    same(found, lanczos(DenseGram(matrix), columns(3), num_steps=12))


def test_a_damaged_piece_is_left_aside_in_one_sentence(matrix, path):
    from widenet.report.parts.stages import on_the_way

    with pytest.raises(StoppedError):
        krylov(matrix, path, last=7)
    with closing(sqlite3.connect(path)) as connection, connection:
        zeroed = "UPDATE states SET arrays = zeroblob(length(arrays)) WHERE instr(identity, ?)"
        assert connection.execute(zeroed, (b'"piece":2',)).rowcount > 0
    noted = Noted()
    gram, found = krylov(matrix, path, progress=noted)
    assert gram.num_products == 12
    assert isinstance(noted.facts[0], StageNotKept)
    sentence = "“lanczos” cannot be resumed: what an earlier run kept of it is damaged."
    assert on_the_way(noted.facts[0]) == (sentence,)
    same(found, lanczos(DenseGram(matrix), columns(3), num_steps=12))


@pytest.mark.parametrize("count", [10**12, "2", -1, None])
def test_a_count_of_pieces_that_is_a_lie_is_not_followed(path, count):
    noted = Noted()
    with Store(path) as store:
        store.save_state(MINE.stage("long"), {}, {"num_pieces": count})
        assert Checkpoints(store, lambda: MINE, noted).stage("long").load() is None
    assert [type(fact) for fact in noted.facts] == [StageNotKept]


def test_what_has_joined_is_written_once(matrix, path, monkeypatch):
    written = []
    save = Store.save_state

    def watched(store, trial, arrays, notes, **more):
        written.append({name: array.shape for name, array in arrays.items()})
        save(store, trial, arrays, notes, **more)

    monkeypatch.setattr(Store, "save_state", watched)
    krylov(matrix, path)
    assert sum(shapes["basis"][0] for shapes in written if "basis" in shapes) == 3 * 12


def test_saving_takes_its_share_of_the_time_and_no_more(path, monkeypatch):
    now = 0.0
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now)
    monkeypatch.setattr(checkpoints, "EVERY", 30.0)
    monkeypatch.setattr(checkpoints, "MOST_SHARE", 0.05)

    class SlowStore(Store):
        def save_state(self, *parts, **more):
            nonlocal now
            now += 10.0

    with SlowStore(path) as store:
        kept = Checkpoints(store, lambda: MINE).stage("long")
        now = 29.0
        assert not kept.is_due()
        now = 31.0
        assert kept.is_due()
        kept.save({})
        now += 199.0
        assert not kept.is_due()
        now += 1.0
        assert kept.is_due()


def test_a_disk_that_is_full_does_not_end_the_work(matrix, path, monkeypatch):
    def full(store, *parts, **more):
        raise WidenetError("work.store cannot be written (database or disk is full).")

    monkeypatch.setattr(Store, "save_state", full)
    noted = Noted()
    _, found = krylov(matrix, path, progress=noted)
    assert [type(fact) for fact in noted.facts] == [StageNotKept]
    same(found, lanczos(DenseGram(matrix), columns(3), num_steps=12))


@pytest.mark.parametrize("deletes", [True, False], ids=["deletes", "deletes nothing"])
def test_a_disk_that_is_full_at_the_end_leaves_what_was_kept(path, monkeypatch, deletes):
    def full(store, *parts, **more):
        raise WidenetError("work.store cannot be written (database or disk is full).")

    one, noted = {"x": torch.ones(3).numpy()}, Noted()
    with Store(path) as store:
        kept = Checkpoints(store, lambda: MINE, noted)
        stage = kept.stage("long")
        stage.save(one, one)
        with monkeypatch.context() as patch:
            patch.setattr(Store, "save_state", full)
            if not deletes:
                patch.setattr(Store, "drop_state", full)
            stage.finish(one)
            assert [type(fact) for fact in noted.facts] == [StageNotKept]
        assert len(kept.stage("long").load().grown) == 1
        if not deletes:
            monkeypatch.setattr(Store, "drop_state", full)
        stage.drop()
        assert store.is_empty() == deletes


def rows():
    return subset(load("digits"), torch.arange(260))


def tiles(kernel, X, dtype):
    return TiledGram(kernel, X, tile=128, dtype=dtype)


def numbers(result):
    """The record without times."""
    return {name: part for name, part in record(result).items() if name not in ("seconds", "forecast")}


@pytest.mark.parametrize(
    "stage", ["labels on the spectrum", pytest.param("wrong labels", marks=pytest.mark.slow)]
)
def test_an_audit_goes_on_to_the_same_result(path, stage, monkeypatch):
    class Stops(Progress):
        def __call__(self, told, done=None, total=None, detail=""):
            if told == stage and done is not None and done > 2:
                raise StoppedError

    with Store(path) as store:
        with pytest.raises(StoppedError):
            run_audit(rows(), make_gram=tiles, store=store, progress=Stops())
        noted = Noted()
        resumed = run_audit(rows(), make_gram=tiles, store=store, progress=noted)
        assert StageResumed(stage) in noted.facts
        assert store.num_unfinished() == 0
    assert numbers(resumed) == numbers(run_audit(rows(), make_gram=tiles))


@pytest.mark.slow
@pytest.mark.parametrize("whole_first", [True, False])
def test_an_audit_does_not_go_on_from_one_of_another_plan(path, monkeypatch, whole_first):
    """Free memory decides whether the matrix is held whole; estimates and closed forms are not mixed."""

    class Stops(Progress):
        def __call__(self, told, done=None, total=None, detail=""):
            if told == "wrong labels":
                raise StoppedError

    def run(*, is_whole, **options):
        monkeypatch.setattr(forecast, "DENSE_ROWS", 10**6 if is_whole else 0)
        return run_audit(rows(), **options)

    with Store(path) as store:
        with pytest.raises(StoppedError):
            run(is_whole=whole_first, store=store, progress=Stops())
        assert not store.is_empty()
        resumed = run(is_whole=not whole_first, store=store)
    assert numbers(resumed) == numbers(run(is_whole=not whole_first))


@pytest.mark.slow
def test_what_was_found_without_tiles_is_kept_too(path):
    class Stops(Progress):
        def __call__(self, told, done=None, total=None, detail=""):
            if told == "choice of a kernel":
                raise StoppedError

    with Store(path) as store:
        with pytest.raises(StoppedError):
            run_audit(rows(), store=store, progress=Stops())
        noted = Noted()
        resumed = run_audit(rows(), store=store, progress=noted)
    assert StageResumed("shuffled labels") in noted.facts
    assert numbers(resumed) == numbers(run_audit(rows()))


def test_other_settings_or_targets_are_another_audit():
    dataset, settings = rows(), AuditSettings()
    others = [
        audit_trial(dataset, AuditSettings(seed=1), is_whole=True),
        audit_trial(dataset, AuditSettings(kernel="relu3-all"), is_whole=True),
        audit_trial(replace(dataset, Y=-dataset.Y), settings, is_whole=True),
        audit_trial(dataset, settings, is_whole=False),
    ]
    own = audit_trial(dataset, settings, is_whole=True).key
    assert audit_trial(rows(), settings, is_whole=True).key == own
    assert own not in {other.key for other in others}


def test_the_command_leaves_no_store_beside_what_is_done(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b,y\n" + "".join(f"{i % 7},{i * i % 11},{i % 2}\n" for i in range(40)))
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["audit", str(table), "--target", "y", "--out", str(out), "--quiet"])
    assert done.exit_code == 0, done.output
    assert (out / "result.json").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "table.csv"]


def stopped_audit(folder, monkeypatch):
    """The command for an audit that was stopped after some of its stages; `--seed` may be added."""
    table, out = folder / "table.csv", folder / "out"
    table.write_text("a,b,y\n" + "".join(f"{i % 7},{i * i % 11},{i % 2}\n" for i in range(40)))
    command = ["audit", str(table), "--target", "y", "--out", str(out), "--force"]

    def stop(*parts, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("widenet.audit.run.choose_model", stop)
        assert CliRunner().invoke(cli, command).exit_code != 0
    assert (folder / "out.store").exists()
    return command


@pytest.mark.slow
def test_another_audit_does_not_take_what_a_stopped_one_kept(tmp_path, monkeypatch):
    command = stopped_audit(tmp_path, monkeypatch)
    other = CliRunner().invoke(cli, [*command, "--seed", "1"])
    assert other.exit_code == 0, other.output
    assert "Resuming" not in other.output
    resumed = CliRunner().invoke(cli, command)
    assert resumed.exit_code == 0, resumed.output
    assert "Resuming “shuffled labels”" in resumed.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "table.csv"]


@pytest.mark.slow
def test_an_audit_that_cannot_go_on_says_what_differs(tmp_path, monkeypatch):
    command, store = stopped_audit(tmp_path, monkeypatch), tmp_path / "out.store"
    told = f"{store} holds work of another run, so this one starts afresh: --seed was 0 and is 1."
    assert told in CliRunner().invoke(cli, [*command, "--seed", "1"]).output.splitlines()
    resumed = CliRunner().invoke(cli, [*command, "--eta", "0.1", "--raw-cells"])  # no stage depends on these
    assert "Resuming “shuffled labels”" in resumed.output
    assert "another run" not in resumed.output


def test_a_piece_that_no_head_counts_does_not_keep_the_store(tmp_path, monkeypatch):
    command = stopped_audit(tmp_path, monkeypatch)
    with Store(tmp_path / "out.store") as store:
        own = Trial(**unpack_json(min(store.identities())))
        piece = replace(own, settings={**own.settings, "stage": "long", "piece": 7})
        store.save_state(piece, {}, {}, finished=True)
    assert CliRunner().invoke(cli, command).exit_code == 0
    assert not (tmp_path / "out.store").exists()


KILLED = """
import os, signal, sys
sys.path.insert(0, {here!r})
import test_checkpoints as own
from widenet.runs import Store, checkpoints

checkpoints.EVERY = checkpoints.SHORT = 0.0
checkpoints.MOST_SHARE = 1e9

class Kills(own.Progress):
    def __call__(self, stage, done=None, total=None, detail=""):
        if stage == sys.argv[2] and done is not None and done > 2:
            os.kill(os.getpid(), signal.SIGKILL)

with Store(sys.argv[1]) as store:
    own.run_audit(own.rows(), make_gram=own.tiles, store=store, progress=Kills())
"""


@pytest.mark.slow
def test_an_audit_that_is_killed_twice_goes_on_to_the_same_result(path):
    script = KILLED.format(here=str(Path(__file__).parent))
    for stage in ("labels on the spectrum", "wrong labels"):
        done = subprocess.run([sys.executable, "-c", script, str(path), stage], env=dict(os.environ))
        assert done.returncode == -signal.SIGKILL
    noted = Noted()
    with Store(path) as store:
        resumed = run_audit(rows(), make_gram=tiles, store=store, progress=noted)
    assert StageResumed("labels on the spectrum") in noted.facts
    assert StageResumed("wrong labels") in noted.facts
    assert numbers(resumed) == numbers(run_audit(rows(), make_gram=tiles))


def test_a_short_audit_writes_nothing(path, monkeypatch):
    monkeypatch.undo()
    with Store(path) as store:
        run_audit(rows(), store=store)
        assert store.is_empty()


@pytest.mark.slow
def test_a_separation_goes_on_with_the_next_kernel(path, monkeypatch):
    from widenet.papers.resnet_beyond_kernels.separation import run as separation
    from widenet.papers.resnet_beyond_kernels.separation.settings import SeparationSettings

    small = SeparationSettings(
        d1=6, k=2, sizes=(6, 10), kernels=("gaussian", "arcsin"), members=2, tuning=1, width=5, epochs=2
    )
    calls, oracle_errors = [], separation.oracle_errors

    def counted(*parts):
        calls.append(parts)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return oracle_errors(*parts)

    monkeypatch.setattr(separation, "oracle_errors", counted)
    with Store(path) as store:
        with pytest.raises(KeyboardInterrupt):
            separation.run_separation(small, store=store)
        resumed = separation.run_separation(small, store=store)
    assert len(calls) == 4 + 3  # three kernels on two members, of which three pairs were done
    assert resumed.kernels == separation.run_separation(small).kernels
