"""Sparse rows as LIBSVM, SVMlight and XGBoost have them: a label, then `index:value` for what is not zero."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import counted, shown
from widenet.files.header import Header
from widenet.files.limits import refuse_long_lines, refuse_wide
from widenet.files.packed import read_bytes, read_start
from widenet.files.table import Sheet, size_note
from widenet.files.text import first_lines

START = 2**16  # bytes that tell sparse rows from others
MOST_LINES = 50  # of these bytes that are looked at
LABEL = "label"  # the name of the target, which is that of a target elsewhere too
NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
ROW = re.compile(rf"{NUMBER}(,{NUMBER})*(\s+qid:\d+)?(\s+\d+:{NUMBER})*\s*(#.*)?", re.ASCII)
PAIR = re.compile(rf"\s\d+:{NUMBER}(?=\s|$)", re.ASCII)
ENDINGS = (".svm", ".libsvm", ".svmlight")  # of files in which every row may have one pair alone
FIELDS = re.compile(rf"{NUMBER}(\s+\d+:\d+:{NUMBER})+\s*", re.ASCII)  # of LIBFFM: field:index:value
COPIES = 4  # bytes that reading takes for each byte of text, beside the table


def is_sparse(path: Path) -> bool:
    """Whether the first lines of a file hold a label and pairs; what LIBFFM writes is refused."""
    lines = [line.strip() for line in first_lines(read_start(path, START), START)]
    rows = [line for line in lines if line and not line.startswith("#")][:MOST_LINES]
    if rows and all(map(FIELDS.fullmatch, rows)):
        raise InputError(
            f"{shown(path.name)} holds field:index:value, as LIBFFM has it, which is not read: leave the "
            "fields out and write index:value."
        )
    most = max((sum(1 for _ in PAIR.finditer(row)) for row in rows), default=0)
    least = 1 if path.suffix.lower() in ENDINGS else 2  # `1.23 14:05` is a number and a time
    return most >= least and all(map(ROW.fullmatch, rows))


def read_sparse(path: Path) -> Sheet:
    """Read sparse rows as a table: the label, then a feature for each index, named by it."""
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    file_name, content = shown(path.name), read_bytes(path)
    refuse_long_lines(content, file_name)
    require_memory(COPIES * len(content), f"Sparse rows of {len(content):,} bytes")
    try:
        rows, labels = load_svmlight_file(io.BytesIO(content), zero_based=True)
    except Exception as error:  # of several kinds, for whatever a line holds
        raise InputError(
            f"{file_name} holds index:value as LIBSVM has it, but cannot be read so ({shown(error)}): give "
            "one label for each row, and its indices in increasing order."
        ) from error
    num_rows, num_features = rows.shape
    refuse_wide(num_features + 1, file_name)
    require_memory(3 * 8 * num_rows * num_features, f"{file_name}, with its zeros filled in,")
    first = int(rows.indices.min()) if rows.nnz else 0  # indices are counted from 1, or from 0
    columns = np.arange(min(first, 1), num_features)
    header = Header((LABEL, *(f"feature {index}" for index in columns)))
    frame = pd.DataFrame(rows.toarray()[:, columns], columns=pd.Index(header.names[1:]))
    frame.insert(0, LABEL, labels)
    num_cells = frame.size - num_rows
    notes = (
        size_note(num_rows, len(header.names), file_name, ", a label and index:value as LIBSVM has them"),
        f"What a row does not name is 0: {counted(rows.nnz, 'value')} of {num_cells:,} are given.",
    )
    return Sheet(frame, header, notes)
