"""What the commands share: options that mean the same everywhere, names of folders, stages of long work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click
from rich.console import Console
from rich.text import Text

FAILED, WRONG_INPUT, FAILED_TRIALS, INTERRUPTED = 1, 2, 3, 130

Decorator = Callable[[Any], Any]  # of a command's function
ResultT = TypeVar("ResultT", bound="Result")


class Result(Protocol):
    """What a command found."""

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as `--json` prints them."""


data_argument = click.argument("data", default="digits")
target_option = click.option(
    "--target", metavar="COL", help="Column to predict; found by its name or taken as the last."
)
prepare_option = click.option(
    "--prepare",
    type=click.Choice(["unit", "standard"]),
    help="Map of the rows to the unit sphere.  [default: unit for images, standard for tables]",
)
impute_option = click.option(
    "--impute", is_flag=True, help="Fill missing values in instead of refusing them."
)
seed_option = click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
force_option = click.option("--force", is_flag=True, help="Replace the folder of an earlier result.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No messages on the way.")
debug_option = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
store_option = click.option(
    "--store", type=click.Path(path_type=Path), help="File of finished runs, from which a later call goes on."
)
yes_option = click.option("--yes", is_flag=True, help="Run even if the forecast is beyond an hour.")


def out_option(command: str, suffix: str = "-DATA") -> Decorator:
    """The option for the folder to write."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        help=f"Folder to write.  [default: widenet-{command}{suffix}]",
    )


def together(*options: Decorator) -> Decorator:
    """Several decorators as one; `--help` shows their options in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


reading_options = together(target_option, prepare_option, impute_option)
data_options = together(data_argument, reading_options)
telling_options = together(json_option, quiet_option, debug_option)


def result_options(command: str, suffix: str = "-DATA") -> Decorator:
    """What every command takes that writes a folder with a report."""
    return together(seed_option, out_option(command, suffix), force_option, telling_options)


def tell_result(
    result: ResultT, show: Callable[[ResultT, Console], None], *, as_json: bool, out: Path | None = None
) -> None:
    """The result on stdout: as JSON, or as a screenful and where the report is.

    Args:
        result: What was found.
        show: Prints the screenful.
        as_json: Whether to print JSON.
        out: The folder that was written, if one was.
    """
    from widenet.report.files import to_json

    if as_json:
        click.echo(to_json(result.to_dict()))
        return
    show(result, Console())
    if out is not None:
        click.echo(f"\nReport: {out / 'report.html'}")


def short_name(data: str) -> str:
    """DATA as a part of a folder's name: without its folder, ending and options."""
    from widenet.data import is_concept

    return data.partition(":")[0] if is_concept(data) else Path(data).stem


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Tell the stage of long work: one changing line on a terminal, a plain line for each stage elsewhere."""
    console = Console(stderr=True, quiet=quiet)
    if not console.is_terminal:
        told: set[str] = set()

        def tell(stage: str) -> None:
            name = stage.partition(":")[0]  # what follows the colon is how far it is
            if name not in told:
                console.print(stage, markup=False, highlight=False)
            told.add(name)

        yield tell
        return
    with console.status("starting") as status:
        yield lambda stage: status.update(Text(stage))
