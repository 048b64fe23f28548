"""Quantities on a terminal: every part is there, in 80 columns, whatever the numbers are."""

import io
import math

import pytest
from rich.console import Console

from widenet.report.theory import argument_lines, record, screen, sentences
from widenet.report.theory.sentences import number_text, value_text
from widenet.theory.entry import Argument
from widenet.theory.quantity import Citation, Constant, Quantity


def quantity(**changes) -> Quantity:
    parts = {
        "name": "example",
        "value": 2.5,
        "formula": "a = b·c",
        "filled": "a = 5·0.5",
        "terms": {"b": 5, "c": 0.5},
        "applies": True,
        "why": ("b = 5 ≥ 1: holds.",),
        "source": Citation("fine-grained", "Theorem 0"),
        "constants": {"C": Constant(1.0, True, "in b"), "D": Constant(2.0, False, "in c")},
    }
    return Quantity(**(parts | changes))


def printed(given: Quantity) -> str:
    text = io.StringIO()
    screen(given, Console(file=text, width=120))
    return text.getvalue()


def test_every_part_is_shown():
    out = printed(quantity())
    for words in (
        "2.5",
        "a = b·c",
        "a = 5·0.5",
        "b = 5\n",
        "c = 0.5",
        "C = 1 (our value; the paper hides it): in b",
    ):
        assert words in out
    for words in (
        "D = 2 (the paper's): in c",
        "inside the range",
        "holds.",
        "Theorem 0",
        "Fine-grained analysis",
    ):
        assert words in out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": 2.5, "error": 1e-9}, "2.5 ± 1e-09"),
        ({"value": math.inf, "log10": 4342.94}, "10^4342.94"),
        ({"value": math.inf, "log10": math.inf}, "infinite"),
        ({"value": math.inf}, "infinite"),
    ],
)
def test_values(changes, words):
    assert words in value_text(quantity(**changes))


def test_numbers():
    assert number_text(12345) == "12,345"
    assert number_text(math.inf) == "too large for a float"
    assert number_text(-math.inf) == "−∞"


def test_ranges():
    assert "outside the range" in printed(quantity(applies=False))
    assert "no conditions" in printed(quantity(applies=None))


def test_long_lines_are_folded():
    out = printed(quantity(filled="a = " + "1234567890" * 30, why=("[bold]word " * 40,)))
    assert max(map(len, out.splitlines())) <= 80
    assert "[bold]word" in out


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ("example is 2.5.", "The arguments are inside the theorem's range.")),
        (
            {"value": math.inf, "log10": 4342.94, "applies": False},
            (
                "example is 10^4342.94, too large for a float.",
                "The arguments are outside the theorem's range.",
            ),
        ),
        (
            {"value": math.inf, "applies": None},
            ("example is infinite.", "It has no conditions to check."),
        ),
    ],
)
def test_the_verdict_tells_the_value_and_whether_the_theorem_applies(changes, told):
    found = quantity(**changes)
    assert sentences(found) == told
    assert record(found)["verdict"] == list(told)
    assert record(found)["schema"] == "widenet/theory/1"


def test_arguments_tell_their_defaults():
    arguments = {
        "n": Argument("number of samples", int, 1),
        "C": Argument("constant", float, 0.0, default=1.0),
    }
    assert argument_lines(arguments) == [
        "n: number of samples, a whole number ≥ 1",
        "C: constant, a number ≥ 0; 1 by default",
    ]
