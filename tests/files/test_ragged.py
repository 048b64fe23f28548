"""Rows that end early: filled where the file leaves its last columns empty anyway, else refused."""

import pytest

from widenet.base.errors import InputError
from widenet.data import load

ROWS = [f"{k * 7 % 11},{k % 3},{'n' if k % 2 else 'p'},{'' if k % 4 else 'late'}" for k in range(40)]


def written(path, rows, end="\n"):
    path.write_text("a,b,y,note\n" + "\n".join(rows) + end)
    return path


def shortened(*places) -> list[str]:
    """The rows without the separator before an empty last field, which spreadsheets leave out at times."""
    return [row.removesuffix(",") if k in places else row for k, row in enumerate(ROWS)]


def test_rows_that_end_before_an_empty_column_are_filled_and_told(tmp_path):
    data = load(written(tmp_path / "short.csv", shortened(3, 17, 18, 39)), target="y")
    whole = load(written(tmp_path / "whole.csv", ROWS), target="y")
    assert (data.X == whole.X).all()
    assert any(note.startswith("4 rows end early") for note in data.provenance)


FULL = [row + "x" for row in ROWS]


@pytest.mark.parametrize(
    ("rows", "end"),
    [
        ([*FULL[:5], "1,2,n", *FULL[5:]], "\n"),
        ([*ROWS, "1,2,n"], ""),
        ([*ROWS[:5], "1,2", "n,late", *ROWS[5:]], "\n"),
        ([*ROWS[:5], "1,2,n", *ROWS[5:9], "1,2,n,late,5", *ROWS[9:]], "\n"),
    ],
    ids=["no empty end", "cut file", "one row on two lines", "too long as well"],
)
def test_rows_that_were_broken_are_refused(tmp_path, rows, end):
    with pytest.raises(InputError, match=r"fields and the header has 4"):
        load(written(tmp_path / "broken.csv", rows, end), target="y")
