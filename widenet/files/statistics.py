"""Tables of statistics programs: Stata, and the transport format of SAS; labels of values are categories."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import shown
from widenet.files.table import Sheet, frame_sheet

if TYPE_CHECKING:
    import pandas as pd

COPIES = 6  # bytes that reading takes for each byte of the file, which is not packed


def read_statistics(path: Path) -> Sheet:
    """Read a `.dta` or `.xpt` file."""
    num_bytes = path.stat().st_size
    require_memory(COPIES * num_bytes, f"A file of {num_bytes:,} bytes")
    read = _read_stata if path.suffix.lower() == ".dta" else _read_transport
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of encodings and formats that were replaced
            frame = read(path)
    except MemoryError as error:  # a damaged file declares any size, and the reader trusts it
        raise InputError(
            f"{shown(path.name)} needs more memory than is available, or is damaged: use fewer rows, or save "
            "it again."
        ) from error
    except Exception as error:  # of many kinds, for files that are damaged
        raise InputError(
            f"{shown(path.name)} cannot be read as {path.suffix.lower()} ({type(error).__name__}): save it "
            "again, or as .csv."
        ) from error
    return frame_sheet(frame, shown(path.name))


def _read_stata(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_stata(path)
    except ValueError:  # labels that repeat make no categories
        return pd.read_stata(path, convert_categoricals=False)


def _read_transport(path: Path) -> pd.DataFrame:
    import pandas as pd

    frame = pd.read_sas(path, format="xport", encoding="latin-1")
    return frame.map(lambda value: value.strip() if isinstance(value, str) else value)
