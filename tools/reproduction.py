"""The page of all claims at paper scale, from the results under docs/reproduction.

    python -m tools.reproduction take FOLDER ...   keep result.json, figure.png and data.csv of these results
    python -m tools.reproduction                   write docs/reproduction.md
    python -m tools.reproduction draw              draw every figure.png again from its stored curves
    python -m tools.reproduction --check           say what is out of date; exit code 1 if anything is

A result is stale when its figure is gone, when the figure's settings have other fields now, or when its
claims, judged again on the stored curves by the code as it is, are not those that are stored.
"""

import json
import math
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from tools.house import outdated, write
from widenet.base.errors import InputError
from widenet.papers.claim import Measured, judged_claim
from widenet.papers.curve import Curve, Point
from widenet.papers.differences import differences
from widenet.papers.figure import Figure, FigureSettings
from widenet.papers.figures import FIGURES, figure_by_name
from widenet.papers.verdict import Verdict
from widenet.report.parts.files import RESULT_FILE, finite
from widenet.report.reproduce.drawing import as_png, drawing_of
from widenet.report.reproduce.files import DATA_FILE, PNG_FILE
from widenet.report.reproduce.sentences import measured_sentence
from widenet.study.result import plain
from widenet.theory.names import TITLES

ROOT = Path(__file__).resolve().parents[1]
FOLDER, PAGE = Path("docs/reproduction"), Path("docs/reproduction.md")
KEPT = (RESULT_FILE, PNG_FILE, DATA_FILE)
HEAD = """# The papers' claims, measured

This page is written from the results in [docs/reproduction](reproduction) by `python -m tools.reproduction`;
[The papers' figures](reproduce.md) says how verdicts come about. Numbers are ranges over seeds, at the best
epoch as the papers choose it, and at the last.
"""


def records(root: Path) -> dict[str, dict[str, Any]]:
    """The stored results by the full names of their figures, in the order of the papers."""
    found = {
        f"{path.parent.parent.name}/{path.parent.name}": json.loads(path.read_text(encoding="utf-8"))
        for path in (root / FOLDER).glob(f"*/*/{RESULT_FILE}")
    }
    order = {name: place for place, name in enumerate(FIGURES)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))


def stale(name: str, record: dict[str, Any]) -> str:
    """Why a stored result is not what the code would make of its curves; empty where it is."""
    if name not in FIGURES:
        return f"{name}: there is no such figure any more."
    if record["scale"] != "paper" or record["failures"]:
        return f"{name}: it is not a whole result at paper scale."
    figure = figure_by_name(name)
    kind = type(figure.scales["paper"])
    now, then = {each.name for each in fields(kind)}, set(record["settings"])
    if now != then:
        return f"{name}: its settings differ from the figure's by {', '.join(sorted(now ^ then))}."
    try:
        judged = judged_again(figure, record)
    except (KeyError, InputError) as error:
        return f"{name}: its claims cannot be judged again ({error})."
    if judged != record["claims"]:
        return f"{name}: its claims are not those that its curves give now."
    if list(differences(figure, settings_of(figure, record))) != record["differences"]:
        return f"{name}: what differs from the paper is not what is told now."
    return ""


def settings_of(figure: Figure, record: dict[str, Any]) -> FigureSettings:
    """The stored settings."""
    given = {name: _value(value) for name, value in record["settings"].items()}
    settings: FigureSettings = type(figure.scales["paper"])(**given)
    return settings


def judged_again(figure: Figure, record: dict[str, Any]) -> list[Any]:
    """The claims, judged on the stored curves."""
    curves = {curve.name: curve for curve in _curves(record)}
    settings = settings_of(figure, record)
    return [finite(plain(judged_claim(claim, settings, curves))) for claim in figure.claims]


def draw(root: Path, name: str, record: dict[str, Any]) -> None:
    """Draw the stored curves as figures are drawn now."""
    shown = [curve for curve in _curves(record) if curve.style != "numbers"]
    drawing = drawing_of(f"{name}, {record['scale']} scale", figure_by_name(name).axes, shown)
    (root / FOLDER / name / PNG_FILE).write_bytes(as_png(drawing))


def _curves(record: dict[str, Any]) -> tuple[Curve, ...]:
    return tuple(map(_curve, record["curves"]))


def _curve(record: dict[str, Any]) -> Curve:
    points = tuple(
        Point(**{name: _value(value) for name, value in each.items()}) for each in record["points"]
    )
    return Curve(record["name"], points, record["style"], record["on_right"])


def _value(value: Any) -> Any:
    """A stored value; None stands for a run that diverged, as nothing is missing where no trial failed."""
    if isinstance(value, list):
        return tuple(math.inf if item is None else item for item in value)
    return value


def page(found: dict[str, dict[str, Any]]) -> str:
    """The whole page."""
    papers = dict.fromkeys(name.partition("/")[0] for name in found)
    absent = [name for name in FIGURES if name not in found]
    told = f"\nNot yet run at paper scale: {', '.join(absent)}.\n" if absent else ""
    return "\n".join([HEAD + told, *(line for paper in papers for line in _paper(paper, found))])


def _paper(paper: str, found: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield f"## {TITLES.get(paper, paper)}\n"
    for name, record in found.items():
        if name.startswith(f"{paper}/"):
            yield from _figure(name, record)


def _figure(name: str, record: dict[str, Any]) -> Iterator[str]:
    hours = record["seconds"] / 3600
    took = f", {hours:.1f} hours" if hours >= 0.05 else ""  # what finds its trials in a store takes no time
    own = ", with changed settings" if record["settings_changed"] else ""
    yield f"### {record['figure']}: {record['title']}\n"
    yield f"{record['place']}; {record['settings']['seeds']} seeds{took}{own}.\n"
    yield f"![{record['title']}](reproduction/{name}/figure.png)\n"
    for claim in record["claims"]:
        best, last = claim["best_epoch"], claim["last_epoch"]
        yield f"- **{claim['verdict']}** (best epoch: {best}; last epoch: {last}). {claim['text']}"
        yield f"  ({claim['source']}{'' if claim['is_papers'] else '; a comparison of ours'})"
        yield from (f"  - {measured_sentence(_measured(each))}" for each in claim["measured"])
    yield ""
    yield from (f"- {told}" for told in record["differences"])
    yield ""


def _measured(record: dict[str, Any]) -> Measured:
    verdicts = {name: Verdict(record[name]) for name in ("best_epoch", "last_epoch")}
    return Measured(**{name: _value(value) for name, value in record.items()} | verdicts)


def take(root: Path, folder: Path) -> None:
    """Keep the files of a result."""
    record = json.loads((folder / RESULT_FILE).read_text(encoding="utf-8"))
    place = root / FOLDER / record["paper"] / record["figure"]
    place.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        shutil.copyfile(folder / name, place / name)


def main(arguments: list[str]) -> int:
    """Take, draw, write or check; returns the exit code."""
    if arguments[:1] != ["take"] and arguments not in ([], ["draw"], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[:1] == ["take"]:
        for folder in arguments[1:]:
            take(ROOT, Path(folder))
    found = records(ROOT)
    if arguments == ["draw"]:
        for name, record in found.items():
            if name in FIGURES:
                draw(ROOT, name, record)
    told = [reason for name, record in found.items() if (reason := stale(name, record))]
    made = {PAGE: page(found)}
    if arguments == ["--check"]:
        told += outdated(ROOT, made, "python -m tools.reproduction")
    else:
        write(ROOT, made)
    print("\n".join(told), file=sys.stderr) if told else None
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
