import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from widenet.base.errors import InputError
from widenet.data.columns import CategoricalColumn, NumericColumn, fit_array_columns
from widenet.data.prepare import fit_preparation

FRAME = pd.DataFrame(
    {"a": [1.0, 2.0, 4.0, 9.0], "constant": [0.1] * 4, "c": ["x", "y", "y", "z"], "b": [-3, 1, 0, 5]}
)
COLUMNS = (
    NumericColumn("a"),
    NumericColumn("constant"),
    CategoricalColumn("c", ("x", "y", "z")),
    NumericColumn("b"),
)


def numeric(array: np.ndarray):
    return fit_array_columns(array, tuple(f"x{k}" for k in range(array.shape[1])))


def test_standard_by_hand():
    """The map of the docstring, written out with numpy."""
    preparation, X, notes = fit_preparation(FRAME, COLUMNS, "standard")
    one_hot = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1.0]])
    centred = one_hot - one_hot.mean(0)
    standardised = [(FRAME[name] - FRAME[name].mean()) / FRAME[name].std(ddof=0) for name in "ab"]
    block = centred / np.sqrt((centred**2).mean(0).sum())
    z = np.column_stack([standardised[0], block, standardised[1]]) / np.sqrt(3)
    assert (z**2).sum(1).mean() == pytest.approx(1, abs=1e-14)
    expected = np.column_stack([z, np.ones(4)])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(X, expected, rtol=1e-14, atol=1e-15)
    assert preparation.names == ("a", "c=x", "c=y", "c=z", "b", "constant")
    assert any("1 column that never varies: 'constant'" in note for note in notes)


def test_unit_is_division_by_the_norm():
    raw = np.random.default_rng(0).normal(size=(7, 3))
    preparation, X, _ = fit_preparation(raw, numeric(raw), "unit")
    np.testing.assert_allclose(X, raw / np.linalg.norm(raw, axis=1, keepdims=True), rtol=1e-15)
    assert preparation.names == ("x0", "x1", "x2")


def test_raw_rows_stay_as_they_are():
    raw = np.random.default_rng(0).normal(size=(7, 3))
    raw[2] = 0  # has no direction, and needs none
    preparation, X, notes = fit_preparation(raw, numeric(raw), "raw")
    assert np.array_equal(X, raw)
    assert preparation.names == ("x0", "x1", "x2")
    assert notes == ("Rows were left unchanged.",)
    assert np.array_equal(preparation.apply(2 * raw), 2 * raw)
    X.zero_()
    assert raw.any()


@pytest.mark.parametrize("kind", ["unit", "standard", "raw"])
def test_fitting_leaves_the_raw_rows_alone(kind):
    raw = np.random.default_rng(0).normal(size=(7, 3))
    before = raw.copy()
    preparation, _, _ = fit_preparation(raw, numeric(raw), kind)
    preparation.apply(torch.from_numpy(raw))
    assert np.array_equal(raw, before)


@pytest.mark.parametrize("kind", ["unit", "standard", "raw"])
def test_training_rows_go_the_same_way_again(kind):
    preparation, X, _ = fit_preparation(FRAME, COLUMNS, kind)
    assert torch.equal(preparation.apply(FRAME), X)
    assert torch.equal(preparation.apply(FRAME[["b", "c", "constant", "a"]]), X)
    assert torch.equal(preparation.apply(FRAME.iloc[2:]), X[2:])
    assert torch.equal(preparation.apply(FRAME.astype(str)), X)


def test_unseen_category_becomes_zeros():
    preparation, _, _ = fit_preparation(FRAME, COLUMNS, "unit")
    row = pd.DataFrame({"a": [3.0], "constant": [0.0], "c": ["new"], "b": [4]})
    assert preparation.apply(row).tolist() == [[0.6, 0, 0, 0, 0, 0.8]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"a": [1.0, np.nan, 2.0, 3.0]}, ["Row 2", "'a'", "missing"]),
        ({"a": [1.0, 1.0, np.inf, 3.0]}, ["Row 3", "'a'", "infinite"]),
        ({"a": ["1", "2", "3", "many"]}, ["Row 4", "'a'", "'many'"]),
        ({"c": ["x", None, "y", "z"]}, ["Row 2", "'c'", "missing"]),
    ],
)
def test_bad_new_rows_are_refused(change, said):
    preparation, _, _ = fit_preparation(FRAME, COLUMNS, "standard")
    with pytest.raises(InputError) as error:
        preparation.apply(FRAME.assign(**change))
    assert all(words in str(error.value) for words in said)


def test_new_rows_of_another_form_are_refused():
    preparation, _, _ = fit_preparation(FRAME, COLUMNS, "standard")
    with pytest.raises(InputError, match=r"lacks 1 column.*'c'"):
        preparation.apply(FRAME.drop(columns="c"))
    with pytest.raises(InputError, match="do not match"):
        preparation.apply(np.zeros((3, 4)))
    raw = np.eye(3)
    preparation, _, _ = fit_preparation(raw, numeric(raw), "unit")
    with pytest.raises(InputError, match="Rows of 2 numbers do not match the 3 columns"):
        preparation.apply(np.ones((3, 2)))
    with pytest.raises(InputError, match="Row 1, column 2"):
        preparation.apply(np.array([[1, np.nan, 2]]))


def test_rows_of_zeros_have_no_direction():
    raw = np.array([[1.0, 0], [0, 0], [2, 1], [0, 0]])
    with pytest.raises(InputError, match=r"Row 2 \(and 1 row more\)"):
        fit_preparation(raw, numeric(raw), "unit")
    assert torch.isfinite(fit_preparation(raw, numeric(raw), "standard")[1]).all()


def test_extreme_rows_reach_the_sphere():
    raw = np.array([[3e300, 4e300], [3e-310, 4e-310], [3.0, 4.0]])
    X = fit_preparation(raw, numeric(raw), "unit")[1]
    np.testing.assert_allclose(X, [[0.6, 0.8]] * 3, rtol=1e-12)


def test_a_spread_that_underflows_is_refused_not_dropped():
    raw = np.array([[1.0, 1e-170], [2.0, 2e-170], [4.0, 5e-170]])
    with pytest.raises(InputError, match=r"'x1' .* cannot be standardised"):
        fit_preparation(raw, numeric(raw), "standard")


def test_the_constant_keeps_lengths_apart():
    raw = np.array([[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0], [-2.0, -2.0]])
    X = fit_preparation(raw, numeric(raw), "standard")[1]
    assert float((X @ X.T).fill_diagonal_(0).max()) < 0.99


@settings(max_examples=100, deadline=None)
@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(2, 8), st.integers(1, 5)), elements=st.floats(-1e6, 1e6, width=32)
    ),
    st.sampled_from(["unit", "standard"]),
)
def test_rows_are_on_the_sphere_and_the_map_repeats(raw, kind):
    try:
        preparation, X, _ = fit_preparation(raw, numeric(raw), kind)
    except InputError:
        constant = (raw == raw[0]).all()
        assert (raw == 0).all(1).any() if kind == "unit" else constant or np.ptp(raw, axis=0).max() < 1e-140
        return
    np.testing.assert_allclose(X.norm(dim=1), 1, rtol=1e-14)
    assert torch.equal(preparation.apply(raw), X)
    assert len(preparation.names) == X.shape[1]
