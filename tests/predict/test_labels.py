import pytest
import torch
from sklearn.datasets import load_digits, make_classification, make_friedman1
from sklearn.metrics import roc_auc_score
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.data.noise import flip_by_inputs, flip_labels, flip_one_way
from widenet.data.points import every_row, points_of
from widenet.data.targets import class_columns
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict import choose
from widenet.predict.choose import choose_model
from widenet.predict.labels import judge_labels, judge_targets, pure_error, upper_mean
from widenet.predict.loo import by_row, leave_one_out


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
    ("rate", "ridge", "least", "width"),
    [(0.05, 0.03, 0.998, 0.06), (0.1, 0.1, 0.998, 0.06), (0.2, 0.4, 0.997, 0.08), (0.3, 0.6, 0.996, 0.1)],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_flipped_digits_are_found_and_counted(digits, rate, ridge, least, width, seed):
    _, true, K = digits
    labels, flipped = flip_labels(true, rate, 10, generator=torch.Generator().manual_seed(seed))
    quality = judge_flipped(K, labels, ridge, 10)
    assert roc_auc_score(flipped, quality.score) >= least
    assert 0 < quality.low <= rate <= quality.high
    assert quality.decided
    assert quality.high - quality.low <= width
    assert len(quality.score.unique()) > 0.99 * len(labels)
    assert (quality.suggested == true).double().mean() > 0.96


def test_clean_digits_are_called_clean(digits):
    _, labels, K = digits
    quality = judge_flipped(K, labels, 0.003, 10)
    assert quality.low == quality.estimate == 0
    assert 0.002 <= quality.high <= 0.03  # some are contested, and 4 of 1797 can never be excluded
    assert quality.decided


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_flips_of_one_class_and_flips_by_inputs_are_inside_the_interval(digits, seed):
    X, true, K = digits
    for rate, ridge in ((0.1, 0.1), (0.2, 0.4)):
        one_way = flip_one_way(true, rate, 10, generator=torch.Generator().manual_seed(seed))
        by_inputs = flip_by_inputs(true, X, rate, 10, generator=torch.Generator().manual_seed(seed))
        for labels, flipped in (one_way, by_inputs):
            quality = judge_flipped(K, labels, ridge, 10)
            assert quality.low <= float(flipped.double().mean()) <= quality.high
            assert roc_auc_score(flipped, quality.score) > 0.97


def test_few_flips_are_suggested_and_counted_even_where_no_rate_is_estimated():
    """Of 600 rows with 24 flips most are named, whatever becomes of the estimate."""
    X, true = make_classification(600, n_features=8, n_informative=4, flip_y=0, class_sep=1.2, random_state=2)
    X, true = standard(X), torch.as_tensor(true, dtype=torch.int64)
    labels, flipped = flip_labels(true, 0.04, 2, generator=torch.Generator().manual_seed(0))
    quality = judge_flipped(gram_matrix(kernel_by_name("relu3-all"), X), labels, 0.1, 2)
    assert quality.contradicting == int((quality.suggested != labels).sum()) >= 24
    assert (quality.suggested[flipped] == true[flipped]).double().mean() > 0.8
    assert quality.low <= 0.04 <= quality.high


def test_suggestion_does_not_know_the_label_it_is_about(digits):
    """Whatever label a row has, the others suggest the same for it."""
    _, true, K = digits
    K, true = K[:200, :200], true[:200]
    suggested = set()
    for label in range(10):
        labels = true.clone()
        labels[7] = label
        suggested.add(int(judge_flipped(K, labels, 0.1, 10).suggested[7]))
    assert suggested == {int(true[7])}


def test_repeating_every_row_does_not_narrow_the_interval(digits):
    _, true, K = digits
    K, true = K[:400, :400], true[:400]
    labels, _ = flip_labels(true, 0.1, 10, generator=torch.Generator().manual_seed(0))
    loo = leave_one_out(K, class_columns(labels, 10), 0.1)
    once = judge_labels(loo.predictions, loo.variances, labels, 10)
    place = torch.arange(400).repeat(3)
    thrice = judge_labels(loo.predictions[place], loo.variances[place], labels[place], 10, place=place)
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), abs=0.004)


def test_model_chosen_for_digits_finds_the_flipped_ones(digits, monkeypatch):
    monkeypatch.setattr(choose, "CHOICE_ROWS", 500)
    X, true, _ = digits
    generator = torch.Generator().manual_seed(5)
    labels, flipped = flip_labels(true, 0.3, 10, generator=generator)
    model = choose_model(X, class_columns(labels, 10), place=torch.arange(len(X)), generator=generator)
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
        model = choose_model(X, class_columns(labels, 2), place=torch.arange(len(X)), generator=generator)
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
    place = torch.arange(int(clean.sum()))
    model = choose_model(X[clean], y[clean, None], place=place, generator=torch.Generator().manual_seed(0))
    K = gram_matrix(kernel_by_name(model.kernel), X)
    loo = leave_one_out(K[clean][:, clean], y[clean, None], model.ridge)
    quality = judge_targets(loo.predictions, loo.variances, y[clean, None], place=place)
    assert quality.low == quality.estimate == 0
    assert share <= quality.high
    assert quality.decided == (quality.high < 0.5)
    loo = leave_one_out(K, y[:, None], model.ridge)
    quality = judge_targets(loo.predictions, loo.variances, y[:, None], place=torch.arange(500))
    assert roc_auc_score(~clean, quality.score) > 0.99
    assert_close(quality.suggested, loo.predictions)


FUNCTIONS = {
    "linear": lambda Z: Z[:, 0] - 2 * Z[:, 1],
    "smooth": lambda Z: torch.exp(-Z[:, 0].square()) + torch.tanh(Z[:, 1] + Z[:, 2]),
    "fast sine": lambda Z: torch.sin(40 * Z[:, 0]),
    "product": lambda Z: Z.sign().prod(1),
}


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_noise_of_regression_targets_is_inside_the_interval(name, repeats):
    """Without noise 0 is, however rough the function; with noise its share is, with and without repeats."""
    for seed in range(20):
        stream = torch.Generator().manual_seed(seed)
        Z = torch.randn(80, 6, generator=stream, dtype=torch.float64).repeat(repeats, 1)
        points = points_of(torch.arange(80).repeat(repeats))
        K = points.counts.sqrt()[:, None] * gram_matrix(kernel_by_name("relu3-all"), standard(Z)[:80])
        K = K * points.counts.sqrt()
        signal = FUNCTIONS[name](Z)
        noise = signal.std() / 2 * torch.randn(len(Z), generator=stream, dtype=torch.float64)
        for added in (0.0, 1.0):
            Y = (signal + added * noise)[:, None]
            at_points = leave_one_out(K, points.counts.sqrt()[:, None] * points.means(Y), 0.1)
            loo = by_row(at_points, points, 0.1)
            quality = judge_targets(loo.predictions, loo.variances, Y, place=points.place)
            share = added * float(noise.var() / Y.var())
            assert quality.low <= quality.estimate <= quality.high
            assert quality.low <= share <= quality.high
            assert (quality.low > 0) == (repeats == 2 and added == 1)


def test_pure_error_is_missed_as_seldom_as_stated():
    """Normal noise at 30 points with 1 to 4 rows each; a function of the points adds nothing."""
    points = points_of(torch.cat([torch.arange(30)] + [torch.arange(start, 30) for start in (5, 10, 20)]))
    stream, n = torch.Generator().manual_seed(0), len(points.place)
    noise = 0.5 * torch.randn(2000, n, 2, generator=stream, dtype=torch.float64)
    found = [pure_error(draw + 10 * points.place[:, None], points) for draw in noise]
    estimates, lows = torch.tensor(found, dtype=torch.float64).T
    assert float(estimates.mean()) == pytest.approx(2 * 0.25, rel=0.02)
    repeated = float((points.counts[points.place] > 1).double().mean())  # of the others nothing is known
    missed = float((lows > repeated * 2 * 0.25).double().mean())
    assert missed == pytest.approx(0.025, abs=4 * (0.025 * 0.975 / 2000) ** 0.5)


def test_few_repeated_rows_tell_nothing_of_the_others():
    """Five of 305 rows repeat another with a target that is off: a mistake in them, not noise in all."""
    y = torch.linspace(-1, 1, 300, dtype=torch.float64)
    Y, place = torch.cat([y, y[:5] + 3])[:, None], torch.cat([torch.arange(300), torch.arange(5)])
    quality = judge_targets(Y * 0.9, torch.ones(305), Y, place=place)
    assert (quality.estimate, quality.low) == (0.0, 0.0)


def test_rounding_of_repeated_targets_is_not_noise():
    y = torch.arange(40, dtype=torch.float64).repeat(2)[:, None]
    rounded = torch.cat([y[:40], y[40:].float().mul(1 / 3).mul(3).double() + 1e-6])
    place = torch.arange(40).repeat(2)
    quality = judge_targets(y, torch.ones(80, dtype=torch.float64), rounded, place=place)
    assert quality.low == quality.estimate == 0
    assert quality.decided


def test_no_repeats_no_pure_error():
    assert pure_error(torch.randn(5, 1), every_row(5)) == (0.0, 0.0)


def test_upper_mean_is_missed_as_seldom_as_stated():
    """Normal values at 40 points of two rows that are copies of each other."""
    points = points_of(torch.arange(40).repeat(2))
    stream = torch.Generator().manual_seed(0)
    draws = torch.randn(4000, 40, generator=stream, dtype=torch.float64).repeat(1, 2)
    missed = sum(upper_mean(draw, points) < 0 for draw in draws) / 4000
    assert missed == pytest.approx(0.025, abs=4 * (0.025 * 0.975 / 4000) ** 0.5)
