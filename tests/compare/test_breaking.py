"""Comparisons of data made to break their sentences: what these say must hold all the same."""

import numpy as np
import pytest

from widenet.base.errors import WidenetError
from widenet.compare.baselines import RidgeMethod
from widenet.compare.run import run_compare
from widenet.compare.settings import CompareSettings
from widenet.report.compare import sentences

pytestmark = pytest.mark.slow
METHODS = ("2layer-all", "gaussian", "relu2-bias-all", "ridge")
WINNING = ("Yes:", "are better", "beat ", "larger than chance", "shown not to be the best")


def told(dataset, **settings):
    """The sentences of a short comparison, and its result."""
    result = run_compare(dataset, CompareSettings(methods=METHODS, width=16, epochs=20, **settings))
    return sentences(result), result


def draw(n, d, seed):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(n, d))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("kind", ["classes", "rare", "numbers"])
def test_labels_independent_of_the_inputs_have_no_winner(table, kind, n, seed):
    rng, X = draw(n, 4, seed)
    rare = np.where(np.arange(n) < max(6, 0.03 * n), "rare", "common")
    y = {"classes": rng.permutation(np.arange(n) % 2).astype(str), "rare": rng.permutation(rare)}
    found, result = told(table(X, y.get(kind, rng.normal(size=n))), seed=seed)
    assert found[0].startswith("Not shown: that anything was learned here.")
    assert f"{100 * result.constant.error:.2f}%" in found[0] or kind == "numbers"
    assert not any(word in " ".join(found) for word in WINNING)


def test_classes_of_97_2_and_1_percent_stand_beside_their_constant(table):
    rng, X = draw(600, 5, 0)
    y = rng.permutation(np.repeat(["a", "b", "c"], [582, 12, 6]))
    found, result = told(table(X, y))
    assert result.constant.error == pytest.approx(0.03)
    assert result.protocol.chance == pytest.approx(0.03)
    assert "The best constant has an error of 3.00%" in found[0]
    assert found[0].startswith("Not shown")


def test_repeated_rows_are_told(table):
    """Labels by chance, learned all the same, since every test row has been seen in training."""
    rng, X = draw(30, 4, 1)
    y = rng.permutation(np.arange(30) % 2).astype(str)
    found, result = told(table(np.repeat(X, 5, axis=0), np.repeat(y, 5)))
    assert result.protocol.repeated_rows == 120
    assert "120 of the 150 rows repeat the inputs of another. If they are copies" in found[0]


def test_thirty_rows_leave_much_open(table):
    _, X = draw(30, 3, 2)
    y = np.arange(30) % 2
    found, result = told(table(0.4 * X + np.where(y, 1.0, -1.0)[:, None], np.where(y, "a", "b")))
    room = max(-test.joint_low for test in result.significance.against_kernels)
    assert room > 0.05
    answer = found[1]  # after the columns that determine the label, each alone
    assert f"could be better by up to {100 * room:.2f} percentage points with 95% confidence" in answer


@pytest.mark.parametrize("n", [30, 100])
def test_where_all_are_perfect_there_is_no_difference(table, n):
    y = np.arange(n) % 2
    X = np.random.default_rng(0).normal(size=(n, 3)) * 0.01 + np.where(y, 1.0, -1.0)[:, None]
    found, result = told(table(X, np.where(y, "a", "b")))
    assert [method.error for method in result.methods] == [0.0] * 4
    assert "alone determines the label of every row" in found[0]
    assert "have the same error as kernels on every fold but could be better by up to" in found[1]
    assert "All 4 methods have the same error on every fold, 0.00%." in found
    assert "difference" not in " ".join(found)
    assert all(0 < -test.joint_low <= 15 / n for test in result.significance.against_kernels)


def test_a_method_that_fails_is_named(table, monkeypatch):
    def fail(self, training, *, seed):
        raise WidenetError("it does not fit")

    monkeypatch.setattr(RidgeMethod, "fit", fail)
    _, X = draw(100, 3, 4)
    found, _ = told(table(X, np.where(X[:, 0] > 0, "a", "b")))
    assert found[-1] == "1 of 4 methods failed and took no part: ridge."
    assert "baselines" not in " ".join(found[:-1]).lower()
