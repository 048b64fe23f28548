"""Descent on images as trials: labels, records, states; against calling `descend` and brute force."""

import pytest
import torch
from torch.testing import assert_close

from widenet.networks.two_layer import draw_fine_grained, fine_grained_gradient, fine_grained_outputs
from widenet.papers.jobs import images
from widenet.papers.jobs.descents import DESCENTS, descent_trial, run_descents
from widenet.papers.jobs.images import (
    TEST_LABELS,
    TRAIN_LABELS,
    image_projections,
    image_rows,
    signs_of,
)
from widenet.papers.jobs.job import Desk, figure_trial, job_of
from widenet.papers.jobs.label_noise import fit_noisy_labels, noise_trial
from widenet.papers.jobs.spectra import find_spectra, index_bins, spectrum_trial
from widenet.runs import Store, kept
from widenet.runs.tables import Row
from widenet.study.speed import Speed

pytestmark = pytest.mark.usefixtures("small_images")
SPEED = Speed(single=1e11, double=5e10, bytes=1e10)


def one(work, trial):
    (result,) = work([trial], Desk())
    return result.record


def small(portion, **changes):
    return {**descent_trial("mnist-2", 40, 30, portion, 100, 0.5, 0.1, 12, 3), **changes}


def test_a_descent_is_the_plain_recursion_on_the_first_images(small_images):
    record = one(run_descents, small(0.0))
    train, test = small_images("mnist-2")
    X, y = train.X[:40], train.Y[:40, 0]
    params = draw_fine_grained(100, 64, 0.5, generator=torch.Generator().manual_seed(3))
    losses, errors = [], []
    for _ in range(13):
        losses.append(float((y - fine_grained_outputs(params, X)).square().mean()))
        u = fine_grained_outputs(params, test.X[:30])
        errors.append(float((test.Y[:30, 0] - u).abs().mean()))
        params = type(params)(W=params.W - 0.1 * fine_grained_gradient(params, X, y), a=params.a)
    steps = record["steps"]
    assert (steps[0], steps[-1]) == (0, 12)
    assert record["loss"] == pytest.approx([losses[step] for step in steps], rel=1e-4)
    assert record["l1_errors"] == pytest.approx([errors[step] for step in steps], rel=1e-4)
    assert not record["diverged"]


def test_a_portion_of_both_kinds_of_labels_is_drawn_anew():
    train, test = image_rows("mnist-2", 250, 100)
    for rows, stream in ((train, TRAIN_LABELS), (test, TEST_LABELS)):
        redrawn = rows.redrawn(0.5, 0, stream)
        assert float((redrawn != rows.labels).double().mean()) == pytest.approx(0.25, abs=0.12)
        assert torch.equal(rows.redrawn(0.0, 0, stream), rows.labels)
    assert not torch.equal(train.redrawn(1.0, 0, 1), train.redrawn(1.0, 1, 1))
    assert signs_of(train.labels).unique().tolist() == [-1.0, 1.0]
    assert signs_of(torch.tensor([0, 1])).tolist() == [1.0, -1.0]


def test_worst_labels_are_fitted_slowest_and_have_no_test_rows():
    true, random, worst = (one(run_descents, small(portion, eta=0.2)) for portion in (0.0, 1.0, None))
    assert true["loss"][-1] < random["loss"][-1] < worst["loss"][-1]
    assert worst["loss"][0] == pytest.approx(1, abs=0.3)  # ‖y‖ = √n, and small outputs
    assert "l1_errors" in true
    assert "l1_errors" not in worst
    assert "l1_errors" not in one(run_descents, small(0.0, num_test=0))


def test_a_killed_descent_goes_on_and_leaves_no_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "EVERY", 0.0)
    trial, whole = small(1.0), one(run_descents, small(1.0))

    class Dying(Desk):
        calls = 0

        def look_up(self) -> None:
            type(self).calls += 1
            if self.calls == 6:
                raise InterruptedError

    with pytest.raises(InterruptedError):
        list(run_descents([trial], Dying(tmp_path / "runs.store")))
    with Store(tmp_path / "runs.store") as store:
        assert store.num_unfinished() == 1
    (result,) = run_descents([trial], Desk(tmp_path / "runs.store"))
    assert result.record == whole
    with Store(tmp_path / "runs.store") as store:
        mine = figure_trial(trial)
        assert store.load_state(mine) is not None  # a kill here costs nothing that was computed
        store.commit([Row.of(mine, result)])
        assert store.load_state(mine) is None


def test_the_cost_counts_steps_and_leaves_the_worst_labels_to_the_spectrum():
    assert job_of(small(0.0)) is DESCENTS
    seconds = DESCENTS.seconds([small(0.0)], SPEED)
    assert DESCENTS.seconds([small(0.0), small(0.0, seed=1)], SPEED) == pytest.approx(2 * seconds)
    assert DESCENTS.seconds([small(0.0, num_steps=24)], SPEED) > seconds
    assert DESCENTS.seconds([small(None)], SPEED) == seconds


def test_a_spectrum_predicts_the_linear_recursion():
    """Of H∞ by its formula, for true, random and worst labels."""
    record = one(find_spectra, spectrum_trial("mnist-2", 60, 0.1, 30, 6, [4, 5]))
    train, _ = image_rows("mnist-2", 60, 1)
    cosines = (train.X @ train.X.T).clamp(-1, 1).fill_diagonal_(1)
    H = cosines * (torch.pi - torch.arccos(cosines)) / (2 * torch.pi)
    values, vectors = torch.linalg.eigh(H)
    ys = [signs_of(train.redrawn(*draw, TRAIN_LABELS)) for draw in ((0.0, 0), (1.0, 4), (1.0, 5))]
    for y, found in zip((*ys, 60**0.5 * vectors[:, 0]), record["predicted"], strict=True):
        residual, losses = y, []
        for _ in range(31):
            losses.append(float(residual.square().mean()))
            residual = residual - 0.1 * H @ residual
        assert found == pytest.approx([losses[step] for step in record["steps"]], rel=1e-6)
    assert record["largest"] == pytest.approx(float(values[-1]))
    assert record["smallest"] == pytest.approx(float(values[0]), rel=1e-6)
    assert record["projections"][0][:5] == pytest.approx((vectors.T @ ys[0]).abs().flip(0)[:5].tolist())
    assert record["eigenvalues"][:20] == pytest.approx(values.flip(0)[:20].tolist())


def test_a_step_that_is_too_long_has_an_infinite_prediction():
    record = one(find_spectra, spectrum_trial("mnist-2", 60, 3.0, 30, 6, [4]))
    assert record["diverges"] == [True, True, False]
    assert record["predicted"][0][-1] == float("inf")
    assert record["predicted"][-1][-1] < 1


@pytest.mark.parametrize("n", [5, 20, 21, 500, 10_000])
def test_bins_hold_every_eigenvector_once(n):
    bins = index_bins(n)
    assert [index for first, last in bins for index in range(first, last)] == list(range(n))
    assert bins[: min(n, 20)] == [(index, index + 1) for index in range(min(n, 20))]


def test_limits_of_noisy_labels_are_kernel_regression():
    record = one(fit_noisy_labels, noise_trial("mnist-2", 50, 40, [0.0, 0.5], [0, 1]))
    train, test = image_rows("mnist-2", 50, 40)

    def gram(X, Z):
        cosines = (X @ Z.T).clamp(-1, 1)
        return cosines * (torch.pi - torch.arccos(cosines)) / (2 * torch.pi)

    H = gram(train.X, train.X)
    H.fill_diagonal_(0.5)
    for seed in (0, 1):
        for place, portion in enumerate((0.0, 0.5)):
            y = signs_of(train.redrawn(portion, seed, TRAIN_LABELS))
            y_test = signs_of(test.redrawn(portion, seed, TEST_LABELS))
            u = gram(test.X, train.X) @ torch.linalg.solve(H, y)
            assert record["l1_errors"][seed][place] == pytest.approx(
                float((y_test - u).abs().mean()), rel=1e-6
            )
            wrong = float((u.sign() != y_test).double().mean())
            assert record["misclassified"][seed][place] == pytest.approx(wrong)
            measure = (2 * float(y @ torch.linalg.solve(H, y)) / 50) ** 0.5
            assert record["complexities"][seed][place] == pytest.approx(measure, rel=1e-6)


def test_eigenvectors_are_computed_once_for_all_labels(monkeypatch):
    first = image_projections("mnist-2", 30, (0,))
    monkeypatch.setattr(images, "all_eigenvectors", None)
    assert_close(image_projections("mnist-2", 30, (1, 2)).worst, first.worst, rtol=0, atol=0)
    assert_close(first.projections.square().sum(0), torch.full((2,), 30.0, dtype=torch.float64))
