import numpy as np
import pandas as pd
import pytest
import torch
from sklearn import datasets

from widenet.data import leaks, load, subset, with_labels
from widenet.data.columns import NumericColumn, encode
from widenet.data.deciding import fit_column
from widenet.data.leaks import Leak, LeakKind, find_leaks
from widenet.data.targets import encode_targets
from widenet.report.parts.leaks import leak_sentences
from widenet.study.data import data_summary


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def found(X, y) -> tuple[Leak, ...]:
    """Leaks of numeric columns x1, x2 and so on."""
    X = np.asarray(X, dtype=float)
    columns = tuple(NumericColumn(f"x{k + 1}") for k in range(X.shape[1]))
    return find_leaks(encode(X, columns), columns, encode_targets(pd.Series(y, name="y")))


def found_in(frame: pd.DataFrame, y) -> tuple[Leak, ...]:
    """Leaks of the columns of a table."""
    columns = tuple(fit_column(frame[name]) for name in frame)
    return find_leaks(encode(frame, columns), columns, encode_targets(pd.Series(y, name="y")))


def told(path, header, rows) -> tuple[str, ...]:
    """Sentences on the leaks of a CSV file."""
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]))
    return leak_sentences(data_summary(load(str(path))))


def test_row_number_of_a_table_sorted_by_class(tmp_path, rng):
    rows = [(3 * k, f"{rng.normal():.3f}", "cat" if k < 30 else "dog") for k in range(60)]
    assert told(tmp_path / "pets.csv", "cage,weight,animal", rows) == (
        "Column 'cage' follows the order of the rows, which are sorted by label, and so gives the label of "
        "every row away: drop it if it only identifies the rows.",
    )


def test_columns_that_sum_to_the_target(tmp_path, rng):
    parts = rng.gamma(2, 50, (80, 3)).round(2)
    rows = [(*row, round(row[0] + row[2], 2)) for row in parts.tolist()]
    assert told(tmp_path / "shop.csv", "casual,other,registered,total", rows) == (
        "The target is the sum of columns 'casual' and 'registered': drop them if some of them would not be "
        "known at the time of prediction.",
    )


@pytest.mark.parametrize("start", [0, 1])
def test_a_column_that_only_counts_the_rows_is_said_to(rng, start):
    X = np.column_stack([rng.normal(size=50), np.arange(50) + start])
    assert found(X, rng.integers(0, 2, 50)) == (Leak(LeakKind.COUNTS, ("x2",), 0.0),)


def test_other_steps_do_not_count_the_rows(rng):
    X = np.column_stack([np.arange(50) + 2, 2 * np.arange(50), np.arange(50)[::-1]])
    assert found(X, rng.integers(0, 2, 50)) == ()


def test_times_that_grow_with_rows_sorted_by_class(rng):
    times = 1.7e9 + np.cumsum(rng.exponential(100, 90))
    assert found(np.column_stack([rng.normal(size=90), times]), np.arange(90) // 30) == (
        Leak(LeakKind.SORTED, ("x2",)),
    )


def test_rows_nearly_sorted_by_class(rng):
    y = np.arange(1000) // 500
    y[[100, 700]] = 1 - y[[100, 700]]
    assert found(np.arange(1000)[:, None], y) == (Leak(LeakKind.SORTED, ("x1",), 0.998),)


def test_row_numbers_of_classes_in_blocks(rng):
    y = np.arange(120) // 10 % 3
    assert found(np.arange(120)[:, None], y) == (Leak(LeakKind.DETERMINES, ("x1",)),)


@pytest.mark.parametrize("scale", [1.0, -3.5])
def test_a_copy_of_the_class_in_numbers(rng, scale):
    y = rng.integers(0, 3, 90)
    assert found(np.column_stack([rng.normal(size=90), scale * y]), y) == (
        Leak(LeakKind.DETERMINES, ("x2",)),
    )


def test_a_copy_of_rare_classes(rng):
    y = np.array([0] * 60 + [1] * 30 + [2] * 2)[rng.permutation(92)]
    assert found(y[:, None], y) == (Leak(LeakKind.DETERMINES, ("x1",)),)


def test_a_category_that_determines_class_or_number(rng):
    codes = rng.integers(0, 6, 120)
    frame = pd.DataFrame({"x": rng.normal(size=120), "code": [f"c{code}" for code in codes]})
    for y in (codes % 2, [["a", "b", "c"][code % 3] for code in codes], 1.5 * codes**2):
        assert found_in(frame, y) == (Leak(LeakKind.DETERMINES, ("code",)),)


def test_a_category_that_is_wrong_in_some_rows(rng):
    y = np.arange(1000) % 2
    code = np.array(["b", "d"], dtype=object)[y]
    code[[3, 4, 5]] = ["b", "d", "b"]
    assert found_in(pd.DataFrame({"code": code}), y) == (Leak(LeakKind.DETERMINES, ("code",), 0.997),)
    code[:40] = "b"
    assert found_in(pd.DataFrame({"code": code}), y) == ()


def test_identifiers_determine_everything_and_tell_nothing(rng):
    frame = pd.DataFrame({"pair": [f"p{k // 2}" for k in range(40)], "id": rng.permutation(40)})
    assert found_in(frame, np.repeat(rng.integers(0, 2, 20), 2)) == ()


def test_few_rows_are_no_evidence():
    assert found(np.arange(8)[:, None] ** 2, [0, 0, 0, 0, 1, 1, 1, 1]) == ()
    assert found(np.arange(5)[:, None] ** 2, [0.5, 1.5, 2.5, 3.5, 4.7]) == ()


@pytest.mark.parametrize(
    "copy",
    [
        lambda y: 1.8 * y + 32,
        lambda y: -np.exp(y / 10),
        lambda y: np.round(y),
        lambda y: (y * 3).astype(np.float32),
    ],
    ids=["unit", "falling", "rounded", "float32"],
)
def test_a_copy_of_a_number_in_another_unit(rng, copy):
    y = rng.normal(20, 8, 150)
    assert found(np.column_stack([rng.normal(size=150), copy(y)]), y) == (Leak(LeakKind.ORDERS, ("x2",)),)


def test_rows_sorted_by_a_number(rng):
    X = np.column_stack([rng.normal(size=60), np.arange(60)])
    assert found(X, np.sort(rng.normal(size=60))) == (Leak(LeakKind.SORTED, ("x2",)),)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (lambda X: X[:, 1] + X[:, 4], LeakKind.SUM),
        (lambda X: (X[:, 1] + X[:, 4]).round(), LeakKind.SUM),
        (lambda X: X[:, 1] - X[:, 4], LeakKind.LINEAR),
        (lambda X: (X[:, 1] + 2.5 * X[:, 4] + 7).round(1), LeakKind.LINEAR),
    ],
    ids=["sum", "rounded sum", "difference", "rounded"],
)
def test_linear_functions_of_columns(rng, target, kind):
    X = rng.gamma(2, 50, (300, 30))
    assert found(X, target(X)) == (Leak(kind, ("x2", "x5")),)


def test_what_remains_after_a_copy_is_named_too(rng):
    X = rng.normal(size=(100, 4))
    y = X[:, 0] + X[:, 1]
    assert found(np.column_stack([X, y]), y) == (
        Leak(LeakKind.ORDERS, ("x5",)),
        Leak(LeakKind.SUM, ("x1", "x2")),
    )


def test_a_linear_function_of_every_column():
    X, y = datasets.make_regression(200, 10, n_informative=10, random_state=0)
    assert found(X, y) == (Leak(LeakKind.LINEAR, tuple(f"x{k}" for k in range(1, 11))),)
    assert found(X, y + 0.1 * np.random.default_rng(0).normal(size=200)) == ()


def test_a_large_value_hides_no_misfit(rng):
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    X[0], y[0] = 1e9, 1e9
    assert found(X, y) == ()


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_raise_nothing(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 500)), int(rng.integers(1, 200))
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, rng.integers(2, 50), (n, d))
    rare = rng.random(n) < 0.05
    rare[:2] = True, False
    words = rng.integers(0, 4, (n, 3))
    frame = pd.DataFrame({f"w{k}": [f"v{word}" for word in words[:, k]] for k in range(3)})
    for y in (rng.integers(0, 3, n), rare, rng.normal(size=n), rng.gamma(0.2, size=n).round(1) + 0.05):
        assert found(X, y) == ()
        assert found_in(frame, y) == ()


@pytest.mark.parametrize("y", [np.arange(30) % 2, np.random.default_rng(1).normal(size=30)])
def test_copies_of_rows_are_no_evidence(rng, y):
    """Each row five times: any of its columns then tells its target."""
    X = rng.normal(size=(30, 4))
    assert found(np.repeat(X, 5, axis=0), np.repeat(y, 5)) == ()


def test_rows_of_a_discrete_table_are_no_copies(rng):
    X = np.column_stack([rng.integers(0, 3, 300), rng.integers(0, 2, 300)])
    assert found(X, X[:, 1]) == (Leak(LeakKind.DETERMINES, ("x2",)),)


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "digits"])
def test_real_tables_raise_nothing_until_the_target_is_among_the_columns(name, rng):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    assert found(X, y) == ()
    (leak,) = found(np.column_stack([X, y]), y)
    assert (leak.kind, leak.columns) == (LeakKind.DETERMINES, (f"x{X.shape[1] + 1}",))


def test_a_large_table_is_searched_by_a_part_and_checked_as_a_whole(rng, monkeypatch):
    monkeypatch.setattr(leaks, "MOST_ROWS", 200)
    X = rng.normal(size=(2000, 5))
    X[:, 3] = np.arange(2000)
    y = X[:, 0] > 0
    assert found(X, y) == (Leak(LeakKind.DETERMINES, ("x1",)), Leak(LeakKind.COUNTS, ("x4",), 0.0))
    assert found(X, X[:, 1] + X[:, 2])[1:] == (Leak(LeakKind.SUM, ("x2", "x3")),)
    total = X[:, 1] + X[:, 2]
    total[1] += 1  # a row that is not in the part
    assert found(X, total) == (Leak(LeakKind.COUNTS, ("x4",), 0.0),)


def test_leaks_stay_with_rows_and_leave_with_labels(table, rng):
    y = np.arange(60) // 30
    data = table(np.column_stack([rng.normal(size=60), y + 1.0]), y)
    assert data.leaks == (Leak(LeakKind.DETERMINES, ("x2",)),)
    assert subset(data, torch.arange(0, 60, 2)).leaks == data.leaks
    assert with_labels(data, 1 - data.labels).leaks == ()


def test_images_and_concepts_are_not_searched():
    assert load("digits").leaks == load("resnet-cube:n=50").leaks == ()
