"""`widenet.memorise`: a network that fits every row of data of any kind, in one call."""

from typing import Any, Unpack

from widenet.base.progress import SILENT, Progress
from widenet.data.dataset import Dataset
from widenet.data.loading import Source
from widenet.memorise.result import MemoriseResult
from widenet.memorise.run import run_memorise
from widenet.memorise.settings import MemoriseSettings
from widenet.runs.device import device_named
from widenet.runs.store import Store
from widenet.study.door import ReadingOptions, read_any, split_options, with_config


class MemoriseOptions(ReadingOptions, total=False):
    """How data is read, and the settings of memorising."""

    layers: int | None
    method: str
    width: int | None
    perturb: float
    random_rows: str
    theorem: bool
    device: str
    seed: int


def memorise(
    data: Source | Dataset,
    y: Any = None,
    *,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
    **options: Unpack[MemoriseOptions],
) -> MemoriseResult:
    """Fit a mildly overparametrised network to every row, and certify it.

    Args:
        data: A table and its `target`, rows X with targets y, a torch `Dataset`, a file, a name: whatever
            `widenet.load` takes, or what it gave.
        y: Targets, one for each row, where they are not in the data.
        store: Where the state is kept on the way, and looked for at the start.
        allow_long: Whether a run whose forecast exceeds an hour may start; what was begun may end.
        progress: Told of each stage, and of the forecast, the conditions and the method's plan.
        **options: Arguments of `widenet.load`, and fields of `MemoriseSettings`.
    """
    reading, changes = split_options(options)
    settings = MemoriseSettings(**changes)
    device_named(settings.device)
    dataset = read_any(data, y, reading)
    result = run_memorise(dataset, settings, store=store, allow_long=allow_long, progress=progress)
    return with_config(result, dataset, reading, settings)
