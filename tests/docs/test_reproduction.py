"""The page of the papers' claims is that of the stored results, and stale results are found."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tools.house import outdated
from tools.reproduction import FOLDER, PAGE, ROOT, draw, page, records, stale, take
from widenet.papers import figures
from widenet.papers.run import run_figure
from widenet.report import reproduce as room
from widenet.report.parts.files import write_folder

NAME = "resnet-beyond-kernels/toy"


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "papers")
    import toy

    monkeypatch.setitem(sys.modules, "toy", toy)
    monkeypatch.setitem(figures.FIGURES, NAME, "toy:TOY")
    return toy


@pytest.fixture
def record(toy, tmp_path):
    """A stored result of the toy figure."""
    write_folder(tmp_path / "made", room.files(run_figure(toy.TOY, "paper")), force=False)
    take(tmp_path, tmp_path / "made")
    return records(tmp_path)[NAME]


def test_nothing_is_stale_and_the_page_is_up_to_date():
    found = records(ROOT)
    assert [reason for name, each in found.items() if (reason := stale(name, each))] == []
    assert outdated(ROOT, {PAGE: page(found)}, "python -m tools.reproduction") == []


def test_a_fresh_result_is_not_stale(record):
    assert stale(NAME, record) == ""
    told = page({NAME: record})
    assert "**held**" in told
    assert "The value at 1 is below 2." in told
    assert f"reproduction/{NAME}/figure.png" in told


def test_a_stored_result_is_drawn_again_as_it_was(record, tmp_path):
    picture = tmp_path / FOLDER / NAME / "figure.png"
    drawn = picture.read_bytes()
    picture.unlink()
    draw(tmp_path, NAME, record)
    assert picture.read_bytes() == drawn


def test_changed_curves_claims_settings_and_figures_are_found(record, toy, monkeypatch):
    changed = json.loads(json.dumps(record))
    changed["curves"][0]["points"][0]["best"] = [5.0, 5.0, 5.0]
    assert "claims are not those" in stale(NAME, changed)
    fewer = record | {"settings": {"seeds": 3, "seed": 0}}
    assert "differ from the figure's by bad, log, n, wait" in stale(NAME, fewer)
    monkeypatch.setattr(toy, "TOY", replace(toy.TOY, departures=("It is a toy.",)))
    assert "what differs from the paper" in stale(NAME, record)
    monkeypatch.setattr(toy, "TOY", replace(toy.TOY, claims=()))
    assert "claims are not those" in stale(NAME, record)
    monkeypatch.delitem(figures.FIGURES, NAME)
    assert "no such figure" in stale(NAME, record)
