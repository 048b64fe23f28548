"""Images that need no download, and trials with made-up records, as jobs write them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from widenet.data import Dataset, load, subset, with_labels
from widenet.papers.claim import judged_claim
from widenet.papers.figure import Done, Figure
from widenet.papers.jobs import images
from widenet.papers.jobs.networks import SETTINGS
from widenet.papers.verdict import Verdict
from widenet.runs.trial import Record, TrialResult
from widenet.training.run import Moved, TrainingRun
from widenet.training.settings import TrainingSettings

NUM_TRAIN = {True: 250, False: 1200}  # of two classes, and of all


def digits(data: str) -> tuple[Dataset, Dataset]:
    """Small digits in place of a built-in set of images: two classes for names that end in 2."""
    whole, two = load("digits"), data.endswith("-2")
    if two:
        some = replace(subset(whole, (whole.labels < 2).nonzero()[:, 0]), classes=("0", "1"))
        whole = with_labels(some, some.labels)
    rows = range(whole.n)
    split = NUM_TRAIN[two]
    return tuple(subset(whole, whole.rows.new_tensor(part)) for part in (rows[:split], rows[split:]))


@pytest.fixture
def small_images(monkeypatch):
    """Let jobs see digits of 8 × 8 pixels for every set of images."""
    sets = {}
    monkeypatch.setattr(images, "whole_set", lambda data: sets.setdefault(data, digits(data)))
    images._eigenvectors.cache_clear()
    yield lambda data: images.whole_set(data)
    images._eigenvectors.cache_clear()


@pytest.fixture
def network_record() -> Callable[..., dict[str, Any]]:
    """What training the network of a trial might have left, by its test errors."""

    def made(
        trial: Record,
        test: Sequence[float],
        *,
        train: Sequence[float] = (),
        validation: Sequence[float] = (),
        frobenius: float = 1.0,
        two_four: float = 1.0,
        diverged: bool = False,
    ) -> dict[str, Any]:
        run = TrainingRun(
            network=trial["network"],
            width=trial["width"],
            settings=TrainingSettings.from_dict({name: trial[name] for name in SETTINGS}),
            epochs=tuple(range(len(test))),
            train_loss=tuple(train or test),
            train_error=tuple(train or test),
            test_error=tuple(test),
            test_misclassified=None,
            sign_changes={},
            moved={} if diverged else {"W": Moved(frobenius, two_four, 1.0, 1.0, 1.0, 1.0)},
            diverged=diverged,
            seconds=0.0,
            validation_error=tuple(validation or test),
        )
        return run.to_dict()

    return made


@pytest.fixture
def kernel_record() -> Callable[[Record, float], dict[str, Any]]:
    """What fitting the kernel of a trial might have left, with the same error at all ridges and times."""

    def made(trial: Record, error: float) -> dict[str, Any]:
        ridges = [error for _ in trial["decays"]]
        held_out = {
            "ridge": {"held_out": [ridges, ridges]},
            "flow": {"points": [1.0], "held_out": [[error], [error]]},
        }
        return {"decays": trial["decays"], "converged": True, **held_out}

    return made


@pytest.fixture
def verdicts() -> Callable[..., list[Verdict]]:
    """Verdicts on a figure's claims where a function makes the record of each trial; None is a failure."""

    def found(figure: Figure, settings: Any, record_of: Callable[[Record], Any]) -> list[Verdict]:
        trials = [trial for batch in figure.plan(settings) for trial in batch]
        records = [record_of(trial) for trial in trials]
        results = [None if record is None else TrialResult(record) for record in records]
        curves = figure.curves(settings, list(map(Done, trials, results)))
        by_name = {curve.name: curve for curve in curves}
        return [judged_claim(claim, settings, by_name).verdict for claim in figure.claims]

    return found
