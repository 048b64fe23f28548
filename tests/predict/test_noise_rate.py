import numpy as np
import pytest
import torch
from torch.testing import assert_close

from widenet.predict.noise_rate import (
    Evidence,
    fit_noise_model,
    gather_evidence,
    log_joint,
    noise_model,
    noise_rate,
)


def sampled_evidence(n, beta, transition, seed):
    """Labels drawn from the model itself, the true classes, and the classes' probabilities."""
    generator = torch.Generator().manual_seed(seed)
    c = len(transition)
    means = torch.randn(n, c, generator=generator, dtype=torch.float64)
    means = means - means.mean(1, keepdim=True)
    true = torch.multinomial(torch.softmax(beta * means, 1), 1, generator=generator)[:, 0]
    labels = torch.multinomial(transition[true], 1, generator=generator)[:, 0]
    return Evidence(means, torch.zeros(n, dtype=torch.float64), labels), true


def uniform_transition(c, rate):
    T = torch.full((c, c), rate / (c - 1), dtype=torch.float64)
    return T.fill_diagonal_(1 - rate)


def test_joint_matches_explicit_sums():
    generator = torch.Generator().manual_seed(0)
    predictions = torch.randn(5, 3, generator=generator, dtype=torch.float64)
    variances = torch.rand(5, generator=generator, dtype=torch.float64) + 0.5
    labels = torch.tensor([0, 2, 1, 1, 0])
    evidence = gather_evidence(predictions, variances, labels)
    theta = np.array([0.7, 0.4, 0.1, -0.2, 0.3, *np.linspace(-1, 1, 6), -1.5])
    log_prior, log_transition = noise_model(evidence, theta)
    joint = log_joint(log_prior, log_transition, labels)
    delta = iter(theta[5:11])
    ratio = [[1.0 if c == d else np.exp(-1.5 + next(delta)) for d in range(3)] for c in range(3)]
    for i in range(5):
        spread = float(variances[i] / variances.median())
        logits = [np.exp(0.7) * spread**-0.4 * float(predictions[i, c]) + theta[2 + c] for c in range(3)]
        for c in range(3):
            p = np.exp(logits[c]) / sum(np.exp(logit) for logit in logits)
            assert float(joint[i, c].exp()) == pytest.approx(p * ratio[c][labels[i]] / sum(ratio[c]))
    rates = [1 - 1 / sum(row) for row in ratio]
    assert noise_rate(log_prior, log_transition) == pytest.approx(
        float(log_prior.exp().mean(0) @ torch.tensor(rates, dtype=torch.float64))
    )


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("num_classes", [2, 4])
def test_rate_of_labels_drawn_from_the_model_is_recovered(rate, num_classes):
    evidence, true = sampled_evidence(3000, 6.0, uniform_transition(num_classes, rate), seed=1)
    model = fit_noise_model(evidence)
    wrong = float((true != evidence.labels).double().mean())
    assert model.low <= rate <= model.high
    assert model.low <= wrong <= model.high
    assert abs(model.estimate - wrong) < 0.03
    if rate == 0:
        assert model.low == 0
        assert model.high < 0.03


def test_interval_ends_where_a_brute_force_profile_likelihood_does():
    """A grid over the level and β alone, on data where neither offsets nor variances play a part."""
    n = 1500
    evidence, _ = sampled_evidence(n, 6.0, uniform_transition(2, 0.15), seed=3)
    model = fit_noise_model(evidence)
    rates, betas = np.linspace(0.05, 0.3, 126), np.linspace(3, 14, 111)
    p = torch.softmax(torch.from_numpy(betas)[:, None, None] * evidence.means, 2)
    p = p[:, torch.arange(n), evidence.labels]
    profile = np.array([float(torch.log((1 - r) * p + r * (1 - p)).sum(1).max()) for r in rates])
    inside = rates[profile > profile.max() - 2.4**2 / 2]
    assert model.estimate == pytest.approx(rates[profile.argmax()], abs=0.01)
    assert model.low == pytest.approx(inside.min(), abs=0.012)
    assert model.high == pytest.approx(inside.max(), abs=0.012)


def test_classwise_noise_is_found():
    T = uniform_transition(3, 0.0)
    T[0] = torch.tensor([0.6, 0.4, 0.0], dtype=torch.float64)
    evidence, true = sampled_evidence(2000, 8.0, T, seed=2)
    model = fit_noise_model(evidence)
    estimated = model.log_transition.exp()
    assert_close(estimated[0], T[0], atol=0.06, rtol=0)
    assert model.low <= float((true != evidence.labels).double().mean()) <= model.high


def test_binary_column_and_one_hot_columns_give_the_same():
    evidence, _ = sampled_evidence(300, 6.0, uniform_transition(2, 0.1), seed=4)
    one_hot = 0.5 + evidence.means
    variances = torch.ones(300, dtype=torch.float64)
    signed = one_hot[:, :1] - one_hot[:, 1:]
    left = gather_evidence(one_hot, variances, evidence.labels)
    right = gather_evidence(signed, variances, evidence.labels)
    assert_close(left.means, right.means)
