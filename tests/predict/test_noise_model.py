import numpy as np
import pytest
import torch
from torch.testing import assert_close

from widenet.predict.noise_model import (
    Evidence,
    class_means,
    fit_noise_models,
    gather_evidence,
    log_joint,
    log_odds_wrong,
    noise_model,
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


def share_wrong(model):
    """Σ_c π_c (1 - T_cc), with π_c the mean of p_ic over the rows."""
    return float(model.log_prior.exp().mean(0) @ (1 - model.log_transition.diagonal().exp()))


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("num_classes", [2, 4])
def test_rate_of_labels_drawn_from_the_model_is_recovered(rate, num_classes):
    evidence, true = sampled_evidence(3000, 6.0, uniform_transition(num_classes, rate), seed=1)
    wrong = float((true != evidence.labels).double().mean())
    assert abs(share_wrong(fit_noise_models(evidence).uniform) - wrong) < 0.03


def test_fit_is_where_a_brute_force_likelihood_is_largest():
    """A grid over the rate and β alone, on data where neither offsets nor variances play a part."""
    n = 1500
    evidence, _ = sampled_evidence(n, 6.0, uniform_transition(2, 0.15), seed=3)
    rates, betas = np.linspace(0.05, 0.3, 126), np.linspace(3, 14, 111)
    p = torch.softmax(torch.from_numpy(betas)[:, None, None] * evidence.means, 2)
    p = p[:, torch.arange(n), evidence.labels]
    profile = np.array([float(torch.log((1 - r) * p + r * (1 - p)).sum(1).max()) for r in rates])
    assert share_wrong(fit_noise_models(evidence).uniform) == pytest.approx(rates[profile.argmax()], abs=0.01)


def test_classwise_noise_is_found():
    T = uniform_transition(3, 0.0)
    T[0] = torch.tensor([0.6, 0.4, 0.0], dtype=torch.float64)
    evidence, _ = sampled_evidence(2000, 8.0, T, seed=2)
    models = fit_noise_models(evidence)
    assert models.weight > 0.99
    estimated = models.classwise.log_transition.exp()
    assert_close(estimated[0], T[0], atol=0.06, rtol=0)


def test_uniform_noise_is_not_read_as_classwise():
    evidence, _ = sampled_evidence(2000, 4.0, uniform_transition(3, 0.2), seed=5)
    assert fit_noise_models(evidence).weight < 0.2


def test_log_odds_are_those_of_the_posteriors_weighed():
    """Bayes' rule row by row, as products of probabilities."""
    evidence, _ = sampled_evidence(200, 3.0, uniform_transition(3, 0.2), seed=6)
    models = fit_noise_models(evidence)
    found = log_odds_wrong(models, evidence.labels)
    for i in range(0, 200, 20):
        label, odds = int(evidence.labels[i]), []
        for model in (models.uniform, models.classwise):
            joint = model.log_prior[i].exp() * model.log_transition.exp()[:, label]
            odds.append(float(joint.sum() / joint[label] - 1))
        expected = odds[0] ** (1 - models.weight) * odds[1] ** models.weight
        assert float(found[i].exp()) == pytest.approx(expected)


def test_binary_column_and_one_hot_columns_give_the_same():
    evidence, _ = sampled_evidence(300, 6.0, uniform_transition(2, 0.1), seed=4)
    one_hot = 0.5 + evidence.means
    variances = torch.ones(300, dtype=torch.float64)
    signed = one_hot[:, :1] - one_hot[:, 1:]
    left, right = (
        gather_evidence(class_means(predictions), variances, evidence.labels)
        for predictions in (one_hot, signed)
    )
    assert_close(left.means, right.means)
