"""`widenet memorise` and `widenet verify`."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from widenet.cli.common import (
    FAILED,
    data_options,
    result_options,
    short_name,
    stages,
    tell_result,
    telling_options,
    yes_option,
)

if TYPE_CHECKING:  # these import torch, which takes longer than --help may
    from widenet.data import Dataset
    from widenet.memorise.checkpoint import Checkpoint
    from widenet.memorise.plan import MemoriseSettings, Plan
    from widenet.memorise.run import Memorised


@click.command()
@data_options
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
@yes_option
@result_options("memorise")
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
    from widenet.memorise.plan import MemoriseSettings
    from widenet.report.files import check_folder
    from widenet.report.memorise_folder import MEMORISE_FILES
    from widenet.report.memorise_terminal import print_memorised

    number = None if layers is None else int(layers)
    settings = MemoriseSettings(
        layers=number, method=method, width=width, noise=perturb, theorem=theorem, seed=seed
    )
    out = out or Path(f"widenet-memorise-{short_name(data)}")
    check_folder(out, MEMORISE_FILES, force=force)
    given = {"data": data, "target": target, "impute": impute, "prepare": prepare}
    done = _memorised(given, settings, out, force=force, allow_long=yes, quiet=quiet)
    tell_result(done.result, print_memorised, as_json=as_json, out=out)
    if done.certificate is None:
        click.echo(f"widenet: {' '.join(done.result.verdict[:2])}", err=True)
        return FAILED
    return 0


def _memorised(
    given: dict[str, Any],
    settings: "MemoriseSettings",
    out: Path,
    *,
    force: bool,
    allow_long: bool,
    quiet: bool,
) -> "Memorised":
    """Load, plan, train, and write the folder.

    Args:
        given: data, target, impute and prepare, as the user gave them.
        settings: The settings.
        out: The folder to write.
        force: Whether an earlier result, and what another run left, may be replaced.
        allow_long: Whether it may take more than an hour.
        quiet: Whether nothing is told on the way.
    """
    from widenet.data import file_hash, load
    from widenet.memorise.certificate import Source
    from widenet.memorise.checkpoint import checkpoint_path
    from widenet.memorise.run import carry_out, checkpoint_at
    from widenet.report.memorise_folder import write_memorised

    data, target, impute = given["data"], given["target"], given["impute"]
    with stages(quiet) as progress:
        progress(f"reading {data}")
        dataset = load(data, target=target, prepare=given["prepare"], impute=impute)
        source = Source(data, target, dataset.preparation.kind, impute, file_hash(data))
        checkpoint = checkpoint_at(checkpoint_path(out), dataset, settings)
    try:
        plan = _planned(dataset, settings, checkpoint, force=force, allow_long=allow_long, quiet=quiet)
        with stages(quiet) as progress:
            done = carry_out(plan, source=source, checkpoint=checkpoint, progress=progress)
            progress("writing the report")
            write_memorised(out, done, given | {"prepare": source.prepare} | asdict(settings), force=force)
            checkpoint.remove()
    except KeyboardInterrupt:
        if checkpoint.kept:
            _tell([f"The state is kept in {checkpoint.path}: the same command goes on from there."], quiet)
        raise
    return done


def _planned(
    dataset: "Dataset",
    settings: "MemoriseSettings",
    checkpoint: "Checkpoint",
    *,
    force: bool,
    allow_long: bool,
    quiet: bool,
) -> "Plan":
    """Tell what it will cost, and then what the theorems ask for; the arguments are those of `_memorised`."""
    from widenet.memorise.plan import draft_memorising, plan_memorising
    from widenet.report.memorise_words import forecast_sentence

    with stages(quiet) as progress:
        draft = draft_memorising(
            dataset, settings, checkpoint=checkpoint, restart=force, allow_long=allow_long, progress=progress
        )
    going_on = [f"Going on from {checkpoint.path.name}."] if draft.saved else []
    _tell([forecast_sentence(draft.forecast), *going_on], quiet)
    with stages(quiet) as progress:
        plan = plan_memorising(draft, checkpoint=checkpoint, progress=progress)
    _tell(plan.sentences(), quiet)
    return plan


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("data", required=False)
@telling_options
def verify(folder: Path, data: str | None, as_json: bool, quiet: bool) -> int:
    """Check the certificate in DIR, which `widenet memorise` wrote, with code that shares nothing with it.

    DATA is a built-in name or a file; left out, it is what the certificate names. Exit code 1: something
    is not as the certificate says.
    """
    from widenet.memorise.verify import verify as verify_folder
    from widenet.report.memorise_terminal import print_verification

    with stages(quiet) as progress:
        found = verify_folder(folder, data, progress=progress)
    tell_result(found, print_verification, as_json=as_json)
    return 0 if found.verified else FAILED


def _tell(sentences: Iterable[str], quiet: bool) -> None:
    if not quiet:
        for sentence in sentences:
            click.echo(sentence, err=True)
