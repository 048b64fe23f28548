"""A path becomes a table by its ending; what is wrong with it is told before anything heavy is imported."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from widenet.base.errors import InputError
from widenet.base.problems import Problems
from widenet.base.wording import near_names, shown
from widenet.files import archive, arff, arrow, delimited, jsonlines, sparse, spreadsheet, statistics
from widenet.files.header import Header, choose_target
from widenet.files.packed import OPENERS
from widenet.files.table import Sheet


@dataclass(frozen=True)
class Format:
    """How a kind of table is read: its header alone, and all of it."""

    names: Callable[[Path], Header | None]
    read: Callable[[Path], Sheet]


def _text_names(path: Path) -> Header | None:
    return None if sparse.is_sparse(path) else delimited.delimited_names(path)


def _read_text(path: Path) -> Sheet:
    return sparse.read_sparse(path) if sparse.is_sparse(path) else delimited.read_delimited(path)


TEXT = Format(_text_names, _read_text)
SPREADSHEET = Format(spreadsheet.spreadsheet_names, spreadsheet.read_spreadsheet)
LINES = Format(jsonlines.json_names, jsonlines.read_json_lines)
STATISTICS = Format(lambda _: None, statistics.read_statistics)
PLAIN = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".train", ".test"), TEXT),
    **dict.fromkeys((".svm", ".libsvm", ".svmlight"), TEXT),
    **dict.fromkeys((".jsonl", ".ndjson", ".json", ".geojson"), LINES),
    ".arff": Format(arff.arff_names, arff.read_arff),
}
FORMATS = {
    **PLAIN,
    **{ending + packed: kind for ending, kind in PLAIN.items() for packed in OPENERS},
    **dict.fromkeys((".xlsx", ".xlsm", ".xls"), SPREADSHEET),
    **dict.fromkeys((".dta", ".xpt"), STATISTICS),
    ".parquet": Format(arrow.parquet_names, arrow.read_parquet),
}
ARRAYS = ".npz"
KINDS = (
    "a .csv, .tsv, .xlsx, .xls, .parquet, .json, .arff, .dta, .xpt or .npz file, a .zip with one "
    "of these, or a folder with a folder of images for each class"
)
OTHERS = {  # endings of what people have and we do not read: what to do
    ".ods": "save it as .xlsx or .csv",
    ".xlsb": "save it as .xlsx or .csv",
    ".dbf": "save it as .xlsx or .csv",
    ".sav": "save it as .dta or .csv",
    ".rds": "write it with write.csv, row.names = FALSE",
    ".rda": "write its table with write.csv, row.names = FALSE",
    ".rdata": "write its table with write.csv, row.names = FALSE",
    ".db": "write the table to a .csv file",
    ".sqlite": "write the table to a .csv file",
    ".h5": "save X and y with numpy.savez(file, X=X, y=y)",
    ".npy": "save X and y with numpy.savez(file, X=X, y=y)",
    ".sas7bdat": "save it as .xpt or .csv",
    ".feather": "save it as .parquet",
    ".arrow": "save it as .parquet",
    ".pkl": "it may run code when it is opened; save it as .parquet or .csv",
    ".pickle": "it may run code when it is opened; save it as .parquet or .csv",
}


def ending_of(path: Path) -> str:
    """The ending by which a file is read, as `.csv.gz`, in small letters.

    >>> ending_of(Path("Sales.2020.CSV.gz"))
    '.csv.gz'
    """
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() + ending if ending in OPENERS else ending


def stem_of(path: Path) -> str:
    """The name of a file without its folder and ending."""
    name = path.resolve().name
    return name[: len(name) - len(ending_of(path))] or name


def looks_like_path(source: str) -> bool:
    """Whether a source can only be a path: it names a folder, has an ending, or is there."""
    try:
        return (
            "/" in source
            or "\\" in source
            or bool(Path(source.partition(":")[0]).suffix)
            or Path(source).exists()
        )
    except (OSError, ValueError):
        return True


def checked_path(source: str | Path) -> Path:
    """The path of a file that can be opened, or of a folder; anything else is refused."""
    path = Path(source)
    try:
        if path.is_dir():
            return path
        inside = archive.archive_of(path)
        if inside is None and not path.exists():
            raise InputError(f"There is no file {shown(source)}: check the path.")
        if inside is None and ending_of(path) not in (*FORMATS, ARRAYS):
            advice = OTHERS.get(path.suffix.lower(), f"give {KINDS}")
            raise InputError(f"{shown(source)} is of a type that is not read: {advice}.")
        file = inside or path
        if not file.is_file():
            raise InputError(f"{shown(source)} is not a plain file: copy its content into one.")
        if not file.stat().st_size:
            raise InputError(f"{shown(source)} is empty: give a file with at least two rows.")
        file.open("rb").close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such name"
        raise InputError(f"{shown(source)} cannot be opened ({reason}): check the path.") from error
    return path


def stored_file(path: Path) -> Path:
    """The file that holds what a path means: itself, or the archive that it leads into."""
    return archive.archive_of(path) or path


@contextmanager
def opened(path: Path) -> Iterator[archive.Opened]:
    """A path that was checked, as a plain file or a folder; what is in an archive is unpacked meanwhile."""
    inside = archive.archive_of(path)
    if inside is None:
        yield archive.Opened(path)
        return
    with archive.unpacked(path, inside, (*FORMATS, ARRAYS)) as table:
        yield table


def check_file(
    source: str, target: str | None, drop: Sequence[str], keep: Sequence[str], categorical: Sequence[str]
) -> None:
    """Refuse a path that is no file, or columns that the file does not have, from its first bytes."""
    with opened(checked_path(source)) as file:
        path = file.path
        if ending_of(path) in FORMATS and path.is_file():
            header = FORMATS[ending_of(path)].names(path)
            if header is not None:
                check_columns(header, target, drop, keep, categorical)


def check_columns(
    header: Header, target: str | None, drop: Sequence[str], keep: Sequence[str], categorical: Sequence[str]
) -> None:
    """Refuse names of columns that are not there, and columns with two uses; all of them at once."""
    problems = Problems()
    problems.attempt(lambda: choose_target(header, target))
    for option, names in (("drop", drop), ("keep", keep), ("categorical", categorical)):
        for name in names:
            if name not in header.names:
                problems.add(f"`{option}` names no column: {shown(name)}; {near_names(name, header.names)}")
            elif name == target:
                problems.add(f"Column {shown(name)} is the target, so `{option}` does not apply to it.")
    for name in set(drop) & {*keep, *categorical}:
        problems.add(f"Column {shown(name)} is in `drop` and used as well: name it once.")
    problems.refuse("What was asked for")
