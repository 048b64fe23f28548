"""What the commands share: options that mean the same everywhere, exit codes, results on stdout."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from widenet.base.errors import InputError, WidenetError
from widenet.base.wording import shown
from widenet.cli.options import in_flags
from widenet.study.study import Study

if TYPE_CHECKING:  # this imports torch, which takes longer than --help may
    from widenet.runs.store import Store

DATA_KINDS = (
    "DATA is a built-in name, a table (.csv, .tsv, .txt, .xlsx, .parquet, .json; text also packed as .gz), "
    "an .npz file with X and y, or a folder with a folder of images for each class."
)
FAILED, WRONG_INPUT, FAILED_TRIALS, INTERRUPTED = 1, 2, 3, 130
EXIT_CODES = {"done": 0, "failed": FAILED, "partly": FAILED_TRIALS}

DATA = click.Argument(["data"], default="digits", required=False)
DATA_OPTION = click.Option(  # for the command that had it so
    ["--data", "data_by_option"], metavar="DATA", help="The same as the argument DATA."
)
STORE = click.Option(
    ["--store"],
    type=click.Path(path_type=Path),
    help="File that keeps finished work, to resume from later.  [default: beside the folder, until done]",
)
YES = click.Option(["--yes"], is_flag=True, help="Run even if the forecast exceeds an hour.")
FORCE = click.Option(
    ["--force"],
    is_flag=True,
    help="Replace an earlier result in the folder of --out; the default one may be.",
)
JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print the result as JSON.")
QUIET = click.Option(["-q", "--quiet"], is_flag=True, help="Suppress progress messages.")
DEBUG = click.Option(["--debug"], is_flag=True, expose_value=False, help="Show tracebacks.")


class Command(click.Command):
    """A command whose messages name its flags where the library names settings."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except WidenetError as error:
            raise type(error)(in_flags(str(error), self.params)) from error


def one_data(given: dict[str, Any]) -> dict[str, Any]:
    """What was given, with the data set of the option as that of the argument; both at once are refused."""
    named = given.pop("data_by_option", None)
    if named is None:
        return given
    if click.get_current_context().get_parameter_source("data") is ParameterSource.COMMANDLINE:
        raise InputError(f"DATA is {shown(given['data'])} and --data is {shown(named)}: give only one.")
    return given | {"data": named}


def out_option(study: Study) -> click.Option:
    """The folder to write."""
    suffix = "-DATA" if study.reads_data else ""
    return click.Option(
        ["--out"],
        type=click.Path(path_type=Path),
        help=f"Folder to write.  [default: widenet-{study.name}{suffix}]",
    )


@contextmanager
def resumable(store_path: Path | None, out: Path, *, quiet: bool) -> "Iterator[tuple[Store, list[str]]]":
    """The store that a run resumes from: the one named, or one beside the folder until that is done.

    With it comes a list of what is left to do by another run; as long as that has anything, the store stays.

    Args:
        store_path: The file that the caller wants.
        out: The folder that the run will write.
        quiet: Whether to say nothing where work is left for another run.
    """
    from widenet.runs.store import Store, beside

    path, left, done = store_path or beside(out), list[str](), False
    with Store(path) as store:
        try:
            yield store, left
            done = not left
        finally:
            unneeded = store.is_empty() or (done and not store.num_unfinished())
            if unneeded and store_path is None and not store.is_used_elsewhere():
                path.unlink(missing_ok=True)
            elif not unneeded and not done and not quiet:
                kept = f"Finished work is kept in {path}: the same command resumes from there."
                click.echo(kept, err=True)


def tell_result(result: Any, room: Any, *, as_json: bool, out: Path | None = None) -> None:
    """The result on stdout: as JSON, or as a screenful and where the report is.

    Args:
        result: What was found.
        room: Its room of the report.
        as_json: Whether to print JSON.
        out: The folder that was written, if one was.
    """
    from rich.console import Console

    from widenet.report.parts.files import to_json

    if as_json:
        click.echo(to_json(room.record(result)))
        return
    console = Console()
    with console.capture() as told:
        room.screen(result, console)
    click.echo(in_flags(told.get(), click.get_current_context().command.params), nl=False)
    if out is not None:
        click.echo(f"\nReport: {out / 'report.html'}")


def short_name(data: str) -> str:
    """DATA as a part of a folder's name: without its folder, ending and options."""
    from widenet.files.opening import looks_like_path, stem_of

    return stem_of(Path(data)) if looks_like_path(data) else data.partition(":")[0]
