"use strict";
(() => {
  const table = document.getElementById("review");
  if (!table) return;
  const data = JSON.parse(document.getElementById("rows").textContent);
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const decided = document.getElementById("decided");
  const filter = document.getElementById("filter");

  const choice = (row) => row.querySelector("select").value;
  const keys = { row: "row", given: "given", "others suggest": "suggested", score: "score" };

  const order = {
    number: (a, b) => Number(a) - Number(b),
    text: (a, b) => a.localeCompare(b, undefined, { numeric: true }),
  };

  /** Sort by a column, a second click the other way round. */
  const sortBy = (button) => {
    const heading = button.parentElement;
    const up = heading.getAttribute("aria-sort") !== "ascending";
    const key = keys[button.textContent];
    const isNumber = rows.every((row) => !Number.isNaN(Number(row.dataset[key]))); // not "3, 4", nor "9,5"
    const inOrder = order[isNumber ? button.dataset.sort : "text"];
    rows.sort((a, b) => inOrder(...(up ? [a, b] : [b, a]).map((row) => row.dataset[key])));
    body.append(...rows);
    table.querySelectorAll("th[aria-sort]").forEach((each) => each.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  };

  /** Show the rows in which every word of the filter stands. */
  const applyFilter = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    count();
  };

  /** How many rows the filter leaves, and how many are decided, where that is not all or none. */
  const count = () => {
    const made = rows.filter(choice).length;
    const left = rows.filter((row) => !row.hidden).length;
    const told = [];
    if (left < rows.length) told.push(`${left} of ${rows.length} shown`);
    if (made) told.push(`${made} of ${rows.length} decided`);
    decided.textContent = told.join(", ");
  };

  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const csv = (lines) => lines.map((line) => line.map(quoted).join(",") + "\n").join("");

  /** Text that no spreadsheet takes for a formula; the same as `inert` of report/parts/files.py. */
  const number = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$/;
  const formula = /(^|[;\n])(?=\s*[=+\-@＝＋－＠].)|^(?=[\t\r].)/gs;
  const inert = (cell) => (number.test(cell) ? cell : cell.replace(formula, "$&'"));

  /** The whole table, cell by cell as it was given: labels that are fixed replaced, dropped rows left out. */
  const corrected = () => {
    const [head, ...cells] = data.table;
    const target = head.indexOf(data.target);
    const marks = new Map(rows.map((row) => [Number(row.dataset.row), row]));
    const lines = [head];
    cells.forEach((line, place) => {
      const row = marks.get(data.lines[place]);
      const mark = row ? choice(row) : "";
      if (mark === "drop") return;
      lines.push(mark === "fix" ? line.with(target, row.dataset.suggested) : line);
    });
    return lines;
  };

  /** A line for every decision, where the page does not hold the table. */
  const decisions = () => [
    ["row", "given", "decision", "label"],
    ...rows.filter(choice).map((row) => {
      const mark = choice(row);
      const label = mark === "fix" ? row.dataset.suggested : mark === "keep" ? row.dataset.given : "";
      return [row.dataset.row, row.dataset.given, mark, label].map((cell) => (data.raw ? cell : inert(cell)));
    }),
  ];

  const download = () => {
    const link = document.createElement("a");
    const stem = data.name.replace(/\.[^.]*$/, "").replace(/[^\w.-]+/g, "_") || "data";
    const [lines, ending] = data.table ? [corrected(), "corrected"] : [decisions(), "decisions"];
    link.href = URL.createObjectURL(new Blob([csv(lines)], { type: "text/csv" }));
    link.download = `${stem}-${ending}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  };

  table.querySelectorAll("button[data-sort]").forEach((button) => {
    button.addEventListener("click", () => sortBy(button));
  });
  table.addEventListener("change", count);
  filter.addEventListener("input", applyFilter);
  document.getElementById("download").addEventListener("click", download);
  document.getElementById("tools").hidden = false;
})();
