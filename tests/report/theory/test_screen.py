"""Quantities on a terminal: every part is there, in 80 columns, whatever the numbers are."""

import io
import math

import pytest
from rich.console import Console

from widenet.report.theory.screen import number_text, print_quantity, value_text
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
    print_quantity(given, Console(file=text, width=120), {"fine-grained": "A title"})
    return text.getvalue()


def test_every_part_is_shown():
    out = printed(quantity())
    for words in (
        "2.5",
        "a = b·c",
        "a = 5·0.5",
        "b = 5\n",
        "c = 0.5",
        "C = 1 (ours, the paper hides it): in b",
    ):
        assert words in out
    for words in ("D = 2 (the paper's): in c", "inside the range", "holds.", "Theorem 0", "A title"):
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
    assert number_text(math.inf) == "beyond a float"
    assert number_text(-math.inf) == "−∞"


def test_ranges():
    assert "outside the range" in printed(quantity(applies=False))
    assert "no conditions" in printed(quantity(applies=None))


def test_long_lines_are_folded():
    out = printed(quantity(filled="a = " + "1234567890" * 30, why=("[bold]word " * 40,)))
    assert max(map(len, out.splitlines())) <= 80
    assert "[bold]word" in out
