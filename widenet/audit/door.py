"""`widenet.audit`: an audit of data of any kind, in one call."""

from typing import Any, Unpack

from widenet.audit.result import AuditResult
from widenet.audit.run import run_audit
from widenet.audit.settings import AuditSettings
from widenet.base.progress import SILENT, Progress
from widenet.data.dataset import Dataset
from widenet.data.loading import Source
from widenet.runs.device import device_named
from widenet.runs.store import Store
from widenet.study.door import ReadingOptions, read_any, split_options, with_config


class AuditOptions(ReadingOptions, total=False):
    """How data is read, and the settings of an audit."""

    kernel: str
    eta: float | None
    rows: int | None
    landmarks: int | None
    train: bool
    width: int | None
    device: str
    seed: int
    raw_cells: bool


def audit(
    data: Source | Dataset,
    y: Any = None,
    *,
    cluster: Any = None,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
    **options: Unpack[AuditOptions],
) -> AuditResult:
    """Say what a wide network will make of this data, before training one.

    Args:
        data: A table and its `target`, rows X with targets y, a torch `Dataset`, a file, a name: whatever
            `widenet.load` takes, or what it gave.
        y: Targets, one for each row, where they are not in the data.
        cluster: Where a kernel matrix is held that is too large for this machine alone: the address of a Dask
            scheduler, a `ClusterAddress`, or a client or cluster of Dask.
        store: Where long stages are kept on the way, and looked for at the start.
        allow_long: Whether an audit whose forecast exceeds an hour may run.
        progress: Told of each stage.
        **options: Arguments of `widenet.load`, and fields of `AuditSettings`.
    """
    reading, changes = split_options(options)
    settings = AuditSettings(**changes)
    device_named(settings.device, cluster)
    dataset = read_any(data, y, reading, unit_rows=True)
    result = run_audit(
        dataset, settings, cluster=cluster, store=store, allow_long=allow_long, progress=progress
    )
    return with_config(result, dataset, reading, settings)
