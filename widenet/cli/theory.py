"""`widenet theory`."""

import textwrap
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from widenet.cli.common import (
    debug_option,
    json_option,
    reading_options,
    result_options,
    seed_option,
    stages,
    store_option,
    tell_result,
    telling_options,
    yes_option,
)
from widenet.errors import InputError

SCHEMA = "widenet/theory/1"
POSITIVE = click.FloatRange(0, min_open=True)


class TheoryGroup(click.Group):
    """A group whose commands are `inside`, `separation`, and the name of every quantity."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        return super().get_command(ctx, cmd_name) or quantity_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return args[0], self.get_command(ctx, args[0]), args[1:]


@click.group(
    cls=TheoryGroup,
    invoke_without_command=True,
    subcommand_metavar="[NAME [KEY=VALUE]...]",
)
@json_option
@debug_option
@click.pass_context
def theory(ctx: click.Context, as_json: bool) -> None:
    """Compute a quantity or theorem of the papers by NAME; without NAME, list them all."""
    if ctx.invoked_subcommand is not None:
        ctx.default_map = {ctx.invoked_subcommand: {"as_json": as_json}}
        return
    from widenet.report.files import to_json
    from widenet.report.theory_terminal import print_list
    from widenet.theory.names import COMMANDS, GROUPS

    if as_json:
        click.echo(to_json(_head() | {"quantities": _listing()}))
    else:
        print_list(GROUPS, COMMANDS, Console())


@theory.command()
@click.option("--data", default="digits", show_default=True, help="Built-in name or file.")
@reading_options
@click.option("--width", type=click.IntRange(1), required=True, help="Neurons of the hidden layer.")
@click.option("--eta", type=POSITIVE, help="Step size η of gradient descent.  [default: left open]")
@click.option("--kappa", type=POSITIVE, help="Std κ of the initial weights.  [default: the best one]")
@click.option("--steps", type=click.IntRange(1), help="Steps of training.  [default: left open]")
@click.option("--epsilon", type=POSITIVE, help="Accuracy, loss or risk to reach.  [default: 0.1]")
@click.option("--delta", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@seed_option
@telling_options
def inside(
    data: str,
    target: str | None,
    prepare: Any,
    impute: bool,
    width: int,
    seed: int,
    as_json: bool,
    quiet: bool,
    **training: float | None,
) -> None:
    """Is my network inside the theorems, and by what factor is it short?

    DATA is a built-in name or a .csv, .tsv, .parquet or .npz file.
    """
    from widenet.data import load
    from widenet.report.inside_terminal import print_inside
    from widenet.theory.inside import inside as hold_against_theorems

    given: dict[str, Any] = {name: value for name, value in training.items() if value is not None}
    with stages(quiet) as stage:
        stage(f"reading {data}")
        dataset = load(data, target=target, prepare=prepare, impute=impute)
        result = hold_against_theorems(dataset, width=width, seed=seed, progress=stage, **given)
    tell_result(result, print_inside, as_json=as_json)


@theory.command()
@click.option("--d1", type=int, help="Coordinates of the cube, at most 16.  [default: 12]")
@click.option("--k", type=int, help="Coordinates that matter, and outputs.  [default: 3]")
@click.option("--alpha", type=float, help="α of H = F + αG(F), from 0.001 to 1.  [default: 0.5]")
@click.option("--sizes", metavar="N,N,...", help="Numbers of samples, ascending.  [default: 20 to 260]")
@click.option("--members", type=int, help="Functions to learn.  [default: 5]")
@click.option("--width", type=int, help="Neurons of a hidden layer.  [default: 200]")
@click.option("--epochs", type=int, help="Epochs of training.  [default: 800]")
@store_option
@yes_option
@result_options("separation", suffix="")
def separation(
    sizes: str | None,
    out: Path | None,
    force: bool,
    store: Path | None,
    yes: bool,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """What a ResNet learns and no kernel does: error against samples, with the kernels' bound."""
    from widenet.report.files import check_folder
    from widenet.report.separation_folder import SEPARATION_FILES, write_separation
    from widenet.report.separation_terminal import print_separation
    from widenet.runs import Store, progress_line
    from widenet.separation import SeparationSettings, run_separation

    given["sizes"] = None if sizes is None else _whole_numbers("--sizes", sizes)
    settings = SeparationSettings(**{name: value for name, value in given.items() if value is not None})
    out = out or Path("widenet-separation")
    check_folder(out, SEPARATION_FILES, force=force)
    with progress_line(quiet) as progress, Store(store) if store else nullcontext() as kept:
        result = run_separation(settings, store=kept, allow_long=yes, progress=progress)
    write_separation(out, result, asdict(settings), force=force)
    tell_result(result, print_separation, as_json=as_json, out=out)


def quantity_command(name: str) -> click.Command:
    """The command that computes a quantity, with its arguments in the help."""
    from widenet.report.files import to_json
    from widenet.report.theory_terminal import argument_lines, print_quantity
    from widenet.theory.names import TITLES, entry_by_name

    entry = entry_by_name(name)

    @click.command(entry.name, help=_help(entry.summary, argument_lines(entry.arguments)))
    @click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
    @json_option
    @debug_option
    def compute(pairs: tuple[str, ...], as_json: bool) -> None:
        quantity = entry(split_pairs(entry.name, pairs))
        if as_json:
            click.echo(to_json(_head() | quantity.to_dict()))
        else:
            print_quantity(quantity, Console(), TITLES)

    return compute


def _whole_numbers(option: str, text: str) -> tuple[int, ...]:
    from widenet.data.wording import shown

    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option} cannot read {shown(text)}: give whole numbers between commas.") from None


def split_pairs(name: str, pairs: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE of the command line as a dictionary."""
    given: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key or not value:
            raise InputError(f"{name} cannot read {pair!r}: give arguments as key=value.")
        if key in given:
            raise InputError(f"{name} is given {key} more than once: keep one.")
        given[key] = value
    return given


def _help(summary: str, lines: Sequence[str]) -> str:
    told = [textwrap.fill(line, 76, initial_indent="  ", subsequent_indent="      ") for line in lines]
    return f"{summary}.\n\n\b\nArguments:\n" + "\n".join(told)


def _head() -> dict[str, str]:
    from importlib.metadata import version

    return {"schema": SCHEMA, "version": version("widenet")}


def _listing() -> list[dict[str, object]]:
    from widenet.theory.names import GROUPS

    return [
        {
            "name": entry.name,
            "paper": heading,
            "summary": entry.summary,
            "arguments": {
                key: {
                    "meaning": argument.meaning,
                    "kind": argument.kind.__name__,
                    "range": argument.range,
                    "default": argument.default,
                }
                for key, argument in entry.arguments.items()
            },
        }
        for heading, entries in GROUPS.items()
        for entry in entries
    ]
