import pytest
import torch
from sklearn.datasets import load_digits, make_classification, make_friedman1
from sklearn.metrics import roc_auc_score
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.data.noise import flip_labels
from widenet.data.targets import class_columns
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict import labels as module
from widenet.predict.labels import (
    choose_label_model,
    choose_target_model,
    judge_labels,
    judge_targets,
    leave_one_out_likelihoods,
)
from widenet.predict.loo import leave_one_out


def unit(X):
    X = torch.as_tensor(X, dtype=torch.float64)
    return X / X.norm(dim=1, keepdim=True)


def standard(X):
    X = torch.as_tensor(X, dtype=torch.float64)
    X = (X - X.mean(0)) / X.std(0) / X.shape[1] ** 0.5
    return unit(torch.cat([X, torch.ones(len(X), 1, dtype=torch.float64)], 1))


@pytest.fixture(scope="module")
def digits():
    X, labels = load_digits(return_X_y=True)
    X = unit(X)
    return X, torch.as_tensor(labels, dtype=torch.int64), gram_matrix(kernel_by_name("relu3-all"), X)


def judge_flipped(K, labels, ridge, num_classes):
    loo = leave_one_out(K, class_columns(labels, num_classes), ridge)
    return judge_labels(loo.predictions, loo.variances, labels, num_classes)


# Fixed ridges, larger for more noise; the choice of the ridge has its own test below.
@pytest.mark.parametrize(
    ("rate", "ridge", "least"), [(0.05, 0.03, 0.998), (0.1, 0.1, 0.998), (0.2, 0.4, 0.997), (0.3, 0.6, 0.996)]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_flipped_digits_are_found_and_counted(digits, rate, ridge, least, seed):
    _, true, K = digits
    labels, flipped = flip_labels(true, rate, 10, generator=torch.Generator().manual_seed(seed))
    quality = judge_flipped(K, labels, ridge, 10)
    assert roc_auc_score(flipped, quality.score) >= least
    assert quality.low <= rate <= quality.high
    assert quality.high - quality.low <= 0.06
    assert len(quality.score.unique()) > 0.99 * len(labels)
    assert (quality.suggested == true).double().mean() > 0.96


def test_clean_digits_are_called_clean(digits):
    _, labels, K = digits
    quality = judge_flipped(K, labels, 0.003, 10)
    assert quality.low == 0
    assert quality.high <= 0.03


def test_model_chosen_for_digits_finds_the_flipped_ones(digits, monkeypatch):
    monkeypatch.setattr(module, "CHOICE_ROWS", 500)
    X, true, _ = digits
    generator = torch.Generator().manual_seed(5)
    labels, flipped = flip_labels(true, 0.3, 10, generator=generator)
    model = choose_label_model(X, labels, 10, generator=generator)
    quality = judge_flipped(gram_matrix(kernel_by_name(model.kernel), X), labels, model.ridge, 10)
    assert roc_auc_score(flipped, quality.score) >= 0.996
    assert quality.low <= 0.3 <= quality.high


def test_binary_table():
    X, true = make_classification(
        600, n_features=10, n_informative=5, flip_y=0, class_sep=1.5, random_state=0
    )
    X, true = standard(X), torch.as_tensor(true, dtype=torch.int64)
    for rate in (0.0, 0.2):
        generator = torch.Generator().manual_seed(0)
        labels, flipped = flip_labels(true, rate, 2, generator=generator)
        model = choose_label_model(X, labels, 2, generator=generator)
        quality = judge_flipped(gram_matrix(kernel_by_name(model.kernel), X), labels, model.ridge, 2)
        assert quality.low <= rate <= quality.high
        if rate:
            assert roc_auc_score(flipped, quality.score) > 0.95


def test_score_is_the_posterior_of_a_wrong_label(digits):
    """Among the rows scored near s a share of about s is flipped."""
    _, true, K = digits
    labels, flipped = flip_labels(true, 0.3, 10, generator=torch.Generator().manual_seed(3))
    quality = judge_flipped(K, labels, 0.6, 10)
    assert float(quality.score.mean()) == pytest.approx(0.3, abs=0.01)
    doubtful = (quality.score > 0.2) & (quality.score < 0.8)
    assert flipped[doubtful].double().mean() == pytest.approx(float(quality.score[doubtful].mean()), abs=0.2)


def test_likelihoods_match_explicit_leave_one_out(digits):
    _, labels, K = digits
    K, Y = K[:60, :60], class_columns(labels[:60], 10)
    ridges = torch.tensor([0.01, 0.5], dtype=torch.float64)
    for ridge, likelihood in zip(ridges, leave_one_out_likelihoods(K, Y, ridges), strict=True):
        loo = leave_one_out(K, Y, float(ridge))
        v = loo.variances[:, None]
        scale = ((Y - loo.predictions).square() / v).mean()
        density = torch.distributions.Normal(loo.predictions, (scale * v).sqrt()).log_prob(Y).mean()
        assert_close(likelihood, density + 0.5 * (1 + torch.log(torch.tensor(2 * torch.pi, dtype=Y.dtype))))


def test_wrong_number_of_columns_is_refused():
    with pytest.raises(InputError, match="4 columns for 3 classes"):
        judge_labels(torch.zeros(5, 4), torch.ones(5), torch.zeros(5, dtype=torch.int64), 3)


@pytest.mark.parametrize("noise", [1.0, 3.0])
def test_regression_noise_and_gross_errors(noise):
    X, y = make_friedman1(500, noise=noise, random_state=0)
    X, y = standard(X), torch.as_tensor(y)
    share = noise**2 / float(y.var())
    wrong = torch.arange(0, 500, 50)
    y[wrong] += 30
    y = (y - y.mean()) / y.std()
    clean = torch.ones(500, dtype=torch.bool)
    clean[wrong] = False
    model = choose_target_model(X[clean], y[clean, None], generator=torch.Generator().manual_seed(0))
    K = gram_matrix(kernel_by_name(model.kernel), X)
    loo = leave_one_out(K[clean][:, clean], y[clean, None], model.ridge)
    quality = judge_targets(loo.predictions, loo.variances, y[clean, None], ridge=model.ridge)
    assert quality.low <= share <= quality.high
    assert quality.low <= quality.estimate <= quality.high
    loo = leave_one_out(K, y[:, None], model.ridge)
    quality = judge_targets(loo.predictions, loo.variances, y[:, None])
    assert quality.low == 0
    assert roc_auc_score(~clean, quality.score) > 0.99
    assert_close(quality.suggested, loo.predictions)
