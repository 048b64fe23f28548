"""Which column is predicted where nobody says, and why not another."""

import numpy as np
import pandas as pd
import pytest

from widenet.base.errors import InputError
from widenet.data import load

N = 40
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N), "kind": ["u", "v"] * (N // 2)})


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("name", [f"car {k}" for k in range(N)], "is text that hardly repeats"),
        ("when", pd.date_range("2020-01-01", periods=N), "holds dates or times"),
        ("day", pd.date_range("2020-01-01", periods=N).astype(str), "holds dates or times"),
        ("one", [1] * N, "never varies"),
        ("notes", [*["late", "early"] * 5, *[None] * (N - 10)], "is empty in most rows"),
        ("species_id", [1, 2, 3, 4] * (N // 4), "is called an identifier"),
        ("TIME", range(1, N + 1), "numbers the rows"),
        ("level", [*(f"{k * k}.5" for k in range(N - 2)), "low", "low"], "has words among its numbers"),
    ],
)
def test_what_nobody_predicts_is_passed_over_and_told(name, values, why):
    frame = FRAME.assign(**{name: list(values)})
    data = load(frame)
    assert data.classes == ("u", "v")
    told = f"The target is column 'kind', chosen because it is the last that can be one: '{name}' {why}."
    assert told in data.provenance
    assert not any("last that can be one" in each for each in load(FRAME).provenance)


def test_a_column_that_is_dropped_is_no_target(tmp_path):
    FRAME.to_csv(tmp_path / "some.csv", index=False)
    data = load(tmp_path / "some.csv", drop=["kind"])
    assert data.task == "regression"
    assert data.columns.used == ("a",)


def test_what_is_named_is_not_passed_over():
    with pytest.raises(InputError, match="single value"):
        load(FRAME.assign(y=1))
    with pytest.raises(InputError, match="40 distinct values"):
        load(FRAME.assign(name=[f"car {k}" for k in range(N)]), target="name")


def test_where_no_column_can_be_one_the_last_is_refused():
    with pytest.raises(InputError, match="'key' is text with 40 distinct"):
        load(pd.DataFrame({"id": range(5, N + 5), "key": [f"u{k}" for k in range(N)]}))


@pytest.mark.parametrize(("names", "target"), [("x y z", "z"), ("a y b", "y"), ("y x", "y"), ("x y", "y")])
def test_y_of_coordinates_is_no_target(names, target):
    frame = pd.DataFrame(RNG.normal(size=(N, len(names.split()))), columns=names.split())
    assert any(f"The target is column '{target}'" in each for each in load(frame).provenance)
