"""What every result does: plain values, a short look, nothing of what has a file of its own."""

import json
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from widenet.study.result import Outcome, Result, aside


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Part:
    numbers: tuple[float, ...]
    colour: Colour


@dataclass(frozen=True, repr=False, kw_only=True)
class ToyResult(Result):
    schema: ClassVar[str] = "toy/1"
    part: Part
    parts: tuple[Part, ...] = ()
    weights: bytes = aside(default=b"")

    def facts(self) -> dict[str, str]:
        return {"name": "<b>toy</b>", "n": "3"}


def test_to_dict_is_plain_and_leaves_out_what_is_aside():
    part = Part((1.0, 2.0), Colour.RED)
    record = ToyResult(part=part, parts=(part,), weights=b"many").to_dict()
    assert record["schema"] == "toy/1"
    assert record["part"] == {"numbers": [1.0, 2.0], "colour": "red"}
    assert record["parts"] == [record["part"]]
    assert "weights" not in record
    assert json.loads(json.dumps(record)) == record


def test_it_is_short_to_look_at_and_escaped_in_a_notebook():
    result = ToyResult(part=Part((0.0,) * 10**5, Colour.RED))
    assert repr(result) == "ToyResult(name=<b>toy</b>, n=3)"
    html = result._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;toy" in html


def test_it_is_done_unless_a_study_says_otherwise(tmp_path):
    result = ToyResult(part=Part((), Colour.RED))
    assert result.outcome is Outcome.DONE
    assert result.resolved() == {}
    assert result.placed(tmp_path) is result
