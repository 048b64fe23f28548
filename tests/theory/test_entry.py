"""Arguments as people type them."""

import math

import pytest

from widenet.base.errors import InputError
from widenet.theory.entry import Argument, Entry
from widenet.theory.quantity import Citation, Quantity


def twice(n: int, scale: float = 1.0) -> Quantity:
    return Quantity("twice", 2 * n * scale, "2n", f"2·{n}", {}, None, (), Citation("none", "nowhere"))


ENTRY = Entry(
    "twice",
    twice,
    {"n": Argument("number of rows", int, 1, 100), "scale": Argument("unit", float, 0.0, default=1.0)},
    "Twice n",
)


@pytest.mark.parametrize(("text", "value"), [("7", 7), ("1e6", 10**6), ("10_000", 10_000), ("-3.0", -3)])
def test_whole_numbers(text, value):
    assert Argument("count", int).read("n", text) == value


@pytest.mark.parametrize("text", ["1.5", "seven", "", "inf", "nan", "1e400"])
def test_not_whole_numbers(text):
    with pytest.raises(InputError, match="whole number"):
        Argument("count", int).read("n", text)


@pytest.mark.parametrize("text", ["inf", "nan", "-inf"])
def test_numbers_must_be_finite(text):
    with pytest.raises(InputError, match="a number"):
        Argument("rate").read("eta", text)


def test_a_value_is_told_as_it_was_typed():
    with pytest.raises(InputError, match="n=1e300 does not fit"):
        Argument("count", int, 1, 100).read("n", "1e300")


@pytest.mark.parametrize(
    ("argument", "text", "words"),
    [
        (Argument("share δ", float, 0.0, 1.0, strict=True), "1", "0 < value < 1"),
        (Argument("share δ", float, 0.0, 1.0), "1.01", "0 ≤ value ≤ 1"),
        (Argument("step η", float, 0.0, strict=True), "0", "> 0"),
        (Argument("count", int, 2), "1", "≥ 2"),
        (Argument("count", int, high=5), "6", "≤ 5"),
        (Argument("powers", tuple, 0.0), "1,-2", "≥ 0"),
    ],
)
def test_a_value_out_of_range_gets_one_sentence(argument, text, words):
    with pytest.raises(InputError) as refusal:
        argument.read("x", text)
    message = str(refusal.value)
    assert words in message
    assert argument.meaning in message
    assert message.endswith(".")
    assert "\n" not in message


def test_ends_are_inside_unless_strict():
    assert Argument("share", float, 0.0, 1.0).read("x", "1") == 1
    assert Argument("share", float, 0.0, 1.0).read("x", "0") == 0


def test_other_kinds():
    assert Argument("is it", bool).read("x", "Yes") is True
    assert Argument("is it", bool).read("x", "no") is False
    assert Argument("powers", tuple).read("x", "1,2.5,-3") == (1.0, 2.5, -3.0)
    assert Argument("formula", str).read("x", "a=b") == "a=b"
    with pytest.raises(InputError, match="yes or no"):
        Argument("is it", bool).read("x", "maybe")


def test_an_entry_computes_from_text():
    assert ENTRY({"n": "3"}).value == 6
    assert ENTRY({"n": "3", "scale": "0.5"}).value == 3
    assert math.isclose(ENTRY({"n": "1e2"}).value, 200)


def test_missing_and_unknown_arguments():
    with pytest.raises(
        InputError, match=r"needs n \(the number of rows, a whole number with 1 ≤ value ≤ 100\)"
    ):
        ENTRY({})
    with pytest.raises(InputError, match="no argument m; it takes n, scale"):
        ENTRY({"n": "3", "m": "1"})
