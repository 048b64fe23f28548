"""Options come from the fields of settings; messages of the library name flags on the command line."""

from dataclasses import dataclass
from typing import Literal

import click
import pytest
from click.testing import CliRunner

from widenet.base.errors import InputError
from widenet.cli.common import Command
from widenet.cli.options import flag_of, in_flags, options_of, split_pairs
from widenet.study.settings import Settings, required, setting


@dataclass(frozen=True)
class Toy(Settings):
    width: int = required("Neurons.", low=1)
    layers: int | None = setting(None, "Layers.", choices=(2, 3), otherwise="what fits")
    method: Literal["a", "b"] = setting("a", "Method.", choices=("a", "b"))
    rates: tuple[float, ...] = setting((0.5, 0.25), "Rates.", low=0)
    names: tuple[str, ...] = setting((), "Names.", otherwise="all", metavar="A,B")
    num_steps: int = setting(10, "Steps.")
    train: bool = setting(False, "Train.")


def call(*arguments: str) -> tuple[Toy | None, str]:
    """The settings that a command line gives, and what it says."""
    made: list[Toy] = []
    command = Command("toy", params=options_of(Toy), callback=lambda **given: made.append(Toy(**given)))
    done = CliRunner().invoke(command, arguments)
    if isinstance(done.exception, InputError):
        return None, str(done.exception)
    return (made[0] if made else None), done.output


def test_defaults_have_one_home():
    settings, _ = call("--width", "7")
    assert settings == Toy(width=7)


def test_every_kind_of_field_is_read():
    settings, _ = call(
        *("--width", "7", "--layers", "3", "--method", "b", "--rates", "1, 2.5", "--names", "x,y"),
        *("--num-steps", "4", "--train"),
    )
    assert settings == Toy(
        width=7, layers=3, method="b", rates=(1.0, 2.5), names=("x", "y"), num_steps=4, train=True
    )


def test_help_tells_meaning_and_default():
    text = " ".join(call("--help")[1].split())
    for told in (
        "--layers [2|3] Layers. [default: what fits]",
        "Rates. [default: 0.5,0.25]",
        "--names A,B Names. [default: all]",
        "Steps. [default: 10]",
    ):
        assert told in text
    assert "Neurons. [default" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--width", "0"], "--width is 0, but must be at least 1."),
        (["--width", "3", "--rates", "1,-2"], "--rates is 1.0,-2.0, but must be at least 0."),
        (["--width", "3", "--rates", "1,x"], "cannot read '1,x': give numbers separated by commas."),
        (["--width", "3", "--layers", "4"], "'4' is not one of 2, 3"),
        ([], "Missing option '--width'"),
    ],
)
def test_wrong_values_are_told_with_flags(arguments, words):
    assert words in call(*arguments)[1].replace("'2', '3'", "2, 3")


def test_names_in_backquotes_become_flags_of_the_command():
    known = [*options_of(Toy), click.Option(["--yes"])]
    told = in_flags(
        "Raise `width`, try `layers=3`, add `train=True`, see `num_steps`, `allow_long=True`.", known
    )
    assert told == "Raise --width, try --layers 3, add --train, see --num-steps, --yes."
    assert in_flags("No `kernel` here, and `widenet memorise` is a command.", known) == (
        "No `kernel` here, and `widenet memorise` is a command."
    )
    assert flag_of("num_steps") == "--num-steps"


def test_pairs():
    assert split_pairs("x", ["a=1", "b=c=d"]) == {"a": "1", "b": "c=d"}
    for wrong in (["a"], ["=1"], ["a="], ["a=1", "a=2"]):
        with pytest.raises(InputError):
            split_pairs("x", wrong)
