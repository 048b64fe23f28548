"""How real files divide their columns: aligned by spaces, with tabs among them, with escaped quotes."""

import pytest
import torch

from widenet.data import load
from widenet.files.dialect import START, dialect_of

VEHICLE = (  # of the UCI repository: no names, and a space at the end of some lines
    "91 39 77 153 van \n96 50 94 215 saab\n88 35 60 143 van \n104 50 108 209 opel\n" * 3
)
DIVORCE = "       id        heduc   mixed     years   div\n" + (
    "       9   12-15 years      No    10.546    No\n"
    "      11    < 12 years      No    34.943    No\n"
    "      13    16+ years      Yes     2.834   Yes\n" * 4
)
COMMITTEE = "          \t      SIZE SUBS  STAFF \n" + (
    "Appropriations   \t58   13    109 \t\nBudget   \t\t42   0     39 \t\n"
    "Rules\t13\t2    3\nHouse_Oversight 8 1\t4\n" * 3
)
SPRINT = '"Name", "Country", "Medal", "Time"\n' + (
    '"Usain Bolt", "JAM", "GOLD", 9.63\n"H. Norwood \\"Barney\\" Ewell", "USA", "SILVER", 10.40\n'
    '"Lloyd LaBeach", "PAN", "BRONZE", 10.40\n' * 4
)
PATHS = "folder,size,y\n" + '"C:\\data\\",1,a\n"C:\\more\\",2,b\n' * 6


def read(tmp_path, text, name="some.dat", **options):
    (tmp_path / name).write_bytes(text.encode())
    return load(tmp_path / name, **options)


@pytest.mark.parametrize(
    ("text", "num_columns", "target"),
    [
        (VEHICLE, 5, "van"),
        (DIVORCE, 5, "No"),
        (COMMITTEE, 4, "109"),
        (VEHICLE.replace("\n", "\r\n"), 5, "van"),
    ],
)
def test_columns_that_are_aligned(tmp_path, text, num_columns, target):
    data = read(tmp_path, text)
    assert f"Read 12 rows and {num_columns} columns" in data.provenance[0]
    assert "separated by spaces" in data.provenance[0]
    assert data.given[0] == target


def test_quotes_after_a_backslash(tmp_path):
    data = read(tmp_path, SPRINT, keep=["Name"])
    assert 'Name=H. Norwood "Barney" Ewell' in data.names
    assert data.n == 12


def test_a_backslash_before_a_closing_quote_is_one(tmp_path):
    assert dialect_of(PATHS).escape is None
    assert "folder=C:\\data\\" in read(tmp_path, PATHS, "some.csv").names


def test_a_mark_of_the_end_of_a_file_is_no_value(tmp_path):
    rows = "a,y\n" + "1.5,2.5\n2.5,1.0\n0.5,6.25\n" * 4
    marked = read(tmp_path, rows + "\x1a", "marked.csv")
    torch.testing.assert_close(marked.X, read(tmp_path, rows, "plain.csv").X)
    assert read(tmp_path, rows[:-1] + "\x1a", "marked.csv").given[-1] == "6.25"


def test_a_line_that_is_cut_has_no_vote():
    line = "12 some words 34\n"
    assert dialect_of("a b c d\n" + line * (START // 8)).how == "spaces"


@pytest.mark.parametrize("separator", ["|", "\t"])
def test_quotes_between_bars_and_tabs_may_be_signs_like_others(tmp_path, separator):
    """Of the BioNumbers: a field begins with words in quotes, and goes on."""
    rows = [
        [f"{k}", '"Rule of thumb" for volume' if k % 3 else '5" long', f"{k * 7 % 5}.5"] for k in range(12)
    ]
    text = "\n".join(separator.join(row) for row in [["id", "property", "value"], *rows]) + "\n"
    data = read(tmp_path, text, "bio.txt", keep=["property"])
    assert data.n == 12
    assert 'property="Rule of thumb" for volume' in data.names
    quoted = text.replace('"Rule of thumb" for volume', '"Rule of thumb"').replace('5" long', "short")
    assert "property=Rule of thumb" in read(tmp_path, quoted, "plain.txt").names


def test_single_quotes_hold_separators_where_nothing_else_fits(tmp_path):
    """Flags of measurements: 100,'Checked. Valid, overrides invalid flags','V'."""
    rows = [
        f"{100 + k * k},'{('Checked, valid', 'Invalid, too low, or too high')[k % 2]}','{'VI'[k % 2]}'"
        for k in range(20)
    ]
    data = read(tmp_path, "\n".join(rows))
    assert (data.n, data.classes) == (20, ("I", "V"))
    assert data.cells["column 2"].iloc[0] == "Checked, valid"
    plain = "name,size,kind\n" + "'t Hooft,1.5,a\n'n Roll,2.5,b\nO'Neil,3.5,a\n" * 5
    data = read(tmp_path, plain)
    assert data.cells["name"].iloc[0] == "'t Hooft"


def test_the_start_decides_on_single_quotes():
    """A line further down changes nothing, nor is all of a long file divided for an apostrophe."""
    quoted = "1,'Checked, valid','V'\n2,'Low','I'\n" * (START // 16)
    assert dialect_of(quoted + "3,'Low'\n").quote == "'"
    plain = "id,name,kind\n" + "1,Ann,a\n2,Bob,b\n" * (START // 8)
    assert dialect_of(plain + "3,'s Gravenhage, or Den Haag',b\n").quote == '"'
