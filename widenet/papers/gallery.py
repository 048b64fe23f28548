"""Several figures, one after the other, over one store."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from widenet.base.errors import ClusterLostError, WidenetError
from widenet.base.progress import SILENT, Progress
from widenet.data.loading import load
from widenet.papers.figure import Figure, FigureSettings, Scale
from widenet.papers.result import FigureResult, GalleryResult, MissingFigure
from widenet.papers.run import figure_forecast, run_figure
from widenet.runs.cluster import Cluster, joined
from widenet.runs.store import Store
from widenet.study.forecast import Forecast
from widenet.study.speed import measure_thread_speed


def run_figures(
    figures: Sequence[Figure],
    scale: Scale = "quick",
    *,
    change: Callable[[FigureSettings], FigureSettings] = lambda settings: settings,
    cluster: Any = None,
    store: Store | None = None,
    allow_long: bool = False,
    finished: Callable[[FigureResult], None] = lambda result: None,
    progress: Progress = SILENT,
    **options: Any,
) -> GalleryResult:
    """Run figures; one that cannot be run, as where its data are missing, is told, and the others still run.

    Args:
        figures: From `figures_by_name`.
        scale: Of all of them.
        change: From the settings of the scale to those that are used.
        cluster: Where trials run instead: the address of a Dask scheduler, a `ClusterAddress`, or a client or
            cluster of Dask.
        store: Where finished trials are kept.
        allow_long: Whether figures whose forecast exceeds an hour may be run.
        finished: Told of each result as soon as it is there.
        progress: Told of the trials that are done.
        options: Further arguments of `run_figure`.
    """
    begin = time.perf_counter()
    chosen = [(figure, change(figure.scales[scale])) for figure in figures]
    results: list[FigureResult] = []
    missing: list[MissingFigure] = []
    with joined(cluster) as place:
        _refuse_long(chosen, store, place, allow_long, progress)
        shared = {"cluster": place, "store": store, "allow_long": True, "progress": progress, **options}
        for figure, settings in chosen:
            try:
                _require_data(figure)
                results.append(run_figure(figure, scale, settings, **shared))
            except ClusterLostError:  # the others cannot be run either
                raise
            except WidenetError as error:
                missing.append(MissingFigure(figure.paper, figure.name, figure.title, str(error)))
                progress.note(missing[-1])
            else:
                finished(results[-1])
    return GalleryResult(
        scale=scale, figures=tuple(results), missing=tuple(missing), seconds=time.perf_counter() - begin
    )


def _refuse_long(
    chosen: Sequence[tuple[Figure, FigureSettings]],
    store: Store | None,
    place: Cluster | None,
    allow_long: bool,
    progress: Progress,
) -> None:
    """Refuse figures that together take more than an hour, unless that is allowed."""
    speed = measure_thread_speed()
    each = [figure_forecast(figure, settings, speed, store, place) for figure, settings in chosen]
    most = max(forecast.memory_bytes or 0 for forecast in each)
    forecast = Forecast(sum(forecast.seconds for forecast in each), most)
    if len(chosen) > 1:
        progress.note(forecast)
    forecast.refuse_long("choose fewer figures, or the scale quick", allow_long=allow_long)


def _require_data(figure: Figure) -> None:
    """Load what the figure needs; where something is not there, the error says where it was looked for."""
    for name in figure.needs:
        load(name)
