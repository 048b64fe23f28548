"""Thousands of lies about small certificates, of which none may be believed.

Every hash is recomputed after every lie, so that only the mathematics can refute it. What is true is decided
by `fuzz.oracle`, in exact arithmetic. Fails on a false certificate that is verified, on a true one that is
refuted, on any error that is not told in a sentence, and on a check that takes too long.

    python -m fuzz.certificates 2000 0
"""

import copy
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save as save_tensors

from fuzz import mutations
from fuzz.forgery import Forgery
from fuzz.mutations import Lie
from fuzz.oracle import Data, Facts, facts_of, offences
from fuzz.report import FuzzReport
from widenet.base.errors import InputError
from widenet.data import load
from widenet.memorise.checker.verify import VerifyResult, verify
from widenet.memorise.run import run_memorise
from widenet.memorise.settings import MemoriseSettings

BUDGET = 5.0  # seconds of a processor for one check; they take some hundredths
SHOWN = 20  # failures that are told in full
NO_CLAIM = "too large to compute with"  # refused for its size alone, which is neither true nor false
Problem = tuple[int, int, bool, dict[str, Any]]  # rows, columns, whether targets are numbers, settings
PROBLEMS: dict[str, Problem] = {
    "two layers": (9, 3, False, {"layers": 2}),
    "numbers": (6, 4, True, {"layers": 2}),
    "three layers": (12, 3, False, {"layers": 3}),
    "perturbed": (10, 2, False, {"layers": 3, "perturb": 0.1, "seed": 5}),
}


@dataclass(frozen=True)
class Original:
    """A true certificate to start from."""

    folder: Forgery
    lie: Lie


def run(count: int, seed: int) -> FuzzReport:
    """Try `count` lies, each of which follows from `seed` and its number alone."""
    start, outcomes, failures = time.perf_counter(), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("error")
        originals = [_original(Path(place), name) for name in PROBLEMS]
        for number in range(count):
            outcome, failure = _try(originals[number % len(originals)], [seed, number])
            outcomes[outcome] += 1
            failures += [f"lie {number} of seed {seed}: {failure}"] if failure else []
    return FuzzReport("certificates", count, dict(outcomes), failures, time.perf_counter() - start)


def _original(place: Path, name: str) -> Original:
    n, d, numbers, settings = PROBLEMS[name]
    rng = np.random.default_rng(len(name))
    y = rng.normal(size=n) if numbers else np.array(list("abc"))[np.arange(n) % 3]
    source = place / f"{name}.npz"
    np.savez(source, X=rng.normal(size=(n, d)), y=y)
    dataset = load(str(source))
    run_memorise(dataset, MemoriseSettings(**settings)).save(place / name)
    folder = Forgery(place / name)
    folder.forge_weights(save_tensors(folder.tensors()))  # as it will be written after each lie
    (folder.path / "report.html").write_text("short, so that hashing it takes no time")
    targets = dataset.Y[:, 0] if dataset.labels is None else dataset.labels
    data = Data(dataset.X.numpy(), targets.numpy().astype(float), is_classes=dataset.labels is not None)
    return Original(folder, Lie(folder.record(), folder.tensors(), data))


def _try(original: Original, seed: list[int]) -> tuple[str, str]:
    """The outcome of one lie, and what was wrong with it; empty where nothing was."""
    rng = np.random.Generator(np.random.PCG64(seed))
    lie = copy.deepcopy(original.lie)
    with np.errstate(all="ignore"):
        told = "; ".join(mutation(lie, rng) for mutation in _chosen(rng))
    folder = original.folder
    folder.weights.write_bytes(lie.packed())
    folder.sign(lie.record)
    start = time.process_time()
    try:
        found = verify(folder.path)
    except InputError:
        return "input", ""
    except Exception as error:
        return "error", f"{type(error).__name__}: {error} ({told})"
    if time.process_time() - start > BUDGET:
        return "slow", f"took {time.process_time() - start:.1f} s ({told})"
    outcome = "verified" if found.verified else "refuted" if found.refuted else "undecided"
    failure = _judged(lie, found)
    return outcome, f"{failure} ({told})" if failure else ""


def _chosen(rng: np.random.Generator) -> list[mutations.Mutation]:
    """A few lies: about claims, or weights and then perhaps honest claims about those, or the form."""

    def some(from_these: tuple[mutations.Mutation, ...], most: int) -> list[mutations.Mutation]:
        return [from_these[i] for i in rng.integers(len(from_these), size=int(rng.integers(1, most + 1)))]

    kind = rng.random()
    if kind < 0.35:
        return some(mutations.CLAIMING, 2)
    if kind < 0.85:
        measured = [mutations.honest_measures] if rng.random() < 0.6 else []
        claims = some(mutations.CLAIMING, 1) if rng.random() < 0.4 else []
        return [*some(mutations.CHANGING, 2), *measured, *claims]
    return [*(some(mutations.CLAIMING, 1) if rng.random() < 0.3 else []), *some(mutations.SHAPING, 1)]


def _judged(lie: Lie, found: VerifyResult) -> str:
    """What is wrong with a verdict; empty where nothing is."""
    if found.verified and not lie.well_formed:
        return "verified, although it is no certificate"
    if not lie.well_formed or not (found.verified or found.refuted):
        return ""
    try:
        off = offences(lie.record, _facts(lie), lie.data)
    except (OverflowError, ValueError):  # a claim that is not finite
        return "verified, although a claim is no number" if found.verified else ""
    worst = max(off, key=lambda name: off[name])
    if found.verified and off[worst] > 1:
        return f"verified, although {worst} is off {off[worst]:.4g} times what is allowed"
    sentences = [check.sentence for check in found.checks if check.status.value == "failed"]
    if found.refuted and off[worst] < 1 and not any(NO_CLAIM in each for each in sentences):
        return f"refuted, although everything is true: {sentences[0]}"
    return ""


def _facts(lie: Lie) -> Facts:
    data, network = lie.record["data"], lie.record["network"]
    X = lie.data.inputs(data["noise"], data["seed"])
    arrays = (lie.tensors["W"], lie.tensors.get("R"), X, lie.data.y)
    frozen = tuple(None if each is None else (each.tobytes(), each.shape) for each in arrays)
    return _frozen_facts(frozen, network["power"], network["scale"])


@cache
def _frozen_facts(arrays: tuple[Any, ...], power: int, scale: float) -> Facts:
    """The facts of arrays as bytes and shapes: most lies are about the same weights."""
    thawed: list[Any] = [None if each is None else np.frombuffer(each[0]).reshape(each[1]) for each in arrays]
    W, R, X, y = thawed
    return facts_of(W, R, power, scale, X, y)


if __name__ == "__main__":
    report = run(*map(int, sys.argv[1:3]))
    print(f"{report.tried} tried in {report.seconds:.0f} s: {report.outcomes}")
    print("\n".join(report.failures[:SHOWN]))
    sys.exit(bool(report.failures))
