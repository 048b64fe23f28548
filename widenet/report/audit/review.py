"""The rows to look at: their inputs, the rows nearest to them, and a choice for each, all inside the page."""

import json
from typing import Any

import pandas as pd

from widenet.audit.findings import Suspect
from widenet.audit.result import NUM_REVIEWED, AuditResult
from widenet.base.wording import number
from widenet.data.assembling import EMPTY
from widenet.report.audit.words import is_regression
from widenet.report.parts.markup import Html, details, element, join
from widenet.report.parts.pictures import picture_uri
from widenet.report.parts.quantities import literal

NUM_FIRST = 3  # rows that the first screen shows
PROBABLE = 0.5  # score from which on they are: of classes it is the probability of a wrong label
NUM_CELLS, NUM_FIRST_CELLS = 6, 3  # features of a row that are shown before the rest unfolds
LONGEST_CELL = 24  # characters of a value
MOST_CELLS = 30  # features of a row that are shown at all
LARGEST_TABLE = 500_000  # characters of a table that the page carries, to be downloaded again corrected


def first_rows(result: AuditResult) -> Html:
    """The most suspicious rows, in little room; nothing where none is suspicious."""
    rows = RowView(result)
    cards = [
        element(
            "li",
            element("div", rows.inputs(suspect.row, NUM_FIRST_CELLS), class_="inputs"),
            element("div", _change(suspect), rows.nearest(suspect.row), class_="told"),
        )
        for suspect in result.suspicious[:NUM_FIRST]
        if suspect.score > PROBABLE
    ]
    return element("ul", *cards, class_="first-rows") if cards else Html("")


def review_table(result: AuditResult) -> Html:
    """Suspicious rows with what helps to decide about them; review.js sorts, filters and downloads."""
    rows = RowView(result)
    kind = "number" if is_regression(result) else "text"
    head = {"row": "number", "given": kind, "others suggest": kind, "score": "number"}
    header = element(
        "tr",
        *(_sorting(name, kind) for name, kind in head.items()),
        *(element("th", name, scope="col") for name in ("inputs", "nearest rows", "decision")),
    )
    body = element("tbody", *(_row(rows, suspect) for suspect in result.suspicious[:NUM_REVIEWED]))
    advice = element("p", "Worst first. Decide about each row, then download the result.", class_="note")
    whole = element("table", element("thead", header), body, id="review", aria_label="Rows to look at")
    region = {"tabindex": "0", "role": "region", "aria_label": "Rows to look at, one below the other"}
    return join(_tools(result), advice, element("div", whole, class_="scroll", **region))


def review_data(result: AuditResult) -> dict[str, Any]:
    """What review.js needs to write the table again; without the table it writes only the decisions."""
    table = whole_table(result)
    lines = [] if table is None or result.cells is None else result.cells.index.tolist()
    told = {"name": result.data.name, "target": result.data.target, "table": table, "lines": lines}
    return told | {"raw": result.raw_cells}


def whole_table(result: AuditResult) -> list[list[str]] | None:
    """All cells as text, the header first; None where there is no table, or it is too large for a page."""
    cells = result.cells
    if cells is None or 2 * cells.size > LARGEST_TABLE:
        return None
    columns = (_column_texts(cells.iloc[:, place]) for place in range(cells.shape[1]))
    rows = [list(row) for row in zip(*columns, strict=True)]
    table = [[str(name) for name in cells.columns], *rows]
    return table if len(json.dumps(table)) <= LARGEST_TABLE else None


def _column_texts(values: pd.Series) -> list[str]:
    gaps = values.isna().tolist()
    return ["" if gap else _text(value) for value, gap in zip(values.tolist(), gaps, strict=True)]


def cell_text(value: Any) -> str:
    """A cell as people write it; nothing where it is missing."""
    return "" if pd.isna(value) else _text(value)


def _text(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


class RowView:
    """What can be shown of single rows of an audit, by their numbers."""

    def __init__(self, result: AuditResult) -> None:
        self.result = result
        self.given = {each.row: each.given for each in result.ranking}

    def inputs(self, row: int, num_cells: int) -> Html:
        """A picture, or the first features, and in the table the rest to unfold."""
        if row in self.result.pictures or self.result.cells is None:
            return self.picture(row)
        used = self.result.data.columns.used
        told = [self._cell(row, name) for name in used[:MOST_CELLS]]
        first = element("dl", *told[:num_cells], class_="cells")
        rest = element("dl", *told[num_cells:], class_="cells")
        if len(used) <= num_cells:
            return first
        cut = f", {len(used) - MOST_CELLS:,} of them not shown" if len(used) > MOST_CELLS else ""
        return join(first, details(f"{len(used) - num_cells:,} more{cut}", rest))

    def _cell(self, row: int, name: str) -> Html:
        assert self.result.cells is not None
        value = cell_text(self.result.cells.at[row, name]) or "missing"
        name_shown = literal(str(name), longest=LONGEST_CELL)
        return join(element("dt", name_shown), element("dd", literal(value, longest=LONGEST_CELL)))

    def in_table(self, label: str) -> str:
        """A label as a table has it: nothing for the class of rows without a target."""
        cells, target = self.result.cells, self.result.data.target
        is_gap = label == EMPTY and cells is not None and bool(cells[target].isna().any())
        return "" if is_gap else label

    def nearest(self, row: int) -> Html:
        """The rows with the most similar inputs, and their labels."""
        items = [
            element("li", self.picture(near), element("span", f"{literal(self.given[near])} (row {near})"))
            for near in self.result.nearest.get(row, ())
        ]
        return element("ul", *items, class_="nearest", aria_label="Nearest rows") if items else Html("")

    def picture(self, row: int) -> Html:
        """Its image, where there is one."""
        if row not in self.result.pictures:
            return Html("")
        return element("img", src=picture_uri(self.result.pictures[row]), alt=f"Row {row}")


def _tools(result: AuditResult) -> Html:
    """A filter, and a button for the download; hidden until the script is there to serve them."""
    what = "decisions" if whole_table(result) is None else "corrected table"
    search = element("input", type="search", id="filter", placeholder="Filter rows", aria_label="Filter rows")
    button = element("button", f"Download {what}", id="download", type="button")
    count = element("span", "", id="decided", role="status")
    return element("div", search, button, count, class_="tools", id="tools", hidden="")


def _sorting(name: str, kind: str) -> Html:
    """The heading of a column that a click sorts."""
    return element("th", element("button", name, type="button", data_sort=kind), scope="col")


def _row(rows: RowView, suspect: Suspect) -> Html:
    given, suggested = literal(suspect.given), literal(suspect.suggested)
    options = {"": "undecided", "keep": "keep", "fix": f"fix: {suggested}", "drop": "drop"}
    choice = element(
        "select",
        *(element("option", name, value=value) for value, name in options.items()),
        aria_label=f"Decision about row {suspect.row}",
    )
    cells = {  # by the heading that a narrow page shows beside each, where the table has none
        "given": given,
        "others suggest": suggested,
        "score": number(suspect.score),
        "inputs": rows.inputs(suspect.row, NUM_CELLS),
        "nearest rows": rows.nearest(suspect.row),
        "decision": choice,
    }
    return element(
        "tr",
        element("th", str(suspect.row), scope="row", data_name="row"),
        *(element("td", cell, data_name=name) for name, cell in cells.items()),
        data_row=str(suspect.row),
        data_given=rows.in_table(suspect.given),
        data_suggested=rows.in_table(suspect.suggested),
        data_score=repr(suspect.score),
    )


def _change(suspect: Suspect) -> Html:
    told = (element("s", literal(suspect.given)), " → ", literal(suspect.suggested))
    row = element("span", f"row {suspect.row}", class_="row")
    return join(element("span", *told, class_="change"), row)
