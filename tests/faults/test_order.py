"""Threads and the order of rows change the numbers of an audit by rounding, and its choices not at all."""

import numpy as np
import pandas as pd
import pytest
import torch

import widenet
from widenet.audit.run import run_audit
from widenet.data.order import content_order
from widenet.report.audit import record

ROUNDING = 1e-6


def digits(num_rows):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return pd.DataFrame(X[:num_rows]).rename(columns=str).assign(y=y[:num_rows])


def mixed(num_rows, classes):
    """Numbers, words, a gap, rows that repeat, and some of these with another target."""
    generator = np.random.default_rng(5)
    x, colour = generator.normal(size=(num_rows, 3)), generator.choice(["red", "green", "blue"], num_rows)
    table = pd.DataFrame({"u": x[:, 0].round(2), "v": np.exp(x[:, 1]), "w": x[:, 2], "colour": colour})
    y = x[:, 0] * x[:, 1] + (colour == "red") + 0.2 * generator.normal(size=num_rows)
    table["y"] = np.where(y > 0.4, "yes", "no") if classes else y
    table.loc[3, "u"] = np.nan
    others = table[:4].assign(y=table["y"][10:14].to_numpy())
    return pd.concat([table, table[:7], others], ignore_index=True)


def audited(table, order=None):
    """The record of an audit, its rows named by their places in `table`."""
    order = np.arange(len(table)) if order is None else order
    result = run_audit(widenet.load(table.iloc[order].reset_index(drop=True), target="y"))
    found = record(result)
    place = dict(enumerate((order + 1).tolist(), start=1))
    suspects = [(place[each.row], each.given, each.suggested) for each in result.ranking]
    scores = [each.score for each in result.ranking]
    groups = {
        name: sorted(sorted(place[row] for row in group) for group in found["data"][name])
        for name in ("duplicates", "conflicts")
    }
    named = ("seconds", "forecast", "verdict", "labels")  # times, and sentences that name rows
    return {name: part for name, part in found.items() if name not in named} | {
        "suspects": dict(zip(suspects, scores, strict=True)),
        "data": found["data"] | groups,
    }


def differences(first, second, path=""):
    """Where two records differ: numbers by more than rounding, anything else at all."""
    if isinstance(first, float) and isinstance(second, float):
        close = abs(first - second) <= ROUNDING * max(abs(first), abs(second))
        return [] if close else [(path, first, second)]
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return [each for key in first for each in differences(first[key], second[key], f"{path}/{key}")]
    if isinstance(first, list | tuple) and isinstance(second, list | tuple) and len(first) == len(second):
        pairs = enumerate(zip(first, second, strict=True))
        return [each for index, pair in pairs for each in differences(*pair, f"{path}/{index}")]
    return [] if first == second else [(path, first, second)]


TABLES = [
    pytest.param(lambda: mixed(60, classes=True), id="classes"),
    pytest.param(lambda: mixed(60, classes=False), id="numbers", marks=pytest.mark.slow),
    pytest.param(lambda: digits(400), id="digits", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("table", TABLES)
def test_the_order_of_rows_changes_an_audit_by_rounding_alone(table):
    table = table()
    order = np.random.default_rng(7).permutation(len(table))
    assert differences(audited(table), audited(table, order)) == []


@pytest.mark.slow  # threads that wait for each other on a busy machine
@pytest.mark.parametrize("table", TABLES)
def test_the_number_of_threads_changes_an_audit_by_rounding_alone(table):
    table, before = table(), torch.get_num_threads()
    found = []
    try:
        for num_threads in (1, 2):
            torch.set_num_threads(num_threads)
            found.append(audited(table))
    finally:
        torch.set_num_threads(before)
    assert differences(*found) == []


def test_rounding_does_not_change_the_order():
    generator = torch.Generator().manual_seed(3)
    X = torch.nn.functional.normalize(torch.randn(500, 6, generator=generator, dtype=torch.float64))
    X[100:200] = X[:100]
    Y = torch.randint(2, (500, 1), generator=generator).double()
    order = content_order(X, Y)
    assert torch.equal(order.sort().values, torch.arange(500))
    moved = X * (1 + 1e-15 * torch.randn(500, 6, generator=generator, dtype=torch.float64))
    shuffle = torch.randperm(500, generator=generator)
    again = shuffle[content_order(moved[shuffle], Y[shuffle])]
    assert torch.equal(X[again], X[order])
    assert torch.equal(Y[again], Y[order])
