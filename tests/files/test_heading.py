"""Where names stand in files as people have them: excerpts of real ones, as they are written."""

import pandas as pd
import pytest

from widenet.base.errors import InputError
from widenet.data import load
from widenet.files.heading import find_heading, holds_values
from widenet.files.opening import check_file

IRIS = "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n7.0,3.2,4.7,1.4,Iris-versicolor\n" * 4
MACHINE = (  # of the UCI repository: words and numbers, no names
    "adviser,32/60,125,256,6000,256,16,128,198,199\namdahl,470v/7,29,8000,32000,32,8,32,269,253\n"
    "amdahl,470v/7a,29,8000,32000,32,8,32,220,253\napollo,dn320,400,1000,3000,0,1,2,38,23\n" * 3
)
CARS = (  # of the UCI repository: no name and no number
    "vhigh,vhigh,small,low,unacc\nvhigh,high,big,med,unacc\nhigh,vhigh,small,low,acc\n"
    "high,high,big,high,unacc\nvhigh,vhigh,big,low,acc\nhigh,vhigh,small,med,unacc\n" * 3
)
UNITS = "time,speed,mode,load\ns,km/h,,kg\n" + "".join(
    f"{k},{k * k % 7}.5,{'ab'[k % 2]},{k * 3 % 5}\n" for k in range(20)
)
MERGED = "Sales of 2020,,,,,\nstore,,,,this year,\nnorth,south,east,west,kind,y\n" + "".join(
    f"{k * 3},{k * k % 7},{k % 3},{k * 5 % 9},a{k % 2},{k % 4 < 2}\n" for k in range(20)
)
REMARKS = "# made by a machine, in two runs, on monday\n# v2\n" + "a,y\n" + "1.5,no\n2.5,yes\n0.5,no\n" * 5
TAB = (
    "sepal length\tpetal length\tiris\nc\tc\td\n\t\tclass\n" + "5.1\t1.4\tsetosa\n7.0\t4.7\tversicolor\n" * 5
)


def read(path, text, **options):
    path.write_text(text)
    check_file(str(path), options.get("target"), (), (), ())
    return load(path, **options)


@pytest.mark.parametrize(("text", "num_rows"), [(IRIS, 12), (MACHINE, 12), (CARS, 18)])
def test_a_file_without_names_is_read_from_its_first_line(tmp_path, text, num_rows):
    data = read(tmp_path / "some.data", text)
    width = text.splitlines()[0].count(",") + 1
    assert data.n == num_rows
    assert data.rows[0] == 1
    assert data.given[0] == text.splitlines()[0].rpartition(",")[2]
    assert f"no line of column names: its columns were called 'column 1' to 'column {width}'" in " ".join(
        data.provenance
    )
    assert read(tmp_path / "some.data", text, target="column 1").given[0] == text.partition(",")[0]


def test_decimal_commas_are_no_names(tmp_path):
    assert read(tmp_path / "some.csv", "5,1;0,2;a\n4,9;0,4;b\n7,0;0,1;a\n" * 4).n == 12


def test_units_below_the_names_are_no_row(tmp_path):
    data = read(tmp_path / "some.csv", UNITS, target="load")
    assert (data.n, data.columns.used, data.columns.imputed) == (20, ("speed", "mode"), ())
    assert "What stands below the column names, units or the like, was skipped." in data.provenance


def test_a_sparse_line_above_the_names_is_a_title(tmp_path):
    data = read(tmp_path / "some.csv", MERGED)
    assert (data.n, data.columns.used) == (20, ("north", "south", "east", "west", "kind"))
    assert "Skipped 2 lines above the column names." in data.provenance


def test_remarks_are_titles(tmp_path):
    data = read(tmp_path / "some.csv", REMARKS)
    assert (data.n, data.columns.used) == (15, ("a",))


def test_types_and_flags_of_a_tab_file(tmp_path):
    data = read(tmp_path / "iris.tab", TAB)
    assert (data.n, data.classes) == (10, ("setosa", "versicolor"))


@pytest.mark.parametrize(
    ("types", "flags"),
    [
        ("c\tlow very\\ high\td", "\t\tclass"),
        ("c\t\td", "\t\t"),
        ("c\td\ta b", "meta\t\t"),
        ("c\td\td", "meta include=True\thidden=False\tclass"),
    ],
)
def test_types_may_be_values_or_missing(tmp_path, types, flags):
    rows = "".join(f"{k}.5\t{('low', 'very high')[k % 3 == 0]}\t{'ab'[k % 2]}\n" for k in range(12))
    data = read(tmp_path / "some.tab", f"size\tlevel\tkind\n{types}\n{flags}\n{rows}")
    assert (data.n, data.classes, data.columns.used) == (12, ("a", "b"), ("size", "level"))


@pytest.mark.parametrize("has_names", [True, False])
def test_spreadsheets_have_the_same_headings(tmp_path, has_names):
    rows = [(k / 4, k * k % 7, "ab"[k % 2]) for k in range(12)]
    head = [("length", "count", "y"), ("cm", "pieces", None)] if has_names else []
    pd.DataFrame([*head, *rows]).to_excel(tmp_path / "book.xlsx", header=False, index=False)
    data = load(tmp_path / "book.xlsx")
    assert (data.n, int(data.rows[0])) == (12, 1)
    assert data.columns.used == (("length", "count") if has_names else ("column 1", "column 2"))
    assert data.columns.imputed == ()


@pytest.mark.parametrize(
    ("names", "is_row"),
    [
        ("16.5,16.75,17.25,17.75", False),  # bins
        ("16.5,17.75", True),
        (",142.24,144.78,147.32,149.86", False),
        ("1.5,y", True),
        ("10%,50%,90%", False),
        ("-1,2,3", True),
    ],
)
def test_numbers_that_increase_are_names(names, is_row):
    assert holds_values(names.split(",")) is is_row


def test_a_row_of_words_among_few_is_a_header():
    assert find_heading([["a", "b"], ["a", "b"]]).is_given  # too few to tell
    assert find_heading([["colour", "size"], *[["red", "small"], ["blue", "big"]] * 5]).is_given


def test_names_that_are_repeated_are_names(tmp_path):
    text = "shape,colour,y\nround,red,a\nflat,blue,b\n"
    assert read(tmp_path / "joined.csv", text * 6).columns.used == ("shape", "colour")


def test_the_last_names_may_be_empty_where_rows_end_before_them(tmp_path):
    data = read(tmp_path / "some.csv", "year,value,\n" + "1990,2.5\n1991,3.5\n1993,2.0\n" * 4)
    assert (data.columns.used, data.n) == (("year",), 12)


STACK = (  # of Lisiecki and Raymo: how to cite it, an empty record, then the table
    'Please,cite:,"Lisiecki, L. E., and M. E. Raymo (2005), A Pliocene-"\n'
    'Pleist,ocene,"stack of 57 globally distributed benthic records,"\n,,\n'
    "Time (ka),Benthic d18O (per mil),Standard error (per mil)\n"
) + "".join(f"{k},{3 + k * 7 % 5 / 10},0.0{3 + k % 4}\n" for k in range(20))
INVERTERS = (  # of the System Advisor Model: units below the names, and names of variables below these
    "Name,Vac,Pso,CEC_Type\nUnits,V,Wac,\n[0],inv_snl_ac_voltage,inv_snl_pso,inv_cec_type\n"
) + "".join(f"model {k},{208 + k % 3},{k * 7 % 11}.5,{['Grid', 'Utility'][k % 2]}\n" for k in range(20))
GROUPS = "name,town,y\nAnn,Oslo,no\n,,\nBob,Rome,yes\nCarl,Oslo,no\n" + "Dan,Rome,yes\nEve,Oslo,no\n" * 5


def test_titles_end_at_an_empty_record(tmp_path):
    data = read(tmp_path / "LR04.csv", STACK)
    assert data.cells is not None
    assert data.cells.columns[0] == "Time (ka)"
    assert data.n == 20


def test_an_empty_record_among_words_ends_no_titles(tmp_path):
    data = read(tmp_path / "groups.csv", GROUPS)
    assert (data.target, data.n) == ("y", 13)


def test_several_lines_may_explain_the_names(tmp_path):
    data = read(tmp_path / "inverters.csv", INVERTERS)
    assert (data.n, data.classes) == (20, ("Grid", "Utility"))
    assert data.columns.imputed == ()


@pytest.mark.parametrize("first", ["20,2,setosa,virginica", "20,2,setosa"])
def test_a_line_that_counts_rows_and_features(tmp_path, first):
    """As scikit-learn's `iris.csv` and `breast_cancer.csv` have it."""
    rows = "".join(f"{k / 4},{k * k % 7}.5,{k % 2}\n" for k in range(20))
    data = read(tmp_path / "some.csv", f"{first}\n{rows}")
    assert (data.n, data.target, data.columns.used) == (20, "column 3", ("column 1", "column 2"))
    with pytest.raises(InputError, match="not column names"):
        read(tmp_path / "some.csv", f"20,7,setosa\n{rows}")


def test_settings_of_another_length_stand_above_the_names(tmp_path):
    """As weather from the NSRDB has it: names and values of the station, then the table."""
    settings = "Source,City,Latitude,Zone,Unit\nNSRDB,-,64.84,-9,w/m2\n"
    rows = "".join(f"2015,{k % 12},{k * k % 31}.5\n" for k in range(20))
    data = read(tmp_path / "some.csv", f"{settings}Year,Month,GHI\n{rows}")
    assert (data.n, data.target, data.columns.used) == (20, "GHI", ("Month",))
    assert any("Skipped 2 lines above the column names" in note for note in data.provenance)


def test_a_first_row_of_words_below_names_that_are_one_short_is_a_row(tmp_path):
    """As R writes a table with names of rows: these have no name."""
    rows = "".join(f"P{k},{k * 3 % 11},{k * k % 7},{['high', 'low'][k % 2]}\n" for k in range(30))
    data = read(tmp_path / "some.csv", f"age,weight,kind\nAnna,unknown,n/a,low\n{rows}")
    assert (data.n, data.target, data.columns.used) == (31, "kind", ("age", "weight"))
    data = read(tmp_path / "some.csv", f"City,Oslo,7\nname,age,weight,kind\n{rows}")  # no names, but settings
    assert (data.n, data.target, data.columns.used) == (30, "kind", ("age", "weight"))
