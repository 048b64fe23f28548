import numpy as np
import pandas as pd
import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import load
from widenet.data.targets import class_columns, encode_like, encode_targets


def encoded(values, **options):
    return encode_targets(pd.Series(values, name="y", **options))


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        ([0, 1] * 5, "binary", ("0", "1")),
        ([1, -1], "binary", ("-1", "1")),
        ([1.0, 2.0, 1.0], "binary", ("1", "2")),
        ([True, False, True], "binary", ("False", "True")),
        (["b", "a", "b"], "binary", ("a", "b")),
        (["class 10", "class 9", "class 2"] * 3, "multiclass", ("class 2", "class 9", "class 10")),
        (["10", "9", "2"] * 5, "multiclass", ("2", "9", "10")),
        (["1", "2", "3+"] * 5, "multiclass", ("1", "2", "3+")),
        (list(range(20)) * 5, "multiclass", tuple(str(k) for k in range(20))),
        (list(range(21)) * 5, "regression", ()),
        (list(range(20)) * 4, "regression", ()),
        ([0.5, 1.5] * 5, "regression", ()),
        (list(range(100)), "regression", ()),
        ([0] * 79 + list(range(64, 78)), "regression", ()),  # margins of error: 0, or one of a few amounts
        (["001", "002", "010"] * 5, "multiclass", ("001", "002", "010")),
    ],
)
def test_task_is_read_off_the_values(values, task, classes):
    targets = encoded(values)
    assert (targets.task, targets.classes) == (task, classes)
    assert len(targets.given) == len(values)


def test_categories_are_classes_whatever_they_are_made_of():
    assert encoded(pd.Categorical([1.5, 2.5, 1.5])).classes == ("1.5", "2.5")


@pytest.mark.parametrize("kind", [str, int])
def test_whole_numbers_keep_all_their_digits(kind):
    large = [kind(9007199254740993), kind(9007199254740992)] * 5
    targets = encoded(large)
    assert targets.classes == ("9007199254740992", "9007199254740993")
    assert targets.labels.tolist() == [1, 0] * 5
    held_out = encode_like(pd.Series(large, name="y"), targets.classes, targets.units)
    assert held_out.labels.tolist() == targets.labels.tolist()


def test_whole_numbers_that_lost_their_digits_are_no_classes():
    assert encoded([9007199254740993.0, 1.0]).task == "regression"


def test_one_number_written_in_two_ways_is_one_class():
    targets = encoded(["6.0", "6", "7", "7.0"])
    assert targets.classes == ("6", "7")
    assert targets.labels.tolist() == [0, 0, 1, 1]
    assert targets.given == ("6.0", "6", "7", "7.0")


def test_labels_point_at_their_classes():
    values = ["x9", "x10", "x9", "x1", "x1", "x10"]
    targets = encoded(values)
    assert [targets.classes[label] for label in targets.labels.tolist()] == values


def test_first_of_two_classes_is_plus_one():
    assert class_columns(torch.tensor([0, 1, 1]), 2).tolist() == [[1.0], [-1.0], [-1.0]]


def test_more_classes_are_one_hot():
    assert class_columns(torch.tensor([2, 0]), 3).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_regression_targets_are_standardised():
    values = np.random.default_rng(0).normal(50, 7, 200)
    Y = encoded(values).Y
    assert Y.shape == (200, 1)
    assert abs(float(Y.mean())) < 1e-12
    assert float(Y.std(correction=0)) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(np.argsort(Y[:, 0].numpy()), np.argsort(values))


def test_how_the_numbers_were_read_is_told():
    euros = encoded([f"{k}.{k * 37 % 1000:03},50 €" for k in range(1, 30)])
    assert "Numbers were read with points between thousands and decimal commas: 'y'." in euros.note
    assert "'€' was taken off the numbers of 'y'." in euros.note
    assert encoded([0.5, 1.5, 2.5]).note.endswith("standardised for regression.")


@pytest.mark.parametrize(
    ("values", "task", "found", "classes"),
    [
        (list(range(11)) * 9, None, "multiclass", tuple(map(str, range(11)))),
        (list(range(11)) * 9, "regression", "regression", ()),
        ([0, 1] * 5, "regression", "regression", ()),
        (["001", "002", "010"] * 5, "regression", "regression", ()),
        (list(range(30)) * 3, "classification", "multiclass", tuple(map(str, range(30)))),
        ([0.5, 1.5, 2.5] * 5, "classification", "multiclass", ("0.5", "1.5", "2.5")),
        (["1,5", "2,5"] * 5, "classification", "binary", ("1,5", "2,5")),
        (["a", "b"] * 5, "classification", "binary", ("a", "b")),
    ],
)
def test_people_may_decide_the_task(values, task, found, classes):
    targets = encode_targets(pd.Series(values, name="y"), task=task)
    assert (targets.task, targets.classes) == (found, classes)


@pytest.mark.parametrize(
    ("values", "task", "told"),
    [
        (["a", "b"] * 5, "regression", "'a' .* is not a number, which a regression needs: leave `task` out"),
        (pd.Categorical(["a", "b"] * 5), "regression", "is not a number, which a regression needs"),
        (list(range(50)), "classification", "'y' has 50 distinct values in 50 rows, too many"),
        ([3, 3, 3], "classification", "holds the single value '3'"),
        ([1, 2] * 5, "ranking", "There is no task 'ranking': choose 'classification', 'regression'"),
    ],
)
def test_a_task_that_the_target_does_not_allow(values, task, told):
    target = pd.Series(values, name="y", index=pd.RangeIndex(1, len(values) + 1))
    with pytest.raises(InputError, match=told):
        encode_targets(target, task=task)


def test_the_task_of_every_kind_of_data(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 5
    assert load(X, y).task == "multiclass"
    assert load(X, y, task="regression").task == "regression"
    np.savez(tmp_path / "some.npz", X=X, y=y)
    assert load(tmp_path / "some.npz", task="regression").task == "regression"
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    frame.to_csv(tmp_path / "some.csv", index=False)
    data = load(tmp_path / "some.csv", task="regression")
    assert (data.task, data.origin.task) == ("regression", "regression")
    assert load(frame, target="y", task="regression").task == "regression"
    with pytest.raises(InputError, match="'digits' has its own targets, so `task` does not apply"):
        load("digits", task="regression")


def test_durations_are_numbers():
    targets = encoded(["1h", "1h 30m", "45m", "2h"] * 5, dtype="str")
    assert targets.task == "regression"
    assert "Durations became hours" in targets.note
    assert targets.units.offset.item() == pytest.approx(1.3125)
    with pytest.raises(InputError, match="holds dates or times"):
        encoded(["2020-01-01", "2020-01-02", "2020-02-03"], dtype="str")


def test_a_box_is_no_number_where_numbers_are_wanted():
    frame = pd.DataFrame({"a": range(40), "paid": [1.0 if k % 2 else None for k in range(40)]})
    with pytest.raises(InputError) as raised:
        load(frame, target="paid", task="regression")
    assert "(empty)" not in str(raised.value)


def test_a_box_that_is_ticked_or_not(tmp_path):
    """Exonerations by `dna`: Y, or nothing."""
    lines = ["age,dna", *(f"{20 + k},{'Y' if k % 3 == 0 else ''}" for k in range(30))]
    (tmp_path / "some.csv").write_text("\n".join(lines))
    data = load(tmp_path / "some.csv", target="dna")
    assert (data.n, data.classes, data.given[:2]) == (30, ("(empty)", "Y"), ("Y", "(empty)"))
    assert data.cells["dna"].isna().sum() == 20  # the table is as it was
    assert any("'Y' or missing" in note for note in data.provenance)
    number = pd.DataFrame({"x": range(30), "y": [1.0, None] * 15})
    assert load(number, target="y").classes == ("1", "(empty)")
    (tmp_path / "some.csv").write_text("\n".join(["age,dna", *(f"{k},Y" for k in range(30)), "5,"]))
    with pytest.raises(InputError, match="single value 'Y'"):
        load(tmp_path / "some.csv", target="dna")
