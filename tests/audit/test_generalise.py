"""What is said of errors that rest on an estimate, and of how rows are ranked."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from sklearn.metrics import roc_auc_score

import widenet
from widenet.audit.findings import Estimate
from widenet.audit.generalise import area_under_curve, expected_share, loo_summary, unbiased_predictions
from widenet.data.noise import subset
from widenet.data.points import every_row, points_of
from widenet.predict.loo import exactly_left_out, left_out_by_probes


def test_errors_are_not_biased_by_the_spread_of_the_probes(generator):
    """Few residuals are close to 1, where a row changes sides; C differs by 3% from what is known of it.

    It is larger where residuals are, as it is on images.
    """
    n, num_probes = 400_000, 12
    residuals = torch.randn(n, 1, generator=generator, dtype=torch.float64).abs().pow(1.5) * 0.7
    Y = torch.ones(n, 1, dtype=torch.float64)
    scatter = 1 + 0.03 * torch.randn(n, 1, generator=generator, dtype=torch.float64)
    C = scatter * (1 + 0.1 * residuals / (1 + residuals))
    samples = C * (1 + 0.6 * torch.randn(n, num_probes, generator=generator, dtype=torch.float64))
    loo = left_out_by_probes(
        Y, C * residuals, torch.ones_like(samples), samples, torch.ones(n), torch.full((n,), 0.4)
    )
    assert float(loo.precision_error[0]) == pytest.approx(0.03, rel=0.2)
    dataset, truth = SimpleNamespace(Y=Y), float((residuals >= 1).double().mean())
    sampling = 3 * (truth / n) ** 0.5
    assert expected_share(dataset, every_row(n), loo) == pytest.approx(truth, abs=5e-4 + sampling)
    unbiased = unbiased_predictions(dataset, every_row(n), loo)
    assert float((unbiased - Y).square().mean()) == pytest.approx(float(residuals.square().mean()), rel=0.005)


def test_copies_of_a_row_share_one_error():
    """What is off of a point is off for all of its rows alike, so it does not average out."""
    points, Y = points_of(torch.tensor([0] * 8 + [1, 2])), torch.zeros(10, 1, dtype=torch.float64)
    loo = exactly_left_out(torch.ones_like(Y), torch.ones(10, dtype=torch.float64))
    loo = replace(loo, sampling_error=torch.full((10,), 0.1, dtype=torch.float64))
    found = loo_summary(SimpleNamespace(Y=Y, labels=None, n=10, task="regression"), points, loo)
    assert found.error_bar == pytest.approx(2 * 0.1 * (8**2 + 1 + 1) ** 0.5 / 10)


def test_what_is_added_for_scattered_precisions_may_all_be_wrong():
    points, Y = every_row(10), torch.zeros(10, 1, dtype=torch.float64)
    loo = exactly_left_out(torch.ones_like(Y), torch.ones(10, dtype=torch.float64))
    loo = replace(loo, precision_error=torch.full((10,), 0.1, dtype=torch.float64))
    dataset = SimpleNamespace(Y=Y, labels=None, n=10, task="regression")
    assert loo_summary(dataset, points, loo).error_bar == pytest.approx(0.03 * 1.03)


@pytest.mark.parametrize(("size", "told"), [(0.0, True), (0.02, True), (1.0, False)])
def test_an_error_that_is_known_too_roughly_is_not_told(size, told):
    """Unless it is small beside that of the mean, which is 1."""
    points, Y = every_row(10), torch.tensor([[1.0], [-1.0]] * 5, dtype=torch.float64)
    loo = exactly_left_out(Y + size, torch.ones(10, dtype=torch.float64))
    loo = replace(loo, precision_error=torch.full((10,), 0.5, dtype=torch.float64))
    summary = loo_summary(SimpleNamespace(Y=Y, labels=None, n=10, task="regression"), points, loo)
    assert (summary.error is not None) == told
    assert summary.method == (Estimate.CLOSED_FORM if told else Estimate.TOO_ROUGH)


def scored(n, generator):
    """Scores of which some are equal, higher for the first of two classes, which is rare."""
    is_first = torch.rand(n, generator=generator) < 0.2
    scores = (torch.randn(n, generator=generator, dtype=torch.float64) + is_first).mul(4).round()
    return scores, is_first


def test_the_share_of_pairs_is_the_area_under_the_curve_of_scikit_learn(generator):
    scores, is_first = scored(300, generator)
    auc, _ = area_under_curve(every_row(300), scores, is_first)
    assert auc == pytest.approx(roc_auc_score(is_first, scores), abs=1e-12)


def test_its_standard_error_is_the_spread_over_draws_also_where_rows_repeat(generator):
    for copies in (1, 4):
        places = torch.arange(200).repeat_interleave(copies)
        found = []
        for _ in range(400):
            scores, is_first = scored(200, generator)
            found.append(area_under_curve(points_of(places), scores[places], is_first[places]))
        values, errors = torch.tensor(found).T
        assert float(errors.mean()) == pytest.approx(float(values.std()), rel=0.12)


def test_rows_of_one_class_are_not_ranked(generator):
    digits = widenet.load("digits")
    zeros = subset(digits, torch.nonzero(digits.labels == 0)[:20, 0])
    two = replace(zeros, Y=torch.ones(20, 1, dtype=torch.float64), task="binary", classes=("0", "1"))
    predictions = torch.randn(20, 1, generator=generator, dtype=torch.float64)
    loo = exactly_left_out(predictions, torch.ones(20, dtype=torch.float64))
    assert loo_summary(two, every_row(20), loo).auc is None
    two.Y[:5] = -1
    assert loo_summary(two, every_row(20), loo).auc == pytest.approx(
        roc_auc_score(two.Y[:, 0] > 0, predictions[:, 0])
    )
