"""`widenet memorise` and `widenet verify`."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from widenet.cli.common import (
    FAILED,
    data_argument,
    debug_option,
    force_option,
    impute_option,
    json_option,
    out_option,
    prepare_option,
    quiet_option,
    seed_option,
    short_name,
    stages,
    target_option,
)


@click.command()
@data_argument
@target_option
@prepare_option
@impute_option
@click.option(
    "--layers", type=click.Choice(["2", "3"]), help="Layers.  [default: 2 where that can fit, else 3]"
)
@click.option(
    "--method",
    type=click.Choice(["pgd", "adam", "direct"]),
    default="direct",
    show_default=True,
    help="Perturbed gradient descent, the paper's Adam recipe, or linear algebra.",
)
@click.option(
    "--width", type=click.IntRange(2, 2**20), metavar="R", help="Neurons to train.  [default: 2k+2]"
)
@click.option(
    "--perturb",
    type=click.FloatRange(0, 1e6),
    metavar="STD",
    default=0.0,
    help="Add Gaussian noise of this standard deviation to every coordinate.  [default: none]",
)
@click.option("--theorem", is_flag=True, help="With --method pgd: exactly the numbers of Theorem 4.")
@click.option("--yes", is_flag=True, help="Run even if the forecast is beyond an hour.")
@seed_option
@out_option("memorise")
@force_option
@json_option
@quiet_option
@debug_option
def memorise(
    data: str,
    target: str | None,
    prepare: Any,
    impute: bool,
    layers: str | None,
    method: str,
    width: int | None,
    perturb: float,
    theorem: bool,
    yes: bool,
    seed: int,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Fit a mildly overparametrised network to every row of DATA, and certify it.

    DATA is a built-in name or a .csv, .tsv, .parquet or .npz file. The folder it writes is checked by
    `widenet verify`. A run that was killed goes on where it was when the same command is given again.
    Exit code 1: not every label was reproduced, so there is no certificate.
    """
    from widenet.data import load
    from widenet.memorise.certificate import Source
    from widenet.memorise.checkpoint import checkpoint_path
    from widenet.memorise.run import MemoriseSettings, carry_out, checkpoint_at, plan_memorising
    from widenet.report.files import check_folder, to_json
    from widenet.report.memorise_folder import MEMORISE_FILES, write_memorised
    from widenet.report.memorise_terminal import print_memorised
    from widenet.report.memorise_words import forecast_sentence

    number = None if layers is None else int(layers)
    settings = MemoriseSettings(number, method, width, perturb, theorem, seed)
    out = out or Path(f"widenet-memorise-{short_name(data)}")
    check_folder(out, MEMORISE_FILES, force=force)
    path = checkpoint_path(out)
    try:
        with stages(quiet) as progress:
            progress(f"reading {data}")
            dataset = load(data, target=target, prepare=prepare, impute=impute)
            source = Source(data, target, dataset.preparation.kind, impute)
            checkpoint = checkpoint_at(path, dataset, settings)
            plan = plan_memorising(
                dataset, settings, checkpoint=checkpoint, restart=force, allow_long=yes, progress=progress
            )
        going_on = (f"Going on from {path.name}.",) if plan.saved else ()
        _tell((*plan.sentences(), forecast_sentence(plan.forecast), *going_on), quiet)
        with stages(quiet) as progress:
            done = carry_out(plan, source=source, checkpoint=checkpoint, progress=progress)
            progress("writing the report")
            config = {"data": data, "target": target, "impute": impute, "prepare": source.prepare}
            write_memorised(out, done, config | asdict(settings), force=force)
            checkpoint.remove()
    except KeyboardInterrupt:
        if path.exists():
            _tell([f"The state is kept in {path}: the same command goes on from there."], quiet)
        raise
    if as_json:
        click.echo(to_json(done.result.to_dict()))
    else:
        print_memorised(done.result, Console())
        click.echo(f"\nReport: {out / 'report.html'}")
    if done.certificate is None:
        click.echo(f"widenet: {' '.join(done.result.verdict[:2])}", err=True)
        return FAILED
    return 0


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("data", required=False)
@json_option
@quiet_option
@debug_option
def verify(folder: Path, data: str | None, as_json: bool, quiet: bool) -> int:
    """Check the certificate in DIR, which `widenet memorise` wrote, with code that shares nothing with it.

    DATA is a built-in name or a file; left out, it is what the certificate names. Exit code 1: something
    is not as the certificate says.
    """
    from widenet.memorise.verify import verify as verify_folder
    from widenet.report.files import to_json
    from widenet.report.memorise_terminal import print_verification

    with stages(quiet) as progress:
        found = verify_folder(folder, data, progress=progress)
    if as_json:
        click.echo(to_json(found.to_dict()))
    else:
        print_verification(found, Console())
    return 0 if found.verified else FAILED


def _tell(sentences: Iterable[str], quiet: bool) -> None:
    if not quiet:
        for sentence in sentences:
            click.echo(sentence, err=True)
