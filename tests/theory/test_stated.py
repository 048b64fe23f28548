"""A function and its paper's symbols make a theorem: entry, quantity and constants follow."""

import math
from collections.abc import Sequence
from typing import Literal

import pytest

from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
from widenet.theory.numbers import mpf
from widenet.theory.quantity import Citation, Constant
from widenet.theory.stated import Found, Paper, entries

PAPER = Paper(
    "toys",
    "toy",
    {
        "n": Argument("number of rows", low=1),
        "numbers": Argument("numbers to add"),
        "mode": Argument("way to add"),
        "c": Argument("constant c, ours", low=0.0, hidden="of the algorithm"),
    },
)


@PAPER.states("Theorem 2", "A power of ten", c_T="in T")
def power_of_ten(n: int, numbers: Sequence[float] = (), c_T: float = 1.0, c: float = 0.5) -> Found:
    """c_T·10^n."""
    value = c_T * mpf(10) ** n
    return Found(
        value,
        "c_T·10^n",
        f"10^{n}",
        {"half": value / 2, "n": n},
        (Demand("n", n, "≤", 400),),
        ("A note.",),
    )


@PAPER.states("(3)", "Plain", "toy-plain", n=Argument("count", low=0))
def plain(n: int, mode: Literal["up", "down"] = "up", numbers: str | None = None) -> Found:
    return Found(2 * n, "2n", f"2·{n}", holds=n > 3 if mode == "down" else None)


def test_arguments_are_the_symbols_with_the_functions_kinds_and_defaults():
    arguments = power_of_ten.entry.arguments
    assert list(arguments) == ["n", "numbers", "c_T", "c"]
    assert arguments["n"] == Argument("number of rows", int, 1)
    assert arguments["numbers"] == Argument("numbers to add", tuple, default=())
    assert arguments["c"] == Argument("constant c, ours", float, 0.0, default=0.5, hidden="of the algorithm")
    told = Argument("constant c_T that the paper hides", float, 0.0, default=1.0, strict=True, hidden="in T")
    assert arguments["c_T"] == told


def test_a_symbol_can_mean_something_else_for_one_theorem():
    assert plain.entry.arguments["n"] == Argument("count", int, 0)
    assert [argument.kind for argument in plain.entry.arguments.values()] == [int, str, str]


def test_names_come_from_the_place_or_are_given():
    assert [entry.name for entry in entries(plain, power_of_ten)] == ["toy-plain", "toy-theorem-2"]
    assert power_of_ten(2).source == Citation("toys", "Theorem 2")
    assert power_of_ten.__doc__ == "c_T·10^n."


def test_numbers_without_limit_become_floats_with_their_logarithm():
    found = power_of_ten(400)
    assert (found.value, found.log10) == (math.inf, 400.0)
    assert found.terms == {"half": math.inf, "n": 400}
    assert type(power_of_ten(2).terms["half"]) is float
    assert (plain(2).value, plain(2).log10) == (4, None)


def test_hidden_constants_are_those_that_were_given():
    found = power_of_ten(2, c_T=3.0)
    assert found.value == 300.0
    assert found.constants == {
        "c_T": Constant(3.0, True, "in T"),
        "c": Constant(0.5, True, "of the algorithm"),
    }
    assert power_of_ten.entry({"n": "2", "c": "0.25"}).constants["c"].value == 0.25


def test_what_is_required_decides_whether_it_applies():
    assert power_of_ten(2).applies is True
    assert power_of_ten(401).applies is False
    assert power_of_ten(2).why == ("n = 2 ≤ 400: holds.", "A note.")
    assert [plain(5).applies, plain(5, "down").applies, plain(3, "down").applies] == [None, True, False]


def test_an_argument_without_a_symbol_is_refused():
    with pytest.raises(KeyError, match="depth"):

        @PAPER.states("Theorem 4", "Deep")
        def deep(depth: int) -> Found:
            return Found(depth, "", "")
