"""Result folders, with a kill at every step of writing and replacing them, and two runs for one folder."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from widenet.base import exchange as exchange_module
from widenet.base.errors import InputError
from widenet.base.exchange import exchange
from widenet.papers.figures import figures_by_name
from widenet.report.parts import files
from widenet.report.parts.files import restore_folder, write_folder
from widenet.runs.lock import only_run

OLD = {"result.json": "old\n", "report.html": "<p>old</p>", "only-old.csv": "1\n"}
NEW = {"result.json": "new\n", "report.html": "<p>new</p>"}
STEPS = (
    "rename",
    "replace",
    "fsync",
    "unlink",
    "rmdir",
    "mkdir",
    "open",
)  # of `os`, which change disks


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def killed_at(step: int, out: Path) -> bool:
    """Whether a process of its own that replaces the folder was killed right before its call `step`."""
    child = os.fork()
    if child == 0:  # nothing of the test goes on in the child
        try:
            count = 0

            def dying(function):
                def call(*arguments, **options):
                    nonlocal count
                    count += 1
                    if count > step:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return function(*arguments, **options)

                return call

            for name in STEPS:
                setattr(os, name, dying(getattr(os, name)))
            files.exchange = dying(files.exchange)
            write_folder(out, NEW, force=True, replaceable=OLD)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("at_once", [True, False])
def test_killed_at_any_step_the_old_or_the_new_is_there(tmp_path, monkeypatch, at_once):
    """In one step always under its name; in two steps there may be a moment until the next start."""
    if not at_once:
        monkeypatch.setattr(files, "exchange", lambda first, second: False)
    elif not works(tmp_path):
        pytest.skip("needs a file system that can exchange names")
    seen, restored, step = [], 0, 0
    while True:
        out = tmp_path / f"result-{step}"
        write_folder(out, OLD, force=False)
        killed = killed_at(step, out)
        assert out.exists() or not at_once
        if not out.exists():
            assert restore_folder(out)
            assert contents(out) == OLD
            restored += 1
        seen.append(contents(out))
        assert seen[-1] in (OLD, NEW)
        assert not restore_folder(out)
        write_folder(out, NEW, force=True, replaceable=OLD)  # nothing that was left is in the way
        assert contents(out) == NEW
        step += 1
        if not killed:
            break
    assert step > 12
    assert seen[-1] == NEW
    assert restored == (0 if at_once else 1)
    assert seen == sorted(seen, key=lambda each: each == NEW)


def left(out: Path, number: int, kind: str) -> Path:
    """What a kill left beside a folder."""
    return out.with_name(f".{out.name}.{number:032x}.{kind}")


def works(folder: Path) -> bool:
    for name in ("a", "b"):
        (folder / name).mkdir()
    done = exchange(folder / "a", folder / "b")
    for name in ("a", "b"):
        (folder / name).rmdir()
    return done


def test_leftovers_of_kills_are_cleared(tmp_path):
    out = tmp_path / "result"
    write_folder(out, OLD, force=False)
    begun, fresh, old, gone = (
        left(out, number, kind) for number, kind in enumerate(("new", "new", "old", "gone"))
    )
    other = left(tmp_path / "results", 4, "old")
    for folder in (begun, fresh, old, gone, other):
        folder.mkdir()
    os.utime(begun, (0, 0))
    write_folder(out, NEW, force=True, replaceable=OLD)
    # One that is being written right now stays, and so does another folder's.
    assert set(tmp_path.iterdir()) == {fresh, other, out}


@pytest.mark.parametrize("there", [True, False])
def test_another_folder_whose_name_goes_on_keeps_what_a_kill_left(tmp_path, there):
    """The result of `result.v2`, aside, is neither taken for that of `result` nor deleted."""
    out, other = tmp_path / "result", tmp_path / "result.v2"
    if there:
        write_folder(out, OLD, force=False)
    write_folder(other, NEW, force=False)
    aside = other.rename(left(other, 1, "old"))
    gone, mine = left(other, 2, "gone"), tmp_path / ".result.mine.old"
    gone.mkdir()
    mine.mkdir()
    assert not restore_folder(out)
    assert set(tmp_path.iterdir()) == {aside, gone, mine, *([out] if there else [])}
    assert restore_folder(other)
    assert contents(other) == NEW


def test_names_with_signs_of_patterns(tmp_path):
    out = tmp_path / "a[b]*"
    write_folder(out, OLD, force=False)
    out.rename(left(out, 1, "old"))
    assert restore_folder(out)
    assert contents(out) == OLD


@pytest.mark.parametrize("code", exchange_module.UNSUPPORTED)
def test_a_system_that_cannot_exchange(tmp_path, monkeypatch, code):
    monkeypatch.setattr(exchange_module.ctypes, "CDLL", lambda *_, **__: Libc(code))
    monkeypatch.setattr(exchange_module.ctypes, "get_errno", lambda: code)
    out = tmp_path / "result"
    write_folder(out, OLD, force=False)
    write_folder(out, NEW, force=True, replaceable=OLD)
    assert contents(out) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_an_exchange_that_fails_is_one_sentence(tmp_path):
    out = tmp_path / "result"
    write_folder(out, OLD, force=False)
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "not there", out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "exchange", lambda first, second: exchange(tmp_path / "not there", second))
        with pytest.raises(InputError, match="cannot be written"):
            write_folder(out, NEW, force=True, replaceable=OLD)
    assert contents(out) == OLD


class Libc:
    """A C library without, or with a failing, renameat2."""

    def __init__(self, code: int) -> None:
        self.renameat2 = lambda *_: -1


SMALL = ("--d1", "5", "--k", "2", "--sizes", "4", "--members", "1", "--tuning", "1", "--width", "10")
SEPARATION = ("theory", "separation", *SMALL, "--epochs", "2")


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "resnet-cube:n=40"),
        ("compare", "resnet-cube:n=40"),
        ("memorise", "resnet-cube:n=40"),
        ("reproduce", "fine-grained/figure-1"),
        SEPARATION,
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_second_run_for_a_folder_is_refused_before_its_work(widenet, arguments, monkeypatch):
    """Whatever its store is; the first one is named."""
    monkeypatch.setattr("widenet.study.progress.Console", None)  # nothing is begun
    figure = figures_by_name()[0].full_name
    arguments = ("reproduce", figure) if arguments[0] == "reproduce" else arguments
    with only_run(Path("result")):
        code, out, err = widenet(*arguments, "--out", "result")
    assert (code, out) == (2, "")
    assert err.startswith(f"widenet: Another run (process {os.getpid()}")
    assert err.endswith("is writing result: wait until it ends, or choose another --out.\n")
    assert len(err.splitlines()) == 1
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("command", ["audit", "reproduce"])
def test_what_another_run_has_put_aside_stays_there(widenet, command):
    """Only who holds the folder restores it: the other one may be between its two steps."""
    subject = "resnet-cube:n=40" if command == "audit" else figures_by_name()[0].full_name
    aside = left(Path("result"), 1, "old")
    with only_run(Path("result")):
        aside.mkdir()
        code, _, err = widenet(command, subject, "--out", "result")
        assert (code, "Another run" in err, "restored" in err) == (2, True, False)
        assert aside.exists()
    code, _, err = widenet("audit", "resnet-cube:n=40", "--out", "result")
    assert (code, "The result in result was restored" in err) == (2, True)


def test_a_run_with_other_settings_is_told_what_differs(widenet):
    """The store that an earlier run kept is of no use to it, and stays."""
    arguments = ("--store", "runs.store", "-q", "--out")
    assert widenet(*SEPARATION, *arguments, "first")[0] == 0
    code, _, err = widenet(*SEPARATION[:-1], "3", *arguments[:2], "--out", "second")
    assert code == 0
    assert "runs.store holds work of another run, so this one starts afresh: --epochs was 2 and is 3." in err


def test_the_command_tells_of_a_restored_result(widenet):
    arguments = (*SEPARATION, "--out", "result", "-q")
    assert widenet(*arguments)[0] == 0
    Path("result").rename(left(Path("result"), 1, "old"))
    code, _, err = widenet(*arguments)
    assert code == 2
    assert "The result in result was restored" in err
    assert "already exists" in err
    shutil.rmtree("result")
