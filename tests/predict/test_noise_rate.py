import math

import numpy as np
import pytest
import torch
from scipy.stats import binom

from widenet.data.points import every_row, points_of
from widenet.predict.noise_rate import (
    LEVEL,
    effective_number,
    lasting_rate,
    noise_rate,
    recognised,
    sureness,
    upper_limit,
)

MISSED = (1 - LEVEL) / 2  # on each side


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn_labels(n, rate, spread, seed, num_classes=3):
    """Predictions of classes with random sureness, labels drawn from them, and which were then flipped."""
    stream = generator(seed)
    means = spread * torch.randn(n, num_classes, generator=stream, dtype=torch.float64)
    true = torch.multinomial(torch.softmax(means, 1), 1, generator=stream)[:, 0]
    wrong = torch.rand(n, generator=stream) < rate
    step = torch.randint(1, num_classes, (n,), generator=stream)
    return means, torch.where(wrong, (true + step) % num_classes, true), wrong


def test_ranks_match_sorting_each_predicted_class_alone():
    means = torch.randn(40, 3, generator=generator(), dtype=torch.float64)
    ranks, predicted = sureness(means), means.argmax(1)
    for i in range(40):
        same = [j for j in range(40) if predicted[j] == predicted[i]]
        gaps = {j: float(means[j].sort().values[-1] - means[j].sort().values[-2]) for j in same}
        below = sum(gaps[j] < gaps[i] for j in same)
        assert float(ranks[i]) == pytest.approx((below + 0.5) / len(same))


def test_upper_limit_is_the_largest_share_that_is_not_rejected():
    """Clopper and Pearson by their definition: at the limit so few true ones have probability MISSED."""
    wrong = torch.zeros(200, dtype=torch.bool)
    wrong[:13] = True
    limit = upper_limit(wrong, every_row(200))
    n = effective_number(wrong, every_row(200))
    assert n == pytest.approx(200, rel=0.01)
    assert binom.cdf(13, 200, limit) == pytest.approx(MISSED, rel=0.05)


def test_upper_limit_without_a_single_true_one():
    """(1 - limit)^n = MISSED."""
    limit = upper_limit(torch.zeros(50, dtype=torch.bool), every_row(50))
    assert (1 - limit) ** 50 == pytest.approx(MISSED)


@pytest.mark.parametrize("copies", [2, 5])
def test_copies_of_rows_tell_nothing_new(copies):
    means, labels, _ = drawn_labels(300, 0.2, 4.0, seed=0)
    once = noise_rate(means, labels, every_row(300))
    points = points_of(torch.arange(300).repeat(copies))
    repeated = noise_rate(means.repeat(copies, 1), labels.repeat(copies), points)
    assert repeated.low == pytest.approx(once.low, abs=0.004)
    assert repeated.high == pytest.approx(once.high, abs=0.004)


def test_independent_rows_at_one_point_count_as_rows():
    wrong = torch.rand(4000, generator=generator()) < 0.1
    points = points_of(torch.arange(1000).repeat(4))
    assert effective_number(wrong, points) > 3400


def test_recognised_classes_are_right_more_often_than_not():
    predicted = torch.tensor([0] * 40 + [1] * 40 + [2] * 4)
    labels = torch.tensor([0] * 30 + [1] * 10 + [1] * 24 + [0] * 16 + [2] * 4)
    # 30 of 40 surely are more than half; 24 of 40 (p = .13) and 4 of 4 (p = .06) need not be.
    assert recognised(predicted, labels, 4).tolist() == [True, False, False, False]


def curve(u, rate, pace, tail=2.0):
    return rate + (1 - 2 * rate) * 0.5 * (1 + pace * u / tail) ** -tail


def test_lasting_rate_matches_an_unbinned_likelihood():
    n = 2000
    u = (np.arange(n) + 0.5) / n
    hit = np.random.default_rng(0).random(n) < curve(u, 0.15, 20.0)
    rates, paces = np.linspace(0, 0.3, 121), np.concatenate([[0], np.geomspace(1, 500, 120)])
    profile = np.empty(len(rates))
    for index, rate in enumerate(rates):
        e = curve(u, rate, paces[:, None])
        profile[index] = np.log(np.where(hit, e, 1 - e)).sum(1).max()
    inside = rates[profile >= profile.max() - 1.96**2 / 2]
    estimate, low = lasting_rate(torch.from_numpy(u), torch.from_numpy(hit))
    assert estimate == pytest.approx(rates[profile.argmax()], abs=0.006)
    assert low == pytest.approx(inside.min(), abs=0.006)


@pytest.mark.parametrize(("rate", "pace"), [(0.0, 6.0), (0.1, 6.0), (0.2, 100.0)])
def test_lower_end_is_missed_as_seldom_as_stated(rate, pace):
    """Simulated from the curve itself, 100 times."""
    u = (torch.arange(500, dtype=torch.float64) + 0.5) / 500
    draws = torch.rand(100, 500, generator=generator(), dtype=torch.float64)
    missed = sum(lasting_rate(u, draw < curve(u, rate, pace))[1] > rate for draw in draws)
    assert missed <= binom.ppf(0.999, 100, MISSED)


@pytest.mark.parametrize("spread", [1.0, 4.0, 16.0])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2])
def test_interval_holds_the_true_share_of_flips(spread, rate):
    """Whether the classes overlap much or not at all."""
    for seed in range(10):
        means, labels, wrong = drawn_labels(600, rate, spread, seed)
        found = noise_rate(means, labels, every_row(600))
        assert found.low <= float(wrong.double().mean()) <= found.high
        assert found.low <= found.estimate <= found.high
        assert found.estimate == 0 or found.low > 0


def test_flips_of_separate_classes_are_detected_and_told_narrowly():
    means, labels, wrong = drawn_labels(2000, 0.1, 50.0, seed=1)
    found = noise_rate(means, labels, every_row(2000))
    assert found.decided
    assert found.high - found.low < 0.05
    assert found.estimate == pytest.approx(float(wrong.double().mean()), abs=0.02)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.98, 0.02), (0.97, 0.02, 0.01), (0.6, 0.4)])
def test_labels_that_the_inputs_say_nothing_about_leave_it_undecided(shares):
    """Predictions like those of a ridge regression: the shares, and a little of chance."""
    chances = torch.tensor(shares, dtype=torch.float64)
    for seed in range(20):
        stream = generator(seed)
        labels = torch.multinomial(chances, 500, replacement=True, generator=stream)
        means = chances + 0.05 * torch.randn(500, len(shares), generator=stream, dtype=torch.float64)
        found = noise_rate(means, labels, every_row(500))
        assert (found.low, found.estimate, found.decided) == (0, 0, False)


def test_class_that_is_never_predicted_counts_as_free_of_noise():
    """Two classes apart, and a third of 10% that looks like the first."""
    true = torch.arange(1000) % 10
    means = torch.zeros(1000, 3, dtype=torch.float64)
    means[:, 0], means[:, 1] = (true < 5).double(), (true >= 5).double()
    means += 0.1 * torch.randn(1000, 3, generator=generator(), dtype=torch.float64)
    labels = torch.where(true == 0, 2, (true >= 5).long())
    found = noise_rate(means, labels, every_row(1000))
    assert found.low == 0
    assert found.high > 0.1


def test_no_contradiction_still_leaves_room():
    """3.7 / n, so that 60,000 images without any are never called clean to the last one."""
    labels = torch.arange(300) % 2
    means = torch.nn.functional.one_hot(labels, 2).double()
    found = noise_rate(means, labels, every_row(300))
    assert (found.estimate, found.low, found.decided) == (0, 0, True)
    assert found.high == pytest.approx(-math.log(MISSED) / 300, rel=0.02)
