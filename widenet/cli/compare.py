"""`widenet compare`."""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from widenet.cli.common import (
    FAILED_TRIALS,
    data_options,
    result_options,
    short_name,
    stages,
    store_option,
    tell_result,
    yes_option,
)


@click.command()
@data_options
@click.option(
    "--methods",
    metavar="A,B,...",
    help="Methods to compare, or the groups networks, kernels, baselines.  [default: all]",
)
@click.option("--folds", type=click.IntRange(2, 100), help="Outer folds.  [default: 5]")
@click.option("--repeats", type=click.IntRange(1, 100), help="Divisions into folds.  [default: 1]")
@click.option("--width", type=click.IntRange(1, 2**16), help="Neurons of a hidden layer.  [default: 128]")
@click.option("--epochs", type=click.IntRange(1, 10**6), help="Epochs of training.  [default: by the rows]")
@click.option("--rows", type=click.IntRange(1), help="Most rows to compare on.  [default: 2000]")
@store_option
@yes_option
@result_options("compare")
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
    from widenet.report.files import check_folder
    from widenet.runs import Store, progress_line

    names = tuple(filter(None, map(str.strip, (methods or "").split(","))))
    given = {name: value for name, value in sizes.items() if value is not None}
    settings = CompareSettings(methods=names, **given)
    methods_by_name(names, settings.width, epochs=1)
    out = out or Path(f"widenet-compare-{short_name(data)}")
    check_folder(out, COMPARE_FILES, force=force)
    with stages(quiet) as stage:
        stage(f"reading {data}")
        dataset = load(data, target=target, prepare=prepare, impute=impute)
    with progress_line(quiet) as progress, Store(store) if store else nullcontext() as kept:
        result = run_comparison(dataset, settings, store=kept, allow_long=yes, progress=progress)
    resolved = {"methods": [m.name for m in result.methods], "epochs": result.protocol.epochs}
    config = {"data": data, "target": target, "impute": impute, "prepare": result.data.prepare}
    write_comparison(out, result, config | asdict(settings) | resolved, force=force)
    tell_result(result, print_comparison, as_json=as_json, out=out)
    return FAILED_TRIALS if result.num_failed else 0
