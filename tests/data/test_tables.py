import csv
import decimal

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings, strategies as st

from widenet.base.errors import InputError
from widenet.data import Dataset, load
from widenet.data.columns import CategoricalColumn, NumericColumn
from widenet.files.delimited import scan_delimited
from widenet.files.header import Header, choose_target
from widenet.files.words import MISSING

HEADER = "width,height,colour,y\n"
ROWS = "".join(f"{i % 7},{i * 0.37:.2f},{'rgb'[i % 3]},{'no' if i % 2 else 'yes'}\n" for i in range(30))
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def write(tmp_path):
    def writer(content: str | bytes, name: str = "table.csv") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return writer


def outcome(source: str) -> Dataset | str:
    try:
        return load(source)
    except InputError as error:
        return str(error)


def is_one_message(text: str) -> bool:
    """Whether a message is one sentence, or a list of problems with a line for each."""
    first, *others = text.split("\n")
    return not others or (first.endswith(" problems:") and all(line.startswith("- ") for line in others))


def refusal(source: str, **options) -> str:
    with pytest.raises(InputError) as error:
        load(source, **options)
    message = str(error.value)
    assert is_one_message(message)
    return message


def test_plain_table(write):
    data = load(write(HEADER + ROWS))
    assert (data.n, data.task, data.classes) == (30, "binary", ("no", "yes"))
    assert data.names == ("width", "height", "colour=b", "colour=g", "colour=r", "constant")
    assert data.given[:3] == ("yes", "no", "yes")
    assert data.Y[:3, 0].tolist() == [-1, 1, -1]
    assert data.rows.tolist() == list(range(1, 31))
    assert data.images is None
    assert data.X.dtype == torch.float64
    assert any("'y', chosen by its name" in sentence for sentence in data.provenance)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bom.csv", "\ufeff" + HEADER + ROWS),
        ("crlf.csv", (HEADER + ROWS).replace("\n", "\r\n")),
        ("cr.csv", (HEADER + ROWS).replace("\n", "\r")),
        ("semicolon.csv", (HEADER + ROWS).replace(",", ";")),
        ("tabs.csv", (HEADER + ROWS).replace(",", "\t")),
        ("tabs.tsv", (HEADER + ROWS).replace(",", "\t")),
        ("spaces.csv", (HEADER + ROWS).replace(",", ", ")),
        ("blank.csv", HEADER + "\n" + ROWS.replace("\n", "\n\n")),
        ("no_end.csv", (HEADER + ROWS).rstrip()),
        ("quotes.CSV", (HEADER + ROWS).replace("yes", '"yes"').replace("width", '"width"')),
    ],
)
def test_same_table_written_differently(write, name, content):
    data, plain = load(write(content, name)), load(write(HEADER + ROWS))
    assert torch.equal(data.X, plain.X)
    assert (data.names, data.given) == (plain.names, plain.given)


def test_quoted_commas_quotes_and_newlines(write):
    data = load(write('"a ""b""\nc",kind\n' + '1,"x, y"\n"2","p\nq"\n' * 4))
    assert data.names[0] == 'a "b"\nc'
    assert data.classes == ("p\nq", "x, y")


def test_quotes_may_follow_a_space(write):
    assert load(write('a, kind\n1, "x, y"\n2, "p, q"\n3, "p, q"\n')).classes == ("p, q", "x, y")


def test_the_word_none_is_a_category(write):
    rows = "".join(f"{('None', 'low', 'high')[i % 3]},{i % 2}\n" for i in range(30))
    assert load(write("alcohol,y\n" + rows)).names[0] == "alcohol=None"


def test_hostile_names_are_plain_text(write):
    table = f"{HOSTILE},{HOSTILE}2,y\n" + "".join(
        f"{i / 2},{'ab'[i % 2]}{HOSTILE},{i % 3}\n" for i in range(30)
    )
    data = load(write(table))
    assert data.names[0] == HOSTILE
    assert data.names[1] == f"{HOSTILE}2=a{HOSTILE}"
    assert HOSTILE in refusal(write(f"a,b,{HOSTILE}\n1,2,3\n5,2,inf\n7,3,1\n"))
    assert "\x1b" not in refusal(write("a,\x1b[31mred\n1,0\n5,inf\n2,7\n"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", ["empty"]),
        ("\n\n", ["empty"]),
        (HEADER, ["header", "no rows"]),
        (HEADER + "1,2,r,no\n", ["1 row", "two"]),
        ("a,y\n1,x\n2,x\n3,x\n", ["'y'", "single value 'x'"]),
        (HEADER + ROWS + "1,2\n", ["Line 32", "row 31", "2 fields", "4"]),
        (HEADER + ROWS + "1,2,3,4,5\n", ["Line 32", "5 fields"]),
        ('a,y\n"1\n\n",0\n1,2,3\n', ["Line 5", "row 2", "3 fields"]),
        ("a,y\n1\n", ["Line 2", "1 field "]),
        (HEADER + ROWS + "1,2,\0,no\n", ["Line 32", "NUL"]),
        ("a\0,y\n1,2\n", ["Line 1", "NUL"]),
        (HEADER + '1,"2"x,r,no\n' + ROWS, ["Line 2", "not valid CSV"]),
        (HEADER + '1,"2,r,no\n', ["not valid CSV", "end of data"]),
        ("a,y\n" + "".join(f"{i},{i * 1.5}\n" for i in range(60)) + "3,abc\n", ["Row 61", "'y'", "'abc'"]),
        ("a,y\n" + "".join(f"{i},{i * 1.5}\n" for i in range(60)) + "3,inf\n", ["Row 61", "'y'", "infinite"]),
        ("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(60)) + "3,abc\n", ["Row 61", "'y'", "'abc'"]),
        (
            "id,y\n" + "".join(f"u{i},{i % 2}\n" for i in range(40)),
            ["'id'", "different text in every row", "`keep`"],
        ),
        ("a,y\n" + "".join(f"{i},word{i}\n" for i in range(40)), ["'y'", "40 distinct", "`target`"]),
        ("a" * 200_000 + ",y\n1,2\n", ["Line 1", "field limit"]),
        ("5.1,3.5,0\na,b,1\n", ["first line", "header"]),
        ("y\n1\n2\n", ["only the column 'y'"]),
        ("a,y\n" + "1,0\n1,1\n" * 5, ["No feature column varies"]),
        ("a,y\n1e300,1\n-1e300,2\n3,1\n", ["'a'", "standardised"]),
        ("a,y\n1,1e308\n2,-1e308\n3,1e308\n", ["'y'", "standardised"]),
    ],
)
def test_refused_tables(write, content, said):
    message = refusal(write(content))
    for words in said:
        assert words in message


def test_refused_sources(write, tmp_path):
    assert "no file" in refusal(str(tmp_path / "absent.csv"))
    assert "folder" in refusal(str(tmp_path))
    assert ".csv, .tsv, .xlsx" in refusal(write("a,y\n", "table.doc"))
    assert "save it as .xlsx" in refusal(write("a,y\n", "table.ods"))
    assert "may run code" in refusal(write("a,y\n", "table.pkl"))
    assert "another kind of file" in refusal(write("a,y\n", "table.xlsx"))
    assert "did you mean 'mnist'" in refusal("mnits")
    assert "`target`" in refusal("digits", target="y")
    refusal("a\0b.csv")
    refusal("")
    refusal("a" * 5000 + ".csv")


def test_missing_target_suggests_near_names(write):
    assert "did you mean 'height'?" in refusal(write(HEADER + ROWS), target="hieght")
    assert "there are 'width', 'height', 'colour', 'y'" in refusal(write(HEADER + ROWS), target="zzzzzzzz")


def test_choice_of_target():
    assert choose_target(Header(("a", "Class", "b")), None)[0] == "Class"
    assert choose_target(Header(("y", "target", "b")), None)[0] == "target"
    name, sentence, is_guess = choose_target(Header(("a", "b")), None)
    assert is_guess
    assert name == "b"
    assert "last" in sentence
    assert choose_target(Header(("a", "y", "b")), "b")[0] == "b"
    assert choose_target(Header(("a", "b", "column 3"), unnamed=("column 3",)), None)[0] == "b"


def test_imputation_is_part_of_the_map(write):
    rows = "".join(f"{i if i != 4 else ''},{'rrg'[i % 3] if i != 7 else '?'},{i % 2}\n" for i in range(20))
    path = write("a,b,y\n" + rows)
    data = load(path)
    a, b = data.preparation.columns
    kept = [i for i in range(20) if i != 4]
    assert a == NumericColumn("a", fill=float(np.median(kept)))
    assert b == CategoricalColumn("b", ("g", "r"), has_gaps=True)
    assert data.names == ("a", "a is missing", "b=g", "b=r", "b is missing", "constant")
    assert torch.equal(data.preparation.apply(pd.read_csv(path, na_values="?")), data.X)
    assert any("median" in sentence for sentence in data.provenance)
    assert data.columns.imputed == ("a", "b")


def test_codes_with_an_open_end_are_categories(write):
    rows = "".join(f"{['0', '1', '2', '3+'][i % 4]},{i % 2}\n" for i in range(60))
    assert load(write("children,y\n" + rows)).names[:4] == tuple(
        f"children={k}" for k in ("0", "1", "2", "3+")
    )


def test_given_keeps_what_the_user_wrote(write):
    data = load(write("a,y\n" + "".join(f"{i},{i % 2}.50\n" for i in range(9))))
    assert data.task == "regression"
    assert data.given[:2] == ("0.50", "1.50")


def test_numeric_headers_that_count_are_names(write):
    assert load(write("0,1,2\n" + "".join(f"{i},{i * i},{i % 2}\n" for i in range(9)))).names == (
        "0",
        "1",
        "constant",
    )


def test_duplicate_looking_pandas_names_stay(write):
    assert load(write("a,a.1,y\n" + "".join(f"{i},{i * i},{i % 2}\n" for i in range(9)))).names[:2] == (
        "a",
        "a.1",
    )


def test_too_large_table_is_refused_before_it_is_read(write, monkeypatch):
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 1000)
    monkeypatch.setattr(pd, "read_csv", lambda *_, **__: pytest.fail("read"))
    assert "GiB" in refusal(write(HEADER + ROWS))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6), min_size=3, max_size=3
        ),
        min_size=2,
        max_size=6,
    )
)
def test_any_written_table_is_read_or_refused(tmp_path_factory, records):
    """Whatever text is in the fields, the csv module's own writing of it never ends in another exception."""
    path = tmp_path_factory.mktemp("any") / "any.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(records)
    result = outcome(str(path))
    assert is_one_message(result) if isinstance(result, str) else torch.isfinite(result.X).all()


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "any.csv"
    path.write_bytes(b"a,y\n1,2\n2,1\n" + content)
    result = outcome(str(path))
    assert is_one_message(result) if isinstance(result, str) else torch.isfinite(result.X).all()


def test_scan_counts_records_not_lines(write):
    layout = scan_delimited('a;b\n"1\n2";3\n\n4;5\n', "'table.csv'")
    assert (layout.dialect.separator, layout.header.names, layout.num_rows) == (";", ("a", "b"), 2)


def test_missing_words_hold_in_categories_too(write):
    for word in MISSING:
        table = HEADER + f'1,2,"{word}",no\n' + ROWS
        assert load(write(table)).columns.imputed == ("colour",)


# Parquet


def test_parquet_agrees_with_csv(write, tmp_path):
    frame = pd.read_csv(write(HEADER + ROWS))
    frame.index = frame.index + 5
    frame.to_parquet(tmp_path / "table.parquet")
    from_csv, from_parquet = load(write(HEADER + ROWS)), load(str(tmp_path / "table.parquet"))
    assert torch.equal(from_csv.X, from_parquet.X)
    assert from_csv.names == from_parquet.names
    assert torch.equal(from_csv.Y, from_parquet.Y)


def test_parquet_types(tmp_path):
    path = tmp_path / "types.parquet"
    frame = pd.DataFrame(
        {"a": pd.Categorical(list("xyz") * 10), "b": [True, False, None] * 10, "y": [1, 0] * 15}
    )
    frame.to_parquet(path)
    data = load(str(path))
    assert data.names == ("a=x", "a=y", "a=z", "b", "b is missing", "constant")
    odd_names = frame.assign(b=[decimal.Decimal("1.5"), decimal.Decimal("2.5")] * 15).rename(
        columns={"b": " b.c"}
    )
    odd_names.to_parquet(path)
    data = load(str(path))
    assert data.names == ("a=x", "a=y", "a=z", " b.c", "constant")
    assert isinstance(data.preparation.columns[1], NumericColumn)
    frame.assign(b=[[[1, 2]]] * 30).to_parquet(path)
    (nested,) = load(str(path)).columns.dropped
    assert (nested.name, "list" in nested.why) == ("b", True)
    assert "'b' is of type list" in refusal(str(path), target="b")


def test_damaged_parquet_is_refused(write, tmp_path):
    assert "Parquet" in refusal(write("no parquet at all", "x.parquet"))
    path = tmp_path / "cut.parquet"
    pd.DataFrame({"a": range(50), "y": [0, 1] * 25}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    assert "Parquet" in refusal(str(path))
