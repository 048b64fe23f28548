"""Lines that are no rows: remarks above them, sources below them, and files that are no table at all."""

import numpy as np
import pytest

from widenet.base.errors import InputError
from widenet.data import load
from widenet.files.opening import check_file

PEAK = (  # of lmfit's examples
    "# test peak data\n#---------------------------------\n#  t         y\n"
    "  0.000000    0.021654\n  0.050000    0.019221\n  0.100000   -0.146881\n  0.150000    0.109422\n"
)
SAVED = "# x y\n" + "".join(
    f"{value:.18e} {value**2:.18e}\n" for value in np.linspace(0, 1, 8)
)  # numpy.savetxt
UNNAMED = "# measured in the morning\n" + "0.5 2.25 7\n0.7 1.25 6\n0.9 0.5 4\n"
NAMED = "# of the lab, twice\n# v, 2\nwidth,y\n" + "1.5,2.5\n0.5,1.5\n2.5,0.25\n"
OTUS = "# Constructed from biom file\n#OTU ID\tf2\tf1\ty\n295053\t20\t18\t4\n" + "".join(
    f"None{k}\t{k}\t{k * k % 7}\t{k % 5}\n" for k in range(9)
)
INCOME = (  # of the Bureau of Economic Analysis: a space behind a quote, and sources below
    '"FIPS","AreaName","1969  ","1970  ","1971  " \n'
    + "".join(
        f'"{k:02}","state {k}",{3000 + 97 * k % 800} ,{k * 31 % 700} ,{k * 17 % 500} \n' for k in range(12)
    )
    + '"Source: Regional Economic Information System"\n'
    '"=HYPERLINK(""http://www.bea.gov/footnotes"",""Footnotes"")","http://www.bea.gov"\n"\'October 2009\'"\n'
)
WEATHER = (  # of a test reference year of the German weather service
    "TRY01   Nordseeküste          (Klimaregion  1)\nStation: Bremerhaven   WMO-Nummer: 10129\n\n"
    "Reihenfolge der Parameter:\nMM Monat  {1..12}\nDD Tag   {1..28,30,31}\n\nMM DD  WG   y\n***\n"
    + "".join(f"{1 + k % 12:2} {1 + k % 28:2} {k * 7 % 13 / 2:5.1f} {k * 5 % 17:3}\n" for k in range(40))
)
NIST = (
    "NIST/ITL StRD\nDataset Name:  Nelson (Nelson.dat)\n"
    + "Procedure:  Nonlinear, Least, Squares\n" * 3
    + (
        "               log(y) = b1 - b2*x1\n  File Format: ASCII\n Data:   y   x1   x2\n"
        "     15.00E0         1E0           180E0\n     17.00E0         1E0           180E0\n" * 5
    )
)


def read(path, text, **options):
    path.write_text(text)
    check_file(str(path), options.get("target"), (), (), ())
    return load(path, **options)


@pytest.mark.parametrize(
    ("text", "names", "num_skipped"),
    [
        (PEAK, ["t", "y"], "2 lines"),
        (PEAK.replace("#", "%").replace("\n", "\r\n"), ["t", "y"], "2 lines"),
        (SAVED, ["x", "y"], ""),
        (WEATHER, ["MM", "DD", "WG", "y"], "6 lines"),
        (WEATHER.replace("\n", "\r\n"), ["MM", "DD", "WG", "y"], "6 lines"),
        (UNNAMED, ["column 1", "column 2", "column 3"], "1 line"),
        (NAMED, ["width", "y"], "2 lines"),
        ("# see the manual\n" * 80 + PEAK, ["t", "y"], "82 lines"),
        ("# see the manual\n" * 80 + NAMED, ["width", "y"], "82 lines"),
        (OTUS, ["OTU ID", "f2", "f1", "y"], "1 line"),
        (
            "#element,HHI_production,y\nHe,3200,3900\nLi,2900,4200\nBe,8000,4000\n",
            ["element", "HHI_production", "y"],
            "",
        ),
        ("#id,x,y\n" + "7,0.5,1.5\n4,2.5,0.5\n9,1.5,1.25\n", ["id", "x", "y"], ""),
    ],
)
def test_remarks_above_the_rows(tmp_path, text, names, num_skipped):
    data = read(tmp_path / "some.dat", text)
    assert data.cells is not None
    assert list(data.cells.columns) == names
    told = " ".join(data.provenance)
    assert (f"Skipped {num_skipped} above the column names." in told) == bool(num_skipped)


TAGS = "".join(f"#t{k % 4},{k * 7 % 11},{k % 3}\n" for k in range(40))


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("#tag,likes,y\n" + TAGS.rstrip(), 40),
        ("#tag,likes,y\n" + TAGS + "plain,3,1\n", 41),
        ("tag,likes,y\n" + TAGS, 40),
        (TAGS.rstrip(), 40),
        (TAGS + "plain,3,1\n" + TAGS, 81),
    ],
)
def test_marks_that_belong_to_values_are_no_remarks(tmp_path, text, n):
    data = read(tmp_path / "tags.csv", text)
    assert data.n == n
    assert not any("Skipped" in note for note in data.provenance)


@pytest.mark.parametrize("first", ["#", "%change", "% change"])
def test_a_name_that_is_marked_stays_what_it_is(tmp_path, first):
    rows = "".join(f"{k * 3 % 7}.5,{k % 5},{k % 2}\n" for k in range(30))
    data = read(tmp_path / "named.csv", f"{first},size,y\n{rows}")
    assert data.cells is not None
    assert data.cells.columns[0] == first.removeprefix("% ")


def test_sources_below_the_rows_are_skipped_and_told(tmp_path):
    data = read(tmp_path / "spi.csv", INCOME, target="1971")
    assert data.n == 12
    assert "Skipped 3 lines below the rows, a source or the like." in data.provenance


@pytest.mark.parametrize(
    ("names", "last"),
    [("a,b,y", "12.5\n"), ("a,b,y", "a,b\n"), ("a,b,y", "a\n" * 21), ("a,b,c,d,y", "q,n\n")],
)
def test_a_row_that_is_cut_is_no_footnote(tmp_path, names, last):
    width = names.count(",") + 1
    rows = "".join(",".join(str(k * j % 7) for j in range(1, width + 1)) + "\n" for k in range(50))
    (tmp_path / "cut.csv").write_text(f"{names}\n{rows}{last}")
    with pytest.raises(InputError, match=r"Line 52 of 'cut.csv' \(row 51\) has"):
        load(tmp_path / "cut.csv")


def test_line_numbers_count_remarks(tmp_path):
    (tmp_path / "cut.csv").write_text("# one\n# two\na,b,y\n" + "1,2,3\n" * 8 + "1,2,3,4\n")
    with pytest.raises(InputError, match=r"Line 12 of 'cut\.csv'"):
        load(tmp_path / "cut.csv")


def test_what_is_no_table_is_told_in_one_sentence(tmp_path):
    (tmp_path / "Nelson.dat").write_text(NIST)
    with pytest.raises(InputError) as error:
        load(tmp_path / "Nelson.dat")
    assert "lines of 'Nelson.dat' have another number of fields than the 3 of its column names" in str(
        error.value
    )
    assert "\n" not in str(error.value)


def test_lines_that_nothing_divides(tmp_path):
    lines = "Cr110   2108 06 38 52.5\nCr110   3144 06 38\nNGC 2099 67 05 52 16.6 +32 34\nPraesepe 212\n"
    for text in (lines, f"Albuquerque\n{lines}"):
        (tmp_path / "table1.dat").write_text(text)
        with pytest.raises(InputError, match="are not divided alike by commas, semicolons, tabs, bars or"):
            load(tmp_path / "table1.dat")


def test_what_mysql_writes_for_null_is_missing(tmp_path):
    rows = "".join(
        f"{k % 7},{['Europe/Oslo', 'Asia/Tokyo', chr(92) + 'N'][k % 3]},{k % 2}\n" for k in range(30)
    )
    data = read(tmp_path / "airports.csv", "a,tzone,y\n" + rows)
    assert data.columns.imputed == ("tzone",)
