"""Memorising as trials: against the methods themselves, and resumed."""

import pytest
import torch

from widenet.memorise.experiments import InputWay, image_problem, synthetic_problem
from widenet.memorise.methods.adam import AdamRecipe
from widenet.networks.quadratic import quadratic_outputs
from widenet.papers.jobs.job import Desk, figure_trial
from widenet.papers.jobs.memorising import (
    IMAGES,
    SYNTHETIC,
    ImageTask,
    image_trial,
    memorise_images,
    memorise_synthetic,
    synthetic_trial,
)
from widenet.runs import Store, kept
from widenet.runs.tables import Row
from widenet.study.speed import Speed

SPEED = Speed(single=1e11, double=5e10, bytes=1e10)
RECIPE = AdamRecipe(epochs=4, batch=16)


def small(**changes) -> ImageTask:
    """60 images, two layers of 40 neurons."""
    values = {"n": 60, "num_test": 30, "portion": 0.0, "components": 0, "noise": 0.01, "k": 0, "std": 0.0}
    return ImageTask(**{**values, "r": 40, "seed": 2, **changes})


def one(work, trial):
    (result,) = work([trial], Desk())
    return result.record


def test_plain_descent_on_random_rows():
    record = one(memorise_synthetic, synthetic_trial(20, 10, 30, 2.0, 60, 1))
    problem = synthetic_problem(20, 10, 30, 1)
    assert record["steps"] == list(range(5, 61, 5))
    assert record["loss"][0] <= float(problem.y.square().mean())
    assert record["last"] < record["loss"][-1] < record["loss"][0]


def test_the_recipe_on_images(small_images):
    """Its records and test error against the method, step by step, and outputs by their formula."""
    record = one(memorise_images, image_trial(small(), RECIPE))
    train, test = small_images("mnist")
    problem = image_problem(train.X[:60], train.labels[:60].double(), 40, InputWay(noise=0.01), 2)
    state = RECIPE.start(problem)
    for _ in range(4):
        state = RECIPE.advance(problem, state)
    W = RECIPE.weights(problem, state)
    recorded = state["recorded"].tolist()
    assert record["steps"] == [5, 10, 15]
    assert record["loss"] == pytest.approx([sum(recorded[: i + 1]) / (i + 1) for i in range(3)])
    outputs = (test.X[:30] @ W).square() @ torch.tensor([1.0] * 20 + [-1.0] * 20, dtype=torch.float64)
    clean = float((outputs - test.labels[:30]).square().mean())
    assert record["test_clean"] == pytest.approx(clean)
    assert record["test_perturbed"] != record["test_clean"]
    delta = quadratic_outputs(problem.Z, W) - problem.y
    assert record["last"] == pytest.approx(float(delta.square().sum()) / 240, rel=1e-4)


@pytest.mark.usefixtures("small_images")
def test_three_layers_and_random_labels():
    three = small(components=10, noise=0.05, k=20, std=0.15)
    record = one(memorise_images, image_trial(three, RECIPE))
    random = one(memorise_images, image_trial(ImageTask(**{**vars(three), "portion": 1.0}), RECIPE))
    assert record["loss"] != random["loss"]
    assert all(value > 0 for value in (*record["loss"], *random["loss"]))


@pytest.mark.usefixtures("small_images")
def test_a_killed_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "EVERY", 0.0)
    trial = image_trial(small(), RECIPE)
    whole = one(memorise_images, trial)

    class Dying(Desk):
        calls = 0

        def look_up(self) -> None:
            type(self).calls += 1
            if self.calls == 4:
                raise InterruptedError

    with pytest.raises(InterruptedError):
        list(memorise_images([trial], Dying(tmp_path / "runs.store")))
    with Store(tmp_path / "runs.store") as store:
        assert store.num_unfinished() == 1
    (result,) = memorise_images([trial], Desk(tmp_path / "runs.store"))
    assert result.record == whole
    with Store(tmp_path / "runs.store") as store:
        mine = figure_trial(trial)
        assert store.load_state(mine) is not None  # a kill here costs nothing that was computed
        store.commit([Row.of(mine, result)])
        assert store.load_state(mine) is None


def test_many_records_are_thinned_and_the_last_is_kept():
    record = one(memorise_synthetic, synthetic_trial(6, 5, 12, 0.5, 1103, 1))
    assert len(record["steps"]) == len(record["loss"]) <= 200
    assert record["steps"][-1] == 1100


def test_costs_grow_with_the_work():
    seconds = SYNTHETIC.seconds([synthetic_trial(20, 10, 30, 2.0, 60, 1)], SPEED)
    assert SYNTHETIC.seconds([synthetic_trial(20, 10, 30, 2.0, 120, 1)], SPEED) == pytest.approx(2 * seconds)
    two, three = (image_trial(small(components=c, k=k), RECIPE) for c, k in ((0, 0), (10, 20)))
    assert IMAGES.seconds([two], SPEED) > IMAGES.seconds([three], SPEED) > 0
