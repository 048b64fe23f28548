"""The command line: results to stdout, messages to stderr, heavy imports only where they are used."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.text import Text

from widenet.errors import InputError, WidenetError

FAILED, WRONG_INPUT, FAILED_TRIALS, INTERRUPTED = 1, 2, 3, 130


debug_option = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="widenet")
def cli() -> None:
    """What a wide neural network can learn from your data, before and without training one."""


@cli.command()
@click.argument("data", default="digits")
@click.option("--target", metavar="COL", help="Column to predict; found by its name or taken as the last.")
@click.option("--kernel", metavar="NAME", help="Kernel of the network.  [default: relu2-hidden]")
@click.option(
    "--prepare",
    type=click.Choice(["unit", "standard"]),
    help="Map of the rows to the unit sphere.  [default: unit for images, standard for tables]",
)
@click.option("--impute", is_flag=True, help="Fill missing values in instead of refusing them.")
@click.option("--eta", type=float, help="Step size of gradient descent.  [default: 1/λ_max]")
@click.option("--train", is_flag=True, help="Train a real network and draw it beside its prediction.")
@click.option("--width", type=click.IntRange(2, 2**20), help="Neurons of that network, an even number.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write.  [default: widenet-audit-DATA]"
)
@click.option("--force", is_flag=True, help="Replace the folder of an earlier audit.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No messages on the way.")
@debug_option
def audit(
    data: str,
    target: str | None,
    kernel: str | None,
    prepare: Any,
    impute: bool,
    eta: float | None,
    train: bool,
    width: int | None,
    seed: int,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what a wide network will make of DATA: a built-in name or a .csv, .tsv, .parquet or .npz file."""
    from widenet.audit import AuditSettings, TrainSettings, run_audit
    from widenet.audit.run import DEFAULT_KERNEL
    from widenet.data import is_concept, load
    from widenet.kernels.names import kernel_by_name
    from widenet.report.files import check_folder, to_json
    from widenet.report.folder import AUDIT_FILES, write_audit
    from widenet.report.terminal import print_summary

    if width is not None and not train:
        raise InputError("--width is for the network that --train trains; add --train or leave --width out.")
    out = out or Path(f"widenet-audit-{_short_name(data)}")
    kernel = kernel or DEFAULT_KERNEL
    kernel_by_name(kernel)
    check_folder(out, AUDIT_FILES, force=force)
    training = (TrainSettings() if width is None else TrainSettings(width=width)) if train else None
    settings = AuditSettings(kernel=kernel, eta=eta, seed=seed, train=training)
    with stages(quiet) as progress:
        progress(f"reading {data}")
        # The theorems are about rows of norm 1, which the rows of most concept classes are not.
        prepare = prepare or ("unit" if is_concept(data) else None)
        dataset = load(data, target=target, prepare=prepare, impute=impute)
        result = run_audit(dataset, settings, progress=progress)
        progress("writing the report")
        resolved = {"prepare": dataset.preparation.kind, **asdict(settings), "eta": result.curve.eta}
        config = {"data": data, "target": target, "impute": impute, **resolved}
        result = write_audit(out, result, dataset, config, force=force)
    if as_json:
        click.echo(to_json(result.to_dict()))
        return
    print_summary(result, Console())
    click.echo(f"\nReport: {out / 'report.html'}")


@cli.command()
@click.argument("data", default="digits")
@click.option("--target", metavar="COL", help="Column to predict; found by its name or taken as the last.")
@click.option(
    "--methods",
    metavar="A,B,...",
    help="Methods to compare, or the groups networks, kernels, baselines.  [default: all]",
)
@click.option(
    "--prepare",
    type=click.Choice(["unit", "standard"]),
    help="Map of the rows to the unit sphere.  [default: unit for images, standard for tables]",
)
@click.option("--impute", is_flag=True, help="Fill missing values in instead of refusing them.")
@click.option("--folds", type=click.IntRange(2, 100), help="Outer folds.  [default: 5]")
@click.option("--repeats", type=click.IntRange(1, 100), help="Divisions into folds.  [default: 2]")
@click.option("--width", type=click.IntRange(1, 2**16), help="Neurons of a hidden layer.  [default: 128]")
@click.option("--epochs", type=click.IntRange(1, 10**6), help="Epochs of training.  [default: by the rows]")
@click.option("--rows", type=click.IntRange(1), help="Most rows to compare on.  [default: 2000]")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write.  [default: widenet-compare-DATA]"
)
@click.option("--force", is_flag=True, help="Replace the folder of an earlier comparison.")
@click.option(
    "--store", type=click.Path(path_type=Path), help="File of finished fits, from which a later call goes on."
)
@click.option("--yes", is_flag=True, help="Run even if the forecast is beyond an hour.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No messages on the way.")
@debug_option
def compare(
    data: str,
    target: str | None,
    methods: str | None,
    prepare: Any,
    impute: bool,
    out: Path | None,
    force: bool,
    store: Path | None,
    yes: bool,
    as_json: bool,
    quiet: bool,
    **sizes: int | None,
) -> int:
    """Compare networks, kernels and baselines on DATA by nested cross-validation.

    DATA is a built-in name or a .csv, .tsv, .parquet or .npz file. Exit code 3: some fits failed.
    """
    from widenet.compare import CompareSettings, run_comparison
    from widenet.compare.methods import methods_by_name
    from widenet.data import load
    from widenet.report.compare_folder import COMPARE_FILES, write_comparison
    from widenet.report.compare_terminal import print_comparison
    from widenet.report.files import check_folder, to_json
    from widenet.runs import Store, progress_line

    names = tuple(filter(None, map(str.strip, (methods or "").split(","))))
    given = {name: value for name, value in sizes.items() if value is not None}
    settings = CompareSettings(methods=names, **given)
    methods_by_name(names, settings.width, epochs=1)
    out = out or Path(f"widenet-compare-{_short_name(data)}")
    check_folder(out, COMPARE_FILES, force=force)
    with stages(quiet) as stage:
        stage(f"reading {data}")
        dataset = load(data, target=target, prepare=prepare, impute=impute)
    with progress_line(quiet) as progress, Store(store) if store else nullcontext() as kept:
        result = run_comparison(dataset, settings, store=kept, allow_long=yes, progress=progress)
    resolved = {"methods": [m.name for m in result.methods], "epochs": result.protocol.epochs}
    config = {"data": data, "target": target, "impute": impute, "prepare": result.data.prepare}
    write_comparison(out, result, config | asdict(settings) | resolved, force=force)
    if as_json:
        click.echo(to_json(result.to_dict()))
    else:
        print_comparison(result, Console())
        click.echo(f"\nReport: {out / 'report.html'}")
    return FAILED_TRIALS if result.num_failed else 0


@cli.command()
@click.argument("name", required=False)
@debug_option
def data(name: str | None) -> None:
    """List the built-in data sets, or say where NAME is looked for and what it holds."""
    from widenet.data import builtin_names, describe

    if name is None:
        for each in map(describe, builtin_names()):
            click.echo(f"{each.name:<12} {each.n:>6,} rows, {each.d:>4} columns. {each.description}")
        return
    known = describe(name)
    click.echo(f"{known.name}: {known.n:,} rows, {known.d} columns. {known.description}")
    if known.classes:
        click.echo(f"Classes: {', '.join(known.classes)}")
    else:
        click.echo(f"Targets: {known.num_outputs} for each row")
    if known.options:
        click.echo(f"Options: {', '.join(known.options)}, as in {known.name}:{known.options[0]}=...")
    click.echo(f"Source: {known.source}")
    for place in known.places:
        click.echo(f"{'found' if place.found else 'not found':>9}  {place.text}")


@cli.command()
@debug_option
def doctor() -> None:
    """Show what widenet finds on this machine: versions, threads, memory, data."""
    import platform
    from importlib.metadata import version

    import torch

    from widenet.data import available_bytes

    free = available_bytes()
    click.echo(f"widenet   {version('widenet')}")
    click.echo(f"python    {platform.python_version()}")
    click.echo(f"torch     {torch.__version__}, {torch.get_num_threads()} threads")
    click.echo(f"memory    {'unknown' if free is None else f'{free / 2**30:.1f} GiB free'}")
    click.echo(f"data      WIDENET_DATA={os.environ.get('WIDENET_DATA', 'not set')}")


def _short_name(data: str) -> str:
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


def main() -> NoReturn:
    """Run the command line; errors become one sentence and an exit code."""
    try:
        sys.exit(cli(standalone_mode=False) or 0)
    except (KeyboardInterrupt, click.Abort):
        _fail("Interrupted; no result was written.", INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except InputError as error:
        _fail(str(error), WRONG_INPUT)
    except BrokenPipeError:  # the reader of our output left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except WidenetError as error:
        _fail(str(error), FAILED)
    except Exception as error:
        _fail(f"Unexpected {type(error).__name__}: {error} (add --debug to see where)", FAILED)


def _fail(message: str, code: int) -> NoReturn:
    if "--debug" in sys.argv:
        raise
    click.echo(f"widenet: {message}", err=True)
    sys.exit(code)
