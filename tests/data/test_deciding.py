"""What becomes of columns as people have them: identifiers, text, dates, codes, numbers in every style."""

import datetime

import numpy as np
import pandas as pd
import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import load
from widenet.data.columns import CategoricalColumn, NumericColumn
from widenet.data.dates import DateStyle, date_style
from widenet.data.deciding import Choice, Habits, LeaveOutError, _decided, fit_column
from widenet.data.identifiers import is_key_name
from widenet.data.written import best_style, decimal_of

N = 60
RNG = np.random.default_rng(0)
X = pd.Series(RNG.normal(size=N)).round(3)
Y = pd.Series(RNG.choice(["no", "yes"], N))


def loaded(**columns):
    options = {name: columns.pop(name) for name in ("drop", "keep", "categorical") if name in columns}
    return load(pd.DataFrame({"x": X, **columns, "y": Y}), target="y", **options)


def left_out(**columns) -> dict[str, str]:
    return {each.name: each.why for each in loaded(**columns).columns.dropped}


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("PassengerId", range(1, N + 1), "numbers the rows"),
        ("anything", range(N), "numbers the rows"),
        ("Unnamed: 0", RNG.permutation(N), "has no name and a different whole number in every row"),
        ("patient_id", RNG.permutation(N) + 5000, "is called an identifier"),
        ("PID", RNG.permutation(N) // 2 + 561, "is called an identifier and has 30 different whole numbers"),
        ("key", [f"u{k}" for k in range(N)], "a different text in every row"),
        (
            "remark",
            [f"word {k % 50} and more" for k in range(N)],
            "free text, with 50 different values in 60 rows",
        ),
        (
            "city",
            [f"town-{k % 50}" for k in range(N)],
            "has 50 different values in 60 rows, too many for categories",
        ),
        ("zip", [f"0{k % 50:04}" for k in range(N)], "has 50 different values in 60 rows"),
        ("same", ["a"] * N, "never varies"),
        ("one", [1.5] * N, "never varies"),
        ("none", [None] * N, "no value in any row"),
        ("lists", [[1, 2]] * N, "holds lists or objects"),
    ],
)
def test_what_is_left_out_and_why(name, values, why):
    ((found, reason),) = left_out(**{name: list(values)}).items()
    assert found == name
    assert why in reason
    assert "x" in loaded(**{name: list(values)}).columns.used


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("salary", RNG.permutation(N) * 100 + 20_000),  # whole and all different: a measurement
        ("rank", RNG.permutation(N) + 1),  # a permutation of row numbers: a rank
        ("year", range(1950, 1950 + N)),  # counts, from another number than 0 or 1
        ("covid", RNG.permutation(N)),
        ("heat_index", RNG.permutation(N)),
        ("user_id", np.arange(N) % 9),  # repeats: a group
        ("grade", list("ABCDE") * 12),
        ("temperature", RNG.normal(size=N)),
        ("day", pd.date_range("2020-01-01", periods=N)),
        ("text day", pd.date_range("2020-01-01", periods=N).strftime("%d.%m.%Y")),
    ],
)
def test_real_features_stay(name, values):
    assert left_out(**{name: list(values)}) == {}


def test_people_decide():
    columns = {
        "id": list(range(N)),
        "zip": list(RNG.choice([10115, 80331, 20095], N)),
        "note": [f"n{k}" for k in range(N)],
    }
    data = loaded(**columns, keep=["id", "note"], categorical=["zip"], drop=["x"])
    assert data.columns.used == ("id", "zip", "note")
    assert [(each.name, each.why) for each in data.columns.dropped] == [("x", "was dropped as requested")]
    assert data.names[1:4] == ("zip=10115", "zip=20095", "zip=80331")
    assert loaded(**columns, drop="zip").columns.used == ("x",)  # a single name is one


def test_a_table_of_identifiers_alone_is_refused():
    with pytest.raises(InputError, match=r"No column is left .*'user_id' has a different text .*`keep`"):
        load(pd.DataFrame({"user_id": [f"u{k}" for k in range(N)], "y": Y}))
    data = load(pd.DataFrame({"t": range(N), "y": X}))  # a series over its row numbers
    assert data.columns.used == ("t",)


def test_rows_without_a_target_are_left_out_and_the_others_keep_their_numbers(tmp_path):
    rows = [f"{k / 3:.2f},{'' if k in (0, 5) else 'ab'[k % 2]}" for k in range(20)]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(["a,y", *rows]))
    data = load(path)
    assert data.n == 18
    assert data.rows.tolist()[:5] == [2, 3, 4, 5, 7]
    assert "2 rows of 20 have no target and were left out." in data.provenance
    path.write_text("\n".join(["a,y", *rows, "inf,a"]))
    data = load(path)
    assert data.rows.tolist()[-1] == 21
    assert "Infinite values of 'a' were taken as missing: 'inf'." in data.provenance
    path.write_text("a,y\n1,\n2,\n")
    with pytest.raises(InputError, match="'y' has no value in any row"):
        load(path)


def test_missing_values_are_marked_and_told():
    gaps = X.where(np.arange(N) % 7 > 0)
    data = loaded(g=gaps, c=[None, "u", "v"] * 20)
    assert data.columns.imputed == ("g", "c")
    assert data.names == ("x", "g", "g is missing", "c=u", "c=v", "c is missing", "constant")
    assert data.columns.used == ("x", "g", "c")
    told = " ".join(data.provenance)
    assert "replaced by the median of their column, with a further column that marks them: 'g'." in told
    assert "Missing values became a category of their own: 'c'." in told
    assert "Missing" not in " ".join(loaded().provenance)


def test_a_gap_that_tells_the_target_is_a_leak():
    for values in (X.where(Y == "yes"), pd.Series(1.0, X.index).where(Y == "yes")):
        assert [leak.columns for leak in loaded(boat=values).leaks] == [("boat",)]


@pytest.mark.parametrize("word", ["-", "unknown", "n.a.", "#DIV/0!", "None", "."])
def test_placeholders_among_numbers_are_missing_values(word):
    words = [word if k % 9 == 0 else str(value) for k, value in enumerate(X)]
    data = loaded(a=words)
    assert data.columns.imputed == ("a",)
    assert isinstance(data.preparation.columns[1], NumericColumn)


def test_codes_stay_categories():
    assert isinstance(loaded(a=["None", "low", "high"] * 20).preparation.columns[1], CategoricalColumn)
    years = [str(k % 8) for k in range(50)] + ["more than 50"] * 10
    assert isinstance(loaded(a=years).preparation.columns[1], CategoricalColumn)
    assert isinstance(loaded(a=["0", "1", "2", "3+"] * 15).preparation.columns[1], CategoricalColumn)


@pytest.mark.parametrize(
    ("words", "decimal", "numbers"),
    [
        (["3,14", "31,770"], ".", [3.14, 31.77]),
        (["31,770", "1,234,567"], ",", [31770, 1234567]),
        (["31,770", "5"], ",", [31.77, 5]),
        (["31,770", "5"], ".", [31770, 5]),
        (["31,770", "12000"], ".", [31.77, 12000]),
        (["1,234.50", "3.25"], ",", [1234.5, 3.25]),
        (["1.234,50", "3,25"], ".", [1234.5, 3.25]),
        (["1.234", "12.500"], ",", [1234, 12500]),
        (["1.234", "12.500"], ".", [1.234, 12.5]),
        (["1.5", "2.25"], ",", [1.5, 2.25]),
        (["0,500", "1,250"], ".", [0.5, 1.25]),
        (["1 234", "56"], ".", [1234, 56]),
        (["1\u00a0234,5", "56"], ".", [1234.5, 56]),
        (["1'234'567.5", "2"], ".", [1234567.5, 2]),
        (["$1,234.50", "-$3"], ".", [1234.5, -3]),
        (["45%", "3.5%"], ".", [45, 3.5]),
        (["12 kg", "1,234.5 kg"], ".", [12, 1234.5]),
        (["3,5km/h", "12km/h"], ",", [3.5, 12]),
        (["5€", "6,50€", "1.000€"], ".", [5, 6.5, 1000]),
        (["1e-5", "-.5"], ".", [1e-5, -0.5]),
        (["1,5E+03", "2"], ",", [1500, 2]),
    ],
)
def test_numbers_in_every_style(words, decimal, numbers):
    style = best_style(words, decimal)
    assert style is not None
    np.testing.assert_allclose(style.numbers(pd.Series(words, dtype="str")), numbers, rtol=1e-15)


@pytest.mark.parametrize(
    "words",
    [
        ["1,23,4"],
        ["1.2.3"],
        ["12:30"],
        ["a"],
        ["$5", "€6"],
        ["5%", "6"],
        ["5 kg", "6 lbs"],
        ["kg", "5 kg"],
        ["5$6"],
        ["1 2345"],
        ["5-6"],
        ["1,234,56"],
    ],
)
def test_what_is_no_number(words):
    assert best_style(words, ".") is None


def test_columns_settle_the_decimal_sign_of_each_other():
    assert decimal_of([["1,5", "2,25"], ["31,770"]]) == ","
    assert decimal_of([["1.5", "2.25"], ["31,770"]]) == "."
    assert decimal_of([["1.5", "2.25"], ["1,5"]]) == ""
    assert decimal_of([["1", "2"], ["31,770"]]) == ""


@pytest.mark.parametrize(
    ("words", "days"),
    [
        (["2020-01-01", "2020-01-03"], [0, 2]),
        (["2020-01-01T12:00:00Z", "2020-01-02T00:00:00Z"], [0, 0.5]),
        (["2020-01-01 12:00", "2020-01-02 12:00"], [0, 1]),
        (["31.12.2019", "01.01.2020"], [0, 1]),
        (["12/31/2019", "01/02/2020"], [0, 2]),
        (["31/12/2019", "01/02/2020"], [0, 32]),
        (["2020/03/01", "2020/02/28"], [2, 0]),
        (["Jan 5, 2020", "Feb 5, 2020"], [0, 31]),
        (["19-Jun-03", "20-Jun-03"], [0, 1]),
        (["2019Q4", "2020Q1"], [0, 92]),
        (["12/31/2019 11:00 PM", "01/01/2020 01:00 AM"], [0, 1 / 12]),
        (["20200101T000000", "20200103T000000"], [0, 2]),
    ],
)
def test_dates_in_every_style(words, days):
    values = pd.Series(words, dtype="str")
    style = date_style(values)
    assert style is not None
    np.testing.assert_allclose(style.numbers(values), days, atol=1e-12)


def test_times_of_a_day_are_hours():
    values = pd.Series(["08:30", "23:45"], dtype="str")
    np.testing.assert_allclose(date_style(values).numbers(values), [8.5, 23.75])


@pytest.mark.parametrize(
    "words", [["2020", "2021"], ["1.5", "2.5"], ["abcd1", "efgh2"], ["12", "13"], ["20200101", "20200102"]]
)
def test_what_is_no_date(words):
    assert date_style(pd.Series(words, dtype="str")) is None


def test_dates_are_told_and_new_rows_count_from_the_same_day():
    days = pd.date_range("2020-03-01", periods=N)
    for values in (days, days.strftime("%Y-%m-%d"), days.date, days.tz_localize("UTC"), days.to_period("D")):
        data = loaded(day=list(values) if values is days.date else values)
        assert "Dates became days since 2020-03-01: 'day'." in data.provenance
    assert isinstance(data.preparation.columns[1].style, DateStyle)
    data = loaded(day=days)
    new = pd.DataFrame({"x": X[:2], "day": [datetime.datetime(2020, 3, 1), datetime.datetime(2020, 3, 2)]})
    torch.testing.assert_close(data.preparation.apply(new), data.X[:2])


def test_ambiguous_dates_are_told():
    data = loaded(day=[f"{k % 12 + 1:02}/{k % 11 + 1:02}/2020" for k in range(N)])
    assert any("(month first): 'day'" in sentence for sentence in data.provenance)


@pytest.mark.parametrize("low", [9007199254740992, 2**63 - 2, 2**64 - 2, 10**25])
@pytest.mark.parametrize("kind", ["csv", "text", "frame", "gaps", "jsonl", "parquet", "npz", "array"])
def test_whole_labels_keep_all_their_digits(tmp_path, low, kind):
    """Two classes whose numbers float64 does not tell apart."""
    labels = [low + k % 2 for k in range(N)]
    classes = (str(low), str(low + 1))
    frame = pd.DataFrame({"x": X, "y": pd.Series(labels, dtype=object)})
    path = tmp_path / f"labels.{kind}"
    if low >= 2**63 - 1 and kind in ("parquet", "npz", "array", "gaps"):
        pytest.skip("no such numbers there")
    match kind:
        case "csv":
            frame.to_csv(path, index=False)
        case "jsonl":
            path.write_text("\n".join(f'{{"x": {x}, "y": {y}}}' for x, y in zip(X, labels, strict=True)))
        case "parquet":
            pd.DataFrame({"x": X, "y": pd.array([*labels[:-1], None], dtype="Int64")}).to_parquet(path)
        case "npz":
            np.savez(path, X=np.column_stack([X, X**2]), y=np.array(labels))
    sources = {
        "text": lambda: load(frame.astype({"y": "str"})),
        "frame": lambda: load(frame),
        "gaps": lambda: load(pd.DataFrame({"x": X, "y": pd.array([None, *labels[1:]], dtype="Int64")})),
        "array": lambda: load(np.column_stack([X, X**2]), np.array(labels)),
    }
    data = sources.get(kind, lambda: load(path))()
    assert data.classes == classes
    assert data.task == "binary"


def test_features_are_counted_as_people_count_them(tmp_path):
    from sklearn.datasets import load_iris

    from widenet.study.data import data_summary

    iris = load_iris(as_frame=True).frame
    assert data_summary(load(iris)).num_features == 4
    gaps = iris.mask(RNG.random(iris.shape) < 0.05).assign(site=["a", "b", "c"] * 50)
    assert data_summary(load(gaps, target="target")).num_features == 5


def test_reading_a_large_table_is_quick(tmp_path):
    """2,000 rows of 20 columns, text with gaps among them, well under a second."""
    import time

    frame = pd.DataFrame(RNG.normal(size=(2000, 18))).add_prefix("x").mask(RNG.random((2000, 18)) < 0.02)
    frame["when"] = pd.date_range("2020", periods=2000, freq="h").astype(str)
    frame["kind"] = RNG.choice(["a", "b", None], 2000)
    frame["y"] = RNG.integers(0, 2, 2000)
    frame.to_csv(tmp_path / "large.csv")
    load(tmp_path / "large.csv")  # imports
    start = time.process_time()
    load(tmp_path / "large.csv")
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (["rotary"], ("rotary",)),
        (["Ancient"] * 9, ("Ancient",)),
        (["12a"], ("12a",)),
        (["see", "below"], ("see", "below")),
    ],
)
def test_words_among_numbers_are_missing_and_told(odd, words):
    data = loaded(a=[*odd, *(f"{k * 7 % 60}.5" for k in range(N - len(odd)))])
    column = data.preparation.columns[1]
    assert isinstance(column, NumericColumn)
    assert column.words == words
    assert data.columns.imputed == ("a",)
    assert "Words among the values of 'a' were taken as missing: 'rotary'." in data.provenance or odd != [
        "rotary"
    ]
    with pytest.raises(InputError, match="'other' is not a number"):
        data.preparation.apply(pd.DataFrame({"x": [1.0], "a": ["other"]}))
    marked = data.preparation.apply(pd.DataFrame({"x": [1.0, 1.0], "a": [odd[0], None]}))
    torch.testing.assert_close(marked[0], marked[1])


def test_marks_around_numbers_are_taken_off():
    words = [f"<0.{k:03}" if k % 3 else f"0.{k:03}" for k in range(1, N)]
    data = loaded(a=[*words, "[98]"], b=[f"({k}.5)" if k % 2 else f"{k}.25" for k in range(N)])
    a, b = data.preparation.columns[1:]
    assert a.encode(pd.Series(["<0.006", "[98]", "0.5*"], dtype="str")).tolist() == [[0.006], [98], [0.5]]
    assert b.encode(pd.Series(["(7.5)", "8.25"], dtype="str")).tolist() == [[-7.5], [8.25]]
    assert "Signs such as < or * were taken off numbers, and (5) is -5: 'a', 'b'." in data.provenance


def test_codes_with_letters_are_no_numbers():
    families = [f"{100 + k % 25}{'A' if k in (3, 28) else ''}" for k in range(N)]
    column = loaded(family=families).preparation.columns[1]
    assert isinstance(column, CategoricalColumn)
    assert "103A" in column.categories


def test_the_dates_of_a_file_have_one_order():
    plain = [f"{k % 9 + 1:02}/{k % 12 + 1:02}/2020" for k in range(N)]
    telling = [f"{k % 28 + 1:02}/{k % 12 + 1:02}/2020" for k in range(N)]
    assert [column.style.format for column in loaded(a=plain, b=telling).preparation.columns[1:]] == [
        "%d/%m/%Y"
    ] * 2
    american = [f"{k % 12 + 1:02}/{k % 28 + 1:02}/2020" for k in range(N)]
    assert loaded(a=plain, b=american).preparation.columns[1].style.format == "%m/%d/%Y"
    assert loaded(a=plain).preparation.columns[1].style.format == "%m/%d/%Y"
    commas = X.map(lambda value: f"{value:.3f}".replace(".", ","))
    assert loaded(a=plain, b=commas).preparation.columns[1].style.format == "%d/%m/%Y"


@pytest.mark.parametrize(
    ("words", "days"),
    [
        (["04/08/63", "05/08/63", "13/01/70"], [0, 1, 2354]),
        (["0 days 00:00:00", "2 days 12:00:00", "1 days 00:00:00.000000"], [0, 2.5, 1]),
        (["1 day, 6:00:00", "2 days, 0:00:00"], [1.25, 2]),
        (["1977-Jan", "1977-Feb"], [0, 31]),
        (["1991 Jul", "1991 Aug"], [0, 31]),
        (["Q1 2011", "Q22011"], [0, 90]),
        (["01/2020", "03/2020"], [0, 60]),
        (["09 13, 2009", "10 1, 2009"], [0, 18]),
        (["20200101T120000", "20200102T000000"], [0, 0.5]),
    ],
)
def test_dates_of_other_programs(words, days):
    values = pd.Series(words, dtype="str")
    numbers = date_style(values).numbers(values)
    assert (numbers - numbers[-1]).tolist() == pytest.approx([day - days[-1] for day in days])


def test_text_with_colons_is_no_date():
    """Formats that hold a time already are not combined with another."""
    words = ["1/1 a:b", "2/2 c:d", "3/3 e:f"]
    assert date_style(pd.Series(words, dtype="str")) is None


def test_names_of_rows_are_left_out_however_few(tmp_path):
    (tmp_path / "few.csv").write_text('"","a","y"\n"Aisne",1.5,2\n"Jura",2.5,4\n"Somme",0.5,3\n')
    assert load(tmp_path / "few.csv").columns.used == ("a",)


def test_a_series_over_a_column_without_a_name(tmp_path):
    rows = "".join(f"{1821 + k},{k * k % 17}.5\n" for k in range(20))
    (tmp_path / "lynx.csv").write_text(",trappings\n" + rows)
    assert load(tmp_path / "lynx.csv").columns.used == ("column 1",)


def test_placeholders_among_targets_are_rows_without_one(tmp_path):
    rows = [f"{k},{'.' if k % 5 == 0 else k * 1.5}" for k in range(1, 21)]
    (tmp_path / "fred.csv").write_text("\n".join(["DATE,VALUE", *rows]))
    data = load(tmp_path / "fred.csv")
    assert (data.n, data.task) == (16, "regression")
    words = [f"{k / 7:.2f},{'.-'[k % 2]}" for k in range(20)]
    (tmp_path / "signs.csv").write_text("\n".join(["a,y", *words]))
    assert load(tmp_path / "signs.csv").classes == ("-", ".")


def test_codes_of_few_values_are_kept_though_they_are_called_identifiers():
    assert left_out(store_id=RNG.integers(1, 9, N)) == {}


def kind_of(values, name="a") -> str:
    column = loaded(**{name: list(values)}).preparation.columns[1]
    if isinstance(column, CategoricalColumn):
        return "categories"
    return "dates" if isinstance(column.style, DateStyle) else "numbers"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["02138", "10115", "80331"], "categories"),
        (["001", "017", "550"], "categories"),
        (["02138", "10115", "02138-4321"], "categories"),  # as letters have it, with four digits more
        (["01", "02", "12"], "numbers"),  # of months
        (["007.5", "010.2", "112.0"], "numbers"),
        (["0", "000", "12"], "numbers"),
        (["0045", "1.5", "2.25"], "numbers"),
        (["045", "1045", "12"], "numbers"),  # of different lengths: counts that someone filled up
    ],
)
def test_digits_with_zeros_before_them_are_codes(values, kind):
    assert kind_of(values * 20) == kind
    told = (
        "Digits with zeros before them are codes, and were taken as categories: 'a'."
        in loaded(a=values * 20).provenance
    )
    assert told == (kind == "categories")


DAYS = [f"2020-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(N)]


@pytest.mark.parametrize("word", ["unknown", "tbd", "not yet known", "see note 3"])
@pytest.mark.parametrize("every", [1, 3, 20])
def test_a_word_among_dates_is_a_missing_value(word, every):
    """Also where it comes first, or is more common than all dates together."""
    skewed = [word if (k % 10 >= every and every < 20) or k == 0 else day for k, day in enumerate(DAYS)]
    assert kind_of(skewed) == "dates"
    assert loaded(a=skewed).columns.imputed == ("a",)


def test_a_few_dates_that_are_common_are_still_dates():
    values = ["unknown"] * 4 + ["2019-12-24"] * 40 + ["2020-01-01"] * 10 + ["2020-02-02"] * 6
    assert kind_of(values) == "dates"


def test_years_among_words_are_no_dates():
    years = [str(1987 + k % 25) for k in range(N)]
    years[3], years[4], years[30] = "in print", "in print", "2020 online"
    assert kind_of(years) == "numbers"
    many = pd.Series(years * 5, name="year")
    assert not isinstance(fit_column(many).style, DateStyle)
    assert fit_column(many).words == ("in print", "2020 online")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["19970101", "19970118", "19980630"], "dates"),
        ([19970101, 19970118, 19980630], "dates"),
        (["19970101", "19970118", "19980631"], "numbers"),  # june has 30 days
        ([19970101, 19970118], "numbers"),
        ([19970101, 29970118, 19980630], "numbers"),
    ],
)
def test_eight_digits_that_are_all_dates(values, kind):
    values = (values * N)[:N]
    assert kind_of(values) == kind
    if kind == "dates":
        assert "Dates became days since 1997-01-01: 'a'." in loaded(a=values).provenance


def test_gaps_among_eight_digits():
    values = pd.Series([19970101, None, 19970118, 19980630] * 15, dtype="Int64")
    column = fit_column(values.rename("a"))
    assert isinstance(column.style, DateStyle)
    np.testing.assert_allclose(column.encode(values)[:4, 0], [0, 17, 17, 545])


def test_minutes_and_seconds():
    values = pd.Series(["42:14.0", "47:36.5"], dtype="str")
    np.testing.assert_allclose(date_style(values).numbers(values) * 60, [42 + 14 / 60, 47 + 36.5 / 60])


def test_points_between_thousands_are_told_as_such():
    style = best_style(["1.234", "12.500"], ",")
    assert style.name == "points between thousands"
    assert best_style(["1.234,5", "12.500"], ",").name == "points between thousands and decimal commas"
    assert best_style(["3,5", "12"], ",").name == "decimal commas"


def test_the_end_of_a_day_is_a_time():
    values = pd.Series(["01:00", "23:00", "24:00"], dtype="str")
    column = fit_column(pd.Series(list(values) * 9, name="a"))
    np.testing.assert_allclose(column.encode(values), [[1.0], [23.0], [24.0]])


def test_numbers_of_tickets_are_no_numbers():
    """Of the Titanic: most are numbers, and many have letters before them."""
    tickets = [f"PC {17000 + k}" if k % 4 == 0 else str(100000 + 37 * k % 9999) for k in range(200)]
    with pytest.raises(LeaveOutError, match="different text in every row"):
        _decided(pd.Series(tickets, name="Ticket"), Habits(), Choice(), is_unnamed=False)
    few = [f"see note {k % 15}" if k % 4 == 0 else str(100000 + 37 * k % 9999) for k in range(200)]
    assert isinstance(fit_column(pd.Series(few, name="a")), NumericColumn)


@pytest.mark.parametrize(
    ("name", "is_key"),
    [
        ("RANDID", True),
        ("idcode", True),
        ("row.names", True),
        ("customerid", True),
        ("PAID", False),
        ("ACID", False),
        ("STATE_FIPS", True),
        ("SEQN", True),
        ("ships", False),
    ],
)
def test_names_of_keys(name, is_key):
    assert is_key_name(name) == is_key


TIMES_OF_DAY = [f"{k % 24:02}{k * 7 % 60:02}" for k in range(N)]
SHORT_DATES = [f"{1 + k % 12:02}{1 + k % 28:02}{87 + k % 2}" for k in range(N)]


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [
        (TIMES_OF_DAY, "dates", [0.0, 1 + 7 / 60]),
        (["2400", *TIMES_OF_DAY[1:]], "dates", [24.0, 1 + 7 / 60]),
        (SHORT_DATES, "dates", [0.0, 366 + 31.0]),
        (["0099", *TIMES_OF_DAY[1:]], "out", []),
        (TIMES_OF_DAY[:5] * 12, "categories", []),
        ([f"2018{1 + k % 12:02}01:{k % 24:02}00" for k in range(N)], "dates", [0.0, 31 + 1 / 24]),
    ],
)
def test_times_and_dates_of_digits_alone(values, kind, first):
    assert (kind_of(values, "sched_time") if kind != "out" else "out") == kind
    if kind == "dates":
        column = loaded(sched_time=values).preparation.columns[1]
        np.testing.assert_allclose(column.encode(pd.Series(values[:2]))[:, 0], first)
    if kind == "out":
        assert "sched_time" in left_out(sched_time=values)


def test_codes_that_could_be_times_are_codes():
    """Postcodes of Darwin, and goods as customs number them: no name says that these are moments."""
    postcodes = [f"{800 + k % 12:04}" for k in range(N)]
    goods = [f"0101{10 + k % 19}" for k in range(N)]
    assert kind_of(postcodes, "postcode") == kind_of(goods, "hs6") == "categories"
    assert kind_of(postcodes, "departure time") == "dates"


def test_codes_stay_codes_where_some_are_rare():
    """Lifeboats of the Titanic: numbers, letters, and now and then two of them."""
    boats = (
        [str(1 + k % 16) for k in range(200)] + ["A", "B", "C", "D"] * 8 + ["5 7"] * 3 + ["13 15 B", "8 10"]
    )
    column = fit_column(pd.Series(boats, name="boat"))
    assert isinstance(column, CategoricalColumn)
    assert "13 15 B" in column.categories
    ages = [str(1 + k % 90) for k in range(600)] + ["old", "old", "young"]
    assert isinstance(fit_column(pd.Series(ages, name="age")), NumericColumn)


@pytest.mark.parametrize(
    ("words", "hours"),
    [
        (["1h", "1h 30m", "2h 15m", "45m"], [1, 1.5, 2.25, 0.75]),
        (["1 hr 20 min", "2 hr", "40 min"], [4 / 3, 2, 2 / 3]),
        (["1h 0m 36s", "3h"], [1.01, 3]),
    ],
)
def test_hours_and_minutes_are_durations(words, hours):
    column = fit_column(pd.Series(words * 9, name="run_time"))
    np.testing.assert_allclose(column.encode(pd.Series(words, dtype="str"))[:, 0], hours)
    data = loaded(run_time=(words * N)[:N])
    assert "Durations became hours: 'run_time'." in data.provenance


@pytest.mark.parametrize("words", [["5m", "5s", "6m"], ["2h", "3m"], ["1h 30m", "long"]])
def test_sizes_are_no_durations(words):
    assert isinstance(fit_column(pd.Series(words * 9, name="a")), CategoricalColumn)


def test_keys_may_have_gaps_and_be_few_among_many_rows():
    """Customers of a shop, some of whom have no number: 2,000 of them in 40,000 rows."""
    gaps = pd.Series([5000.0 + 3 * k if k % 9 else np.nan for k in RNG.permutation(N)])
    assert "is called an identifier" in left_out(**{"Customer ID": gaps})["Customer ID"]
    many = pd.Series(12_000 + np.arange(40_000) % 2000, name="Customer ID")
    with pytest.raises(LeaveOutError, match="2,000 different whole numbers"):
        _decided(many, Habits(), Choice(), is_unnamed=False)
    assert isinstance(_decided(many % 500, Habits(), Choice(), is_unnamed=False), NumericColumn)
    measured = pd.Series([50.0 + 3 * k if k % 9 else np.nan for k in RNG.permutation(N)])
    assert not left_out(weight=measured)


def test_points_between_months_and_days():
    """As a table of weather in hours has it: 01.20.2003 00:00."""
    hours = pd.date_range("2003-01-01", periods=N, freq="17h")
    data = loaded(day=hours.strftime("%m.%d.%Y %H:%M"))
    assert data.preparation.columns[1].style.format == "%m.%d.%Y %H:%M"
    assert any("(month first): 'day'" in note for note in data.provenance)
    either = hours[hours.day <= 12][:10].strftime(
        "%d.%m.%Y %H:%M"
    )  # of which a point says that days go first
    assert fit_column(pd.Series(either, name="day")).style.format == "%d.%m.%Y %H:%M"
