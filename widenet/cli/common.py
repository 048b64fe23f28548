"""What the commands share: options that mean the same everywhere, exit codes, results on stdout."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from widenet.base.errors import InputError, WidenetError
from widenet.base.streams import warn
from widenet.base.wording import shown
from widenet.cli.options import in_flags
from widenet.cli.printing import say, screenful
from widenet.study.study import Study

if TYPE_CHECKING:  # this imports torch, which takes longer than --help may
    from widenet.runs.address import ClusterAddress
    from widenet.runs.store import Store

DATA_KINDS = (
    "DATA is a built-in name, a table (.csv, .tsv, .txt, .xlsx, .xls, .parquet, .json, .jsonl, .arff, "
    ".dta, .xpt; text also packed as .gz, .bz2 or .xz), an .npz file with X and y, a .zip with one of "
    "these inside (of several, archive.zip/train.csv is one), or a folder with a folder of images for "
    "each class."
)
FAILED, WRONG_INPUT, FAILED_TRIALS = 1, 2, 3  # those of an interruption are in `widenet.cli.signals`
UNEXPECTED, UNPRINTED = 70, 74  # a fault of ours; a result that stdout did not take: they say nothing of it
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
SIGN = click.Option(
    ["--sign"],
    type=click.Path(path_type=Path),
    metavar="KEY",
    help="Sign the folder with this private key, ed25519 in PEM.",
)
CLUSTER = [
    click.Option(
        ["--cluster"],
        metavar="ADDRESS",
        help="Run on this Dask cluster: the address of its scheduler, as tls://HOST:PORT.  [default: here]",
    ),
    click.Option(["--cluster-ca"], metavar="FILE", help="Certificate of the cluster's authority, in PEM."),
    click.Option(["--cluster-cert"], metavar="FILE", help="Certificate to show to the cluster, in PEM."),
    click.Option(["--cluster-key"], metavar="FILE", help="Private key of that certificate, in PEM."),
    click.Option(
        ["--cluster-insecure"], is_flag=True, help="Allow tcp:// beyond this machine: the network is safe."
    ),
]
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


def cluster_of(given: dict[str, Any]) -> "ClusterAddress | None":
    """The cluster to run on, checked as far as that can be before anything is read."""
    from widenet.runs.address import ClusterAddress

    named = {name: given[f"cluster_{name}"] for name in ("ca", "cert", "key", "insecure")}
    if given["cluster"] is None:
        for name, value in named.items():
            if value:
                raise InputError(f"`{name}` is for a cluster: give its address as `cluster`, too.")
        return None
    address = ClusterAddress(given["cluster"], **named)
    address.check()
    return address


def out_option(study: Study) -> click.Option:
    """The folder to write."""
    suffix = "-DATA" if study.reads_data else ""
    return click.Option(
        ["--out"],
        type=click.Path(path_type=Path),
        help=f"Folder to write.  [default: widenet-{study.name}{suffix}]",
    )


def restore(out: Path) -> None:
    """Bring back what a kill in the middle of a replacement left aside, and say so."""
    from widenet.report.parts.files import restore_folder

    if restore_folder(out):
        told = f"The result in {out} was restored: a run that was replacing it was killed before its own was."
        warn(told)


@contextmanager
def sole(*folders: Path) -> Iterator[None]:
    """Refuse to begin where another run is at work on one of these folders."""
    from widenet.runs.lock import only_run

    with ExitStack() as locks:
        for folder in folders:
            locks.enter_context(only_run(folder))
        yield


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
        told = _tell_damage(store, "")
        try:
            yield store, left
            done = not left
        finally:
            _tell_damage(store, told)  # some may have been found on the way
            if done and store_path is None:
                with suppress(WidenetError):  # on a full disk the file stays, and the result all the same
                    store.drop_done()
            # A state that is still there is the way back of another run, whose work this one must not take.
            unneeded = store.is_empty() or (done and not store.num_states())
            if unneeded and store_path is None and not store.is_used_elsewhere():
                path.unlink(missing_ok=True)
            elif not unneeded and not done and not quiet:
                warn(f"Finished work is kept in {path}: the same command resumes from there.")


def with_differences(words: Callable[[object], Iterable[str]]) -> Callable[[object], Iterable[str]]:
    """Words for what is noted on the way, and for what keeps a run from going on from its store."""
    from widenet.runs.differences import Differences

    params = click.get_current_context().command.params
    return lambda fact: (in_flags(fact.told(), params),) if isinstance(fact, Differences) else words(fact)


def _tell_damage(store: "Store", told: str) -> str:
    """Say what was found damaged, unless that was told; also where all else is to be quiet."""
    damage = store.damage_told()
    if damage != told:
        warn(damage)
    return damage


def tell_result(result: Any, room: Any, *, as_json: bool, out: Path | None = None) -> None:
    """The result on stdout: as JSON, or as a screenful and where the report is.

    Args:
        result: What was found.
        room: Its room of the report.
        as_json: Whether to print JSON.
        out: The folder that was written, if one was.
    """
    from widenet.report.parts.files import to_json

    if as_json:
        say(to_json(room.record(result)))
        return
    told = screenful(lambda console: room.screen(result, console))
    say(in_flags(told, click.get_current_context().command.params), nl=False)
    if out is not None:
        say(f"\nReport: {out / 'report.html'}")


def short_name(data: str) -> str:
    """DATA as a part of a folder's name: without its folder, ending and options."""
    from widenet.files.opening import looks_like_path, stem_of

    return stem_of(Path(data)) if looks_like_path(data) else data.partition(":")[0]
