"""Real runs, killed, resumed, killed again and brought to their end: nothing is lost, nothing differs.

Each run is a process forked from this one, which has imported everything: a kill costs the work alone. It
dies before or inside a step that changes the disk (a statement of SQLite, a rename, a flush), or at a random
time. Afterwards the same command goes on. A trial that the store holds is never run again, a state is gone on
from, and the folder at the end is that of a run that nobody disturbed, byte by byte but for times.
"""

import csv
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fuzz.dying import Dying, Moment
from fuzz.report import FuzzReport
from widenet import cli, training
from widenet.data import load
from widenet.memorise.methods import adam, pgd
from widenet.networks.fully_connected import ThreeLayers
from widenet.report.parts.files import RESULT_FILE, to_json, write_folder
from widenet.runs import Store, checkpoints, kept, trials
from widenet.runs.records import unpack_json
from widenet.runs.store import beside
from widenet.runs.trial import Trial
from widenet.training.settings import TrainingSettings

MOST_KILLS = 5  # of one run before it may end
INSIDE = (1e-5, 2e-2)  # seconds: as long as steps take, in memory and on a disk
OUT = Path("out")
STORE = beside(OUT).name
# Entries of a record that tell of the clock or of the memory at hand, and hashes of files that do.
TIMES = {"seconds", "forecast", "gram", "report.html", "result.json"}


@dataclass(frozen=True)
class Scenario:
    """A run to be killed.

    Attributes:
        name: Of the study, and how it is run.
        begin: Runs it, in a folder of its own, and leaves the folder `OUT`.
        arguments: Of the command, where it is one.
    """

    name: str
    begin: Callable[..., None]
    arguments: tuple[str, ...] = field(default=())


def _command(*arguments: str) -> None:
    sys.argv = ["widenet", *arguments, "--out", str(OUT), "--force", "-q"]
    cli.main()


def _sweep(*_arguments: str) -> None:
    data = load("resnet-cube:n=24")
    grid = [TrainingSettings(rate=rate, epochs=6, seed=seed) for rate in (0.01, 0.1) for seed in range(6)]
    with Store(STORE) as store:
        runs = training.sweep(ThreeLayers(8, "hidden"), data, grid, store=store)
    write_folder(OUT, {RESULT_FILE: to_json({"runs": [run.to_dict() for run in runs]})}, force=True)


def _memorise(method: str) -> tuple[str, ...]:
    return ("memorise", "rows.npz", "--method", method, "--layers", "2", "--seed", "3")


SCENARIOS = (
    Scenario("sweep", _sweep),
    Scenario(
        "compare",
        _command,
        arguments=("compare", "resnet-cube:n=30", "--methods", "ridge,gaussian", "--folds", "2"),
    ),
    Scenario("memorise by pgd", _command, arguments=_memorise("pgd")),
    Scenario("memorise by adam", _command, arguments=_memorise("adam")),
    Scenario("audit", _command, arguments=("audit", "resnet-cube:n=30")),
)


def run(count: int = 200, seed: int = 0) -> FuzzReport:
    """Kill runs so many times, all scenarios in turn."""
    begin, rng = time.perf_counter(), np.random.default_rng(seed)
    torch.set_num_threads(1)  # none of torch's threads may be there when a process is forked
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        trails = [Trail(scenario, Path(folder) / scenario.name) for scenario in SCENARIOS]
        turn = 0
        while sum(outcomes[name] for name in outcomes if name.startswith("killed")) < count:
            trail, turn = trails[turn % len(trails)], turn + 1
            for outcome in trail.follow(rng):
                outcomes[outcome] += 1
            failures += trail.failures
            trail.failures.clear()
    num_killed = sum(number for name, number in outcomes.items() if name.startswith("killed"))
    return FuzzReport("kills", num_killed, dict(outcomes), failures, time.perf_counter() - begin)


class Trail:
    """One scenario, run once undisturbed and then killed on its way again and again."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario, self.folder, self.failures = scenario, folder, list[str]()
        folder.mkdir()
        _prepare(folder)
        start = time.perf_counter()
        self.code: int | None = None
        _, self.num_steps = self._forked(folder, Moment())
        self.seconds = time.perf_counter() - start
        self.expected = contents(folder / OUT)

    def follow(self, rng: np.random.Generator) -> Iterator[str]:
        """Kill a run up to `MOST_KILLS` times and let it end; how each of its processes ended."""
        place = Path(tempfile.mkdtemp(dir=self.folder))
        _prepare(place)
        told: list[str] = []
        if rng.random() < 0.3:  # an earlier result is there to be replaced
            shutil.copytree(self.folder / OUT, place / OUT)
        for _ in range(int(rng.integers(1, MOST_KILLS + 1))):
            moment = self._moment(rng)
            told.append(moment.told())
            killed, _ = self._watch(place, moment, told)
            yield f"killed: {self.scenario.name}" if killed else "ended before the kill"
            if not killed:
                break
        else:
            self._watch(place, Moment(), told)
            yield "resumed to the end"
        if contents(place / OUT) != self.expected:
            self._fail(told, f"the result differs in {differing(contents(place / OUT), self.expected)}")
        left = {path.name for path in place.iterdir()} - {"rows.npz", "log", OUT.name, STORE, "told"}
        if any(not name.startswith(".out.") for name in left):
            self._fail(told, f"it left {sorted(left)}")
        shutil.rmtree(place)

    def _moment(self, rng: np.random.Generator) -> Moment:
        step = int(rng.integers(1, self.num_steps + 1))
        kind = rng.random()
        if kind < 0.2:
            return Moment(time=float(rng.uniform(0, self.seconds)))
        return Moment(step, None if kind < 0.5 else float(np.exp(rng.uniform(*np.log(INSIDE)))))

    def _watch(self, place: Path, moment: Moment, told: list[str]) -> tuple[bool, int]:
        """Run on, and check that what was finished before is not run again."""
        finished, step = self._in_store(place)
        (place / "log").unlink(missing_ok=True)
        killed, num_steps = self._forked(place, moment)
        lines = (place / "log").read_text().split() if (place / "log").exists() else []
        again = finished & {line for line in lines if not line.startswith("step=")}
        if again:
            self._fail(told, f"{len(again)} finished trials were run again")
        starts = [int(line.removeprefix("step=")) for line in lines if line.startswith("step=")]
        if starts and starts[0] != step:
            self._fail(told, f"a state at step {step} was there, and it began at {starts[0]}")
        return killed, num_steps

    def _in_store(self, place: Path) -> tuple[set[str], int]:
        """Keys of the trials that a copy of the store holds, and the step of its state."""
        if not (place / STORE).exists():
            return set(), 0
        copy = place / "copy"
        copy.mkdir()
        for path in place.glob(f"{STORE}*"):
            shutil.copy(path, copy)
        finished, steps = set(), [0]
        with Store(copy / STORE) as store:
            if store.damaged:
                self._fail([], f"the store was damaged: {store.damaged}")
            for trial in (Trial(**unpack_json(identity)) for identity in store.identities()):
                state = store.load_state(trial)
                if store.get(trial) is not None:
                    finished.add(trial.key)
                if state is not None and "step" in state.arrays:
                    steps.append(int(state.arrays["step"]))
        shutil.rmtree(copy)
        return finished, max(steps)

    def _forked(self, place: Path, moment: Moment) -> tuple[bool, int]:
        """Whether a process of its own was killed, and how many steps it took otherwise."""
        child = os.fork()
        if child == 0:
            _live(self.scenario, place, moment)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return True, 0
        told = json.loads((place / "told").read_text())
        self.code = told["code"] if self.code is None else self.code  # that of the undisturbed run
        if told["code"] != self.code:
            self._fail([moment.told()], f"exit code {told['code']}: {told['error']}")
        return False, told["num_steps"]

    def _fail(self, told: list[str], what: str) -> None:
        self.failures.append(f"{self.scenario.name}, killed {', then '.join(told)}: {what}")


def _live(scenario: Scenario, place: Path, moment: Moment) -> None:
    """All that the forked process does; it never returns."""
    code, error = 0, ""
    try:
        os.chdir(place)
        with open("err", "w") as err:
            os.dup2(err.fileno(), 2)
            os.dup2(err.fileno(), 1)
        _log_work()
        dying = Dying(moment)
        dying.arm()
        try:
            scenario.begin(*scenario.arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException as unexpected:
            code, error = 1, repr(unexpected)
        dying.moment = Moment()
        error = error or Path("err").read_text()[-300:]
        Path("err").unlink()
        Path("told").write_text(json.dumps({"code": code, "error": error, "num_steps": dying.num_steps}))
    finally:
        os._exit(0)


def _log_work() -> None:
    """Keep states all the time; write down every trial that is run, and every state that is gone on from."""
    kept.EVERY, pgd.MOST, adam.PIECE_FLOPS = 0.0, 10, 1e5
    checkpoints.EVERY, checkpoints.SHORT, checkpoints.MOST_SHARE = 0.0, 0.0, 1e9
    run_group, begin = trials._run_group, kept.KeptState.__init__

    def logged(work: Any, claimed: Any) -> Any:
        _log(*(trial.key for trial in claimed))
        return run_group(work, claimed)

    def started(self: kept.KeptState, store: Any, trial: Any) -> None:
        begin(self, store, trial)
        arrays = {} if self.earlier is None else self.earlier.arrays
        _log(f"step={int(arrays['step']) if 'step' in arrays else 0}")

    trials._run_group, kept.KeptState.__init__ = logged, started  # type: ignore[assignment, method-assign]


def _log(*words: str) -> None:
    with open("log", "a") as file:
        file.write("".join(f"{word}\n" for word in words))


def _prepare(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 12))
    np.savez(folder / "rows.npz", X=X, y=np.array(list("abcd"))[np.arange(60) % 4])


def contents(folder: Path) -> dict[str, Any]:
    """Files by name, without times; pages are made from the records, times and all, and are left out."""
    found: dict[str, Any] = {}
    for path in folder.iterdir() if folder.exists() else ():
        if path.suffix == ".json":
            found[path.name] = _timeless(json.loads(path.read_text()))
        elif path.suffix == ".csv":
            rows = list(csv.DictReader(path.read_text().splitlines()))
            found[path.name] = [{name: row[name] for name in row if name not in TIMES} for row in rows]
        elif path.suffix != ".html":
            found[path.name] = path.read_bytes()
    return found


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(each) for name, each in value.items() if name not in TIMES}
    return [_timeless(each) for each in value] if isinstance(value, list) else value


def differing(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """Names of the files that are not the same."""
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


if __name__ == "__main__":
    report = run(*map(int, sys.argv[1:]))
    print(f"{report.tried} kills in {report.seconds:.0f} s: {report.outcomes}")
    print("\n".join(report.failures) or "Nothing was lost, and nothing differs.")
    sys.exit(bool(report.failures))
