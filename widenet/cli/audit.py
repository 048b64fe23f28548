"""`widenet audit`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from widenet.cli.common import data_options, result_options, short_name, stages, tell_result
from widenet.errors import InputError


@click.command()
@data_options
@click.option("--kernel", metavar="NAME", help="Kernel of the network.  [default: relu2-hidden]")
@click.option("--eta", type=float, help="Step size of gradient descent.  [default: 1/λ_max]")
@click.option("--train", is_flag=True, help="Train a real network and draw it beside its prediction.")
@click.option("--width", type=click.IntRange(2, 2**20), help="Neurons of that network, an even number.")
@result_options("audit")
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
    from widenet.report.files import check_folder
    from widenet.report.folder import AUDIT_FILES, write_audit
    from widenet.report.terminal import print_summary

    if width is not None and not train:
        raise InputError("--width is for the network that --train trains; add --train or leave --width out.")
    out = out or Path(f"widenet-audit-{short_name(data)}")
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
    tell_result(result, print_summary, as_json=as_json, out=out)
