"""A study as a command: settings as options, then forecast, run, report and exit code, the same for all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from widenet.cli.common import (
    DATA_KINDS,
    EXIT_CODES,
    Command,
    data_argument,
    debug_option,
    force_option,
    json_option,
    out_option,
    quiet_option,
    short_name,
    store_option,
    tell_result,
    yes_option,
)
from widenet.cli.options import in_flags, options_of
from widenet.study.reading import Reading
from widenet.study.study import Study

if TYPE_CHECKING:  # these import torch, which takes longer than --help may
    from widenet.base.progress import Progress
    from widenet.data.dataset import Dataset
    from widenet.runs.store import Store


def study_command(study: Study) -> click.Command:
    """The command of a study."""
    parameters: list[click.Parameter] = []
    if study.reads_data:
        parameters += [data_argument(), *options_of(Reading)]
    parameters += options_of(study.settings)
    parameters += [store_option()] if study.resumes else []
    parameters += [yes_option()]
    parameters += [out_option(study), force_option()] if study.writes else []
    parameters += [json_option(), quiet_option(), debug_option()]
    details = [study.details] if study.details else []
    return Command(
        study.name,
        params=parameters,
        callback=lambda **given: run_study(study, given),
        help="\n\n".join([study.summary, *([DATA_KINDS] if study.reads_data else []), *details]),
        short_help=study.summary,
    )


def run_study(study: Study, given: dict[str, Any]) -> int:
    """Settings, forecast, run, result: to stdout and to a folder; returns the exit code."""
    settings = study.settings(**_of(study.settings, given))
    out = _checked_folder(study, given) if study.writes else None
    from widenet.study.progress import told_progress

    room = study.room
    with told_progress(quiet=given["quiet"], words=partial(_on_the_way, room)) as progress:
        dataset = _read(study, given, progress)
        arguments = (settings,) if dataset is None else (dataset, settings)
        with _store(study, given, out) as kept:
            result = study.run(*arguments, **kept, allow_long=given["yes"], progress=progress)
            if out is not None:
                result = _written(study, result, out, given, settings, dataset, progress)
    tell_result(result, room, as_json=given["as_json"], out=out)
    if result.outcome.value == "failed":
        click.echo(_flagged(f"widenet: {' '.join(room.sentences(result)[:2])}"), err=True)
    return EXIT_CODES[result.outcome.value]


def _on_the_way(room: Any, fact: object) -> tuple[str, ...]:
    """What is noted before the result, in sentences: the forecast, and what the room has words for."""
    from widenet.study.forecast import Forecast

    if isinstance(fact, Forecast):
        return (fact.told(),)
    return tuple(map(_flagged, room.on_the_way(fact)))


def _flagged(message: str) -> str:
    """A message with the flags of this command in place of the names of settings."""
    return in_flags(message, click.get_current_context().command.params)


def _of(settings: type, given: dict[str, Any]) -> dict[str, Any]:
    """Those of the given values that are fields of these settings."""
    return {field.name: given[field.name] for field in fields(settings)}


def _checked_folder(study: Study, given: dict[str, Any]) -> Path:
    """The folder to write, refused before anything is computed where it must not be written."""
    from widenet.report.parts.files import check_folder
    from widenet.report.parts.publish import all_files

    name = f"widenet-{study.name}" + (f"-{short_name(given['data'])}" if study.reads_data else "")
    out: Path = given["out"] or Path(name)
    check_folder(out, all_files(study.room), force=given["force"])
    return out


def _read(study: Study, given: dict[str, Any], progress: "Progress") -> "Dataset | None":
    if not study.reads_data:
        return None
    from widenet.data import is_concept, load

    progress(f"reading {given['data']}")
    reading = Reading(**_of(Reading, given))
    prepare: Any = reading.prepare or ("unit" if study.unit_rows and is_concept(given["data"]) else None)
    return load(given["data"], target=reading.target, prepare=prepare, impute=reading.impute)


@contextmanager
def _store(study: Study, given: dict[str, Any], out: Path | None) -> "Iterator[dict[str, Store]]":
    """The store as an argument of the run: the one that was named, or one beside the folder until done."""
    if not study.resumes:
        yield {}
        return
    from widenet.runs.store import Store, beside

    path = given["store"] or beside(out or Path(study.name))
    done = False
    with Store(path) as store:
        try:
            yield {"store": store}
            done = True
        except KeyboardInterrupt:
            if not store.is_empty() and not given["quiet"]:
                click.echo(f"What is done is kept in {path}: the same command goes on from there.", err=True)
            raise
        finally:
            unneeded = store.is_empty() or (done and not store.num_unfinished())
            if unneeded and given["store"] is None:
                path.unlink(missing_ok=True)


def _written(
    study: Study,
    result: Any,
    out: Path,
    given: dict[str, Any],
    settings: Any,
    dataset: "Dataset | None",
    progress: "Progress",
) -> Any:
    from widenet.report.parts.publish import publish

    progress("writing the report")
    read = {} if dataset is None else {"data": given["data"], **_of(Reading, given)}
    read |= {} if dataset is None else {"prepare": dataset.preparation.kind}
    config = read | asdict(settings) | result.resolved()
    return publish(study.room, result, out, config, force=given["force"])
