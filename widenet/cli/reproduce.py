"""`widenet reproduce`: figures of the papers run again, with a computed verdict on each claim."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from widenet.cli.common import (
    CLUSTER,
    DEBUG,
    EXIT_CODES,
    JSON,
    QUIET,
    YES,
    Command,
    cluster_of,
    restore,
    resumable,
    sole,
    with_differences,
)
from widenet.cli.options import parsed_settings, split_pairs
from widenet.cli.printing import say, screenful

if TYPE_CHECKING:  # these import torch, which takes longer than --help may
    from widenet.papers.figure import Figure, FigureSettings
    from widenet.papers.result import FigureResult, GalleryResult

FOLDER = "widenet-reproduce"
GALLERY_FILE = "index.html"


def _reproduce(names: tuple[str, ...], show_list: bool, as_json: bool, **given: Any) -> int:
    from widenet.papers.figures import figures_by_name

    figures = figures_by_name(*names)
    if show_list:
        _list(figures, as_json=as_json)
        return 0
    is_one = len(figures) == 1
    folder = Path(f"{FOLDER}-{given['scale']}")
    out = given.pop("out") or (folder / figures[0].full_name if is_one else folder)
    beside = out if is_one else _named(out, names)
    result = _run(figures, out, beside, is_one=is_one, **given)
    _tell(result, out, as_json=as_json, is_one=is_one and bool(result.figures))
    return EXIT_CODES[result.outcome.value]


def _run(
    figures: "Sequence[Figure]",
    out: Path,
    beside: Path,
    *,
    is_one: bool,
    quiet: bool,
    yes: bool,
    **given: Any,
) -> "GalleryResult":
    """Run the figures; each is written to `out` as soon as it is done, and the gallery when all are."""
    from widenet.papers.gallery import run_figures
    from widenet.report import reproduce as room
    from widenet.report.parts.files import write_file, write_folder
    from widenet.study.progress import told_progress

    def folder(figure: "Figure | FigureResult") -> Path:
        return out if is_one else out / figure.full_name

    def write(result: "FigureResult") -> None:
        write_folder(folder(result), room.files(result), force=True)

    cluster = cluster_of(given)
    change = partial(_changed, given["changes"], given["seeds"])
    for figure in figures:
        change(figure.scales[given["scale"]])  # a setting that is out of range is told before anything is run
    with (
        _sole_folders([folder(figure) for figure in figures], room.FILES),
        told_progress(quiet=quiet, words=with_differences(room.on_the_way)) as progress,
        resumable(given["store"], beside, quiet=quiet) as (store, left),
    ):
        result = run_figures(
            figures,
            given["scale"],
            change=change,
            finished=write,
            store=store,
            cluster=cluster,
            allow_long=yes,
            progress=progress,
        )
        left += [each.full_name for each in result.figures if each.failures]
        left += [each.figure for each in result.missing]
        if not is_one:
            write_file(out / GALLERY_FILE, room.gallery_page(result))
    return result


@contextmanager
def _sole_folders(folders: list[Path], names: Sequence[str]) -> Iterator[None]:
    """The folders for this run alone; one that must not be written is refused before anything is computed."""
    from widenet.report.parts.files import check_folder

    for folder in folders:
        check_folder(folder, names, force=True)
    with sole(*folders):
        for folder in folders:
            restore(folder)
            check_folder(folder, names, force=True)
        yield


def _named(out: Path, names: Sequence[str]) -> Path:
    """The folder with the names that were asked for, so that runs of other figures have other stores."""
    told = "-".join(name.replace("/", "-") for name in names)
    return out.with_name(f"{out.name}-{told[:100]}") if told else out


def _changed(changes: tuple[str, ...], seeds: int | None, settings: "FigureSettings") -> "FigureSettings":
    """The settings with what the caller changes; a name that a figure does not have is told."""
    given = parsed_settings(type(settings), split_pairs("--set", changes))
    return replace(settings, **({} if seeds is None else {"seeds": seeds}) | given)


def _tell(result: "GalleryResult", out: Path, *, as_json: bool, is_one: bool) -> None:
    from widenet.report import reproduce as room
    from widenet.report.parts.files import to_json

    if as_json:
        record = room.record(result.figures[0]) if is_one else room.gallery_record(result)
        say(to_json(record))
    elif is_one:
        say(screenful(lambda console: room.screen(result.figures[0], console)), nl=False)
        say(f"\nFigure: {out / 'figure.html'}")
    else:
        say(screenful(lambda console: room.gallery_screen(result, console)), nl=False)
        if (out / GALLERY_FILE).exists():
            say(f"\nGallery: {out / GALLERY_FILE}")


def _list(figures: "Sequence[Figure]", *, as_json: bool) -> None:
    from widenet.papers.figure import SCALES
    from widenet.papers.run import figure_forecast
    from widenet.report import reproduce as room
    from widenet.report.parts.files import to_json
    from widenet.study.speed import measure_thread_speed

    speed = measure_thread_speed()
    costs = {
        figure.full_name: {
            scale: figure_forecast(figure, figure.scales[scale], speed).seconds for scale in SCALES
        }
        for figure in figures
    }
    if as_json:
        say(to_json(room.figures_record(figures, costs)))
    else:
        say(screenful(lambda console: room.figures_screen(figures, costs, console)), nl=False)


reproduce = Command(
    "reproduce",
    params=[
        click.Argument(["names"], nargs=-1, metavar="[PAPER[/FIGURE]]..."),
        click.Option(["--list", "show_list"], is_flag=True, help="List the figures, with claims and costs."),
        click.Option(
            ["--scale"],
            type=click.Choice(("quick", "paper")),
            default="quick",
            show_default=True,
            help="Settings to start from: a small version of minutes, or the paper's own.",
        ),
        click.Option(
            ["--set", "changes"],
            multiple=True,
            metavar="NAME=VALUE",
            help="Change a setting; the result is marked as not the paper's. May be given several times.",
        ),
        click.Option(["--seeds"], type=click.IntRange(1), metavar="N", help="Number of seeds."),
        click.Option(
            ["--store"],
            type=click.Path(path_type=Path),
            help="File that keeps finished trials.  [default: beside the folder, until done]",
        ),
        click.Option(
            ["--out"],
            type=click.Path(path_type=Path),
            help=f"Folder to write; an earlier result in it is replaced.  [default: {FOLDER}-SCALE]",
        ),
        *CLUSTER,
        YES,
        JSON,
        QUIET,
        DEBUG,
    ],
    callback=_reproduce,
    short_help="Run figures of the papers again, with a verdict on each claim.",
    help="Run figures of the papers again, with a computed verdict on each claim.\n\nWithout a name all "
    "figures are run, and a gallery is written; the name of a paper stands for all of its figures. An "
    "interrupted run resumes with the same command. Exit code 3: some figure or trial could not be run.",
)
