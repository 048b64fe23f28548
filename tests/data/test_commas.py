import re

import pytest
from hypothesis import given, strategies as st

from widenet.base.errors import InputError
from widenet.data import load
from widenet.data.commas import comma_advice, have_commas

THOUSANDS = "write thousands without commas"
DECIMALS = "write decimals with a point"
EITHER = "the comma may stand before thousands or before decimals"


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["3,14", "2,71"], "write decimals with a point (3.14)"),
        (["0,123"], "write decimals with a point (0.123)"),  # no number begins with the group 0
        (["1234,5"], "write decimals with a point (1234.5)"),
        (["31,770", "3,5"], "write decimals with a point (31.770)"),
        (["1.234,50"], "write decimals with a point (1234.50)"),
        (["1,234,567"], "write thousands without commas (1234567)"),
        (["31,770", "1,234,567"], "write thousands without commas (31770)"),
        (["-1,234.50"], "write thousands without commas (-1234.50)"),
        (
            ["31,770", "1,234"],
            "the comma may stand before thousands or before decimals: write thousands without commas "
            "(31770), or decimals with a point (31.770)",
        ),
        (
            ["1,234,567", "3,5"],
            "some have a comma before decimals and others before thousands: write all of them in one way",
        ),
        (["3,14", "abc"], "write decimals with a point (3.14)"),
        (["abc", "3,14"], ""),
        (["1,23,456"], ""),
        ([], ""),
    ],
)
def test_advice(words, advice):
    assert comma_advice(words) == advice


@given(st.lists(st.integers(1000, 10**9), min_size=1))
def test_thousands_are_never_called_decimals(numbers):
    words = [f"{number:,}" for number in numbers]
    assert have_commas(words)
    advice = comma_advice(words)
    assert advice.startswith((THOUSANDS, EITHER))
    assert f"({numbers[0]})" in advice


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.integers(1, 2))
def test_decimals_are_never_called_thousands(numbers, digits):
    words = [f"{number:.{digits}f}".replace(".", ",") for number in numbers]
    (example,) = re.findall(r"\((.*)\)", comma_advice(words))
    assert comma_advice(words).startswith(DECIMALS)
    assert float(example) == float(f"{numbers[0]:.{digits}f}")


@pytest.fixture
def refusal(tmp_path):
    """What is said of a table whose rows are pairs of words."""

    def said(rows) -> str:
        path = tmp_path / "table.csv"
        path.write_text("\n".join(["a,y", *(f'"{a}","{y}"' for a, y in rows)]))
        with pytest.raises(InputError) as error:
            load(str(path))
        return str(error.value)

    return said


def test_columns_with_commas(refusal):
    assert refusal((f"{900 * k:,}", k % 2) for k in range(1, 31)) == (
        "Column 'a' holds numbers with commas, such as '1,800': the comma may stand before thousands or "
        "before decimals: write thousands without commas (1800), or decimals with a point (1.800)."
    )
    assert refusal((f"{k},5", k % 2) for k in range(30)) == (
        "Column 'a' holds numbers with commas, such as '0,5': write decimals with a point (0.5)."
    )


def test_rows_with_commas(refusal):
    assert refusal((f"{k**5:,}", k % 2) for k in (2, 3, 1, 18, 17)) == (
        "Row 4, column 'a': '1,889,568' is not a number, as 3 of 5 values of this column are: "
        "write thousands without commas (1889568)."
    )


def test_targets_with_commas(refusal):
    assert refusal((k, f"{1000 + k:,}") for k in range(30)).startswith("Column 'y' holds numbers with commas")
