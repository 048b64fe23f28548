"""Stores with bytes flipped, cut, blanked and moved: what is read is what was written, or nothing."""

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fuzz.report import FuzzReport
from widenet.base.errors import WidenetError
from widenet.runs.store import Store
from widenet.runs.tables import Row
from widenet.runs.trial import Trial, TrialResult

NUM_TRIALS, NUM_STATES = 12, 3
PAGE = 4096  # bytes, SQLite's unit
BUDGET = 10.0  # seconds for one store

TRIALS = [Trial({"place": place}, "code", "data") for place in range(NUM_TRIALS + NUM_STATES)]

Mutation = Callable[[bytearray, np.random.Generator], bytearray]


def record_of(place: int) -> dict[str, object]:
    """What a trial found."""
    return {"place": place, "numbers": [0.1 * place + k for k in range(place * 20)]}


def array_of(place: int) -> np.ndarray:
    """What an unfinished trial holds: several pages."""
    return np.random.default_rng(place).normal(size=1000 * (1 + place % 3))


def write_store(path: Path) -> None:
    """A store of finished trials, and of states of others."""
    with Store(path) as store:
        finished = TRIALS[:NUM_TRIALS]
        store.commit([Row.of(each, TrialResult(record_of(k))) for k, each in enumerate(finished)])
        for k in range(NUM_TRIALS, len(TRIALS)):
            store.save_state(TRIALS[k], {"W": array_of(k)}, {"step": k})


def flipped(content: bytearray, generator: np.random.Generator) -> bytearray:
    """Some bits of some bytes changed."""
    for place in generator.integers(len(content), size=generator.integers(1, 9)):
        content[place] ^= 1 << int(generator.integers(8))
    return content


def cut(content: bytearray, generator: np.random.Generator) -> bytearray:
    """The end missing, from the border of a page or from anywhere."""
    end = int(generator.integers(1, len(content)))
    return content[: end // PAGE * PAGE or end] if generator.random() < 0.5 else content[:end]


def blanked(content: bytearray, generator: np.random.Generator) -> bytearray:
    """A page of zeros, or of ones."""
    start = int(generator.integers(len(content) // PAGE)) * PAGE
    content[start : start + PAGE] = bytes([int(generator.choice([0, 255]))]) * PAGE
    return content


def moved(content: bytearray, generator: np.random.Generator) -> bytearray:
    """One page in the place of another."""
    source, target = (int(place) * PAGE for place in generator.integers(len(content) // PAGE, size=2))
    content[target : target + PAGE] = content[source : source + PAGE]
    return content


def overwritten(content: bytearray, generator: np.random.Generator) -> bytearray:
    """A stretch of random bytes."""
    start, size = int(generator.integers(len(content))), int(generator.integers(1, 300))
    content[start : start + size] = generator.bytes(len(content[start : start + size]))
    return content


MUTATIONS: tuple[Mutation, ...] = (flipped, cut, blanked, moved, overwritten)


def read_store(path: Path) -> tuple[str, list[str]]:
    """How a store was opened, and every promise that was broken on the way."""
    broken = []
    try:
        with Store(path) as store:
            kept = 0
            for place, trial in enumerate(TRIALS):
                result, state = store.get(trial), store.load_state(trial)
                if result is not None and result.record != record_of(place):
                    broken.append(f"trial {place} has another record")
                if state is not None and not np.array_equal(state.arrays["W"], array_of(place)):
                    broken.append(f"the state of trial {place} has other numbers")
                kept += result is not None or state is not None
            outcome = "whole" if kept == len(TRIALS) else "salvaged" if kept else "opened empty"
    except WidenetError:
        outcome = "refused"
    except Exception as error:
        outcome = "error"
        broken.append(f"{type(error).__name__}: {error}")
    return outcome, broken


def run(count: int, seed: int) -> FuzzReport:
    """Damage as many copies of one store."""
    start = time.perf_counter()
    generator = np.random.default_rng(seed)
    outcomes: Counter[str] = Counter()
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_store(folder / "sound.store")
        sound = (folder / "sound.store").read_bytes()
        for place in range(count):
            mutate = MUTATIONS[int(generator.integers(len(MUTATIONS)))]
            (folder / "one").mkdir()
            path = folder / "one" / "damaged.store"
            path.write_bytes(mutate(bytearray(sound), generator))
            begin = time.perf_counter()
            outcome, broken = read_store(path)
            if time.perf_counter() - begin > BUDGET:
                broken.append(f"took more than {BUDGET:g} s")
            outcomes[outcome] += 1
            failures += [f"store {place} of seed {seed}, {mutate.__name__}: {each}" for each in broken]
            shutil.rmtree(folder / "one")
    return FuzzReport("stores", count, dict(outcomes), failures, time.perf_counter() - start)
