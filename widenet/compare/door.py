"""`widenet.compare`: a comparison on data of any kind, in one call."""

from typing import Any, Unpack

from widenet.base.progress import SILENT, Progress
from widenet.compare.result import CompareResult
from widenet.compare.run import run_compare
from widenet.compare.settings import CompareSettings
from widenet.data.dataset import Dataset
from widenet.data.loading import Source
from widenet.runs.store import Store
from widenet.study.door import ReadingOptions, read_any, split_options, with_config


class CompareOptions(ReadingOptions, total=False):
    """How data is read, and the settings of a comparison."""

    methods: tuple[str, ...]
    folds: int
    repeats: int | None
    width: int
    epochs: int | None
    rows: int
    seed: int


def compare(
    data: Source | Dataset,
    y: Any = None,
    *,
    cluster: Any = None,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
    **options: Unpack[CompareOptions],
) -> CompareResult:
    """Compare networks, kernels and baselines on this data by nested cross-validation.

    Args:
        data: A table and its `target`, rows X with targets y, a torch `Dataset`, a file, a name: whatever
            `widenet.load` takes, or what it gave.
        y: Targets, one for each row, where they are not in the data.
        cluster: Where fits run instead of here: the address of a Dask scheduler, a `ClusterAddress`, or a
            client or cluster of Dask.
        store: Where finished fits are kept, so that a comparison that was interrupted resumes from there.
        allow_long: Whether a comparison whose forecast exceeds an hour may run.
        progress: Told of the forecasts that are done, and then of the fits.
        **options: Arguments of `widenet.load`, and fields of `CompareSettings`.
    """
    reading, changes = split_options(options)
    settings = CompareSettings(**changes)
    dataset = read_any(data, y, reading)
    result = run_compare(
        dataset, settings, cluster=cluster, store=store, allow_long=allow_long, progress=progress
    )
    return with_config(result, dataset, reading, settings)
