"""A data set is measured, and a network held against every theorem."""

import torch

from widenet.base.progress import SILENT, Progress
from widenet.data.dataset import Dataset
from widenet.inside.answers import all_answers
from widenet.inside.forecast import forecast_inside
from widenet.inside.measured import measure_data
from widenet.inside.result import InsideResult
from widenet.inside.settings import InsideSettings


def run_inside(
    dataset: Dataset, settings: InsideSettings, *, allow_long: bool = False, progress: Progress = SILENT
) -> InsideResult:
    """Hold a network and its training against every theorem of four papers.

    Args:
        dataset: The data.
        settings: The network and its training.
        allow_long: Whether a run whose forecast exceeds an hour may go on.
        progress: Told of each stage.
    """
    forecast = forecast_inside(dataset.n, dataset.d)
    progress.note(forecast)
    forecast.refuse_long("use fewer rows", allow_long=allow_long)
    generator = torch.Generator().manual_seed(settings.seed)
    measured = measure_data(dataset, generator=generator, progress=progress)
    return InsideResult(
        data=dataset.name, setting=settings, measured=measured, answers=all_answers(measured, settings)
    )
