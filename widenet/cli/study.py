"""A study as a command: settings as options, then forecast, run, report and exit code, the same for all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from widenet.base.streams import warn
from widenet.cli import common
from widenet.cli.options import in_flags, options_of
from widenet.study.reading import Reading
from widenet.study.settings import Settings
from widenet.study.study import Study

if TYPE_CHECKING:  # these import torch, which takes longer than --help may
    from widenet.base.progress import Progress
    from widenet.data.dataset import Dataset
    from widenet.runs.store import Store


def study_command(study: Study) -> click.Command:
    """The command of a study."""
    parameters: list[click.Parameter] = []
    if study.reads_data:
        parameters += [common.DATA, *([common.DATA_OPTION] if study.data_option else [])]
        parameters += options_of(Reading)
    parameters += options_of(study.settings)
    parameters += [common.STORE] if study.resumes else []
    parameters += common.CLUSTER if study.distributes else []
    parameters += [common.YES]
    parameters += [common.out_option(study), common.FORCE] if study.writes else []
    parameters += [common.SIGN] if study.signs else []
    parameters += [common.JSON, common.QUIET, common.DEBUG]
    details = [study.details] if study.details else []
    return common.Command(
        study.name,
        params=parameters,
        callback=lambda **given: run_study(study, common.one_data(given)),
        help="\n\n".join([study.summary, *([common.DATA_KINDS] if study.reads_data else []), *details]),
        short_help=study.summary,
    )


def run_study(study: Study, given: dict[str, Any]) -> int:
    """Settings, forecast, run, result: to stdout and to a folder; returns the exit code."""
    cluster = {"cluster": common.cluster_of(given)} if study.distributes else {}
    settings = study.settings(**_of(study.settings, given))
    call = _Call(study, given, settings, _key(given.get("sign")), cluster)
    call.check_source()
    call.check_folder()
    from widenet.study.progress import told_progress

    room = study.room
    words = common.with_differences(partial(_on_the_way, room))
    with (
        call.sole_folder(),
        told_progress(quiet=given["quiet"], words=words) as progress,
    ):
        result = call.run(progress)
    common.tell_result(result, room, as_json=given["as_json"], out=call.out)
    if result.outcome.value == "failed":
        warn(_flagged(f"widenet: {' '.join(room.sentences(result)[:2])}"))
    return common.EXIT_CODES[result.outcome.value]


@dataclass(frozen=True)
class _Call:
    """One call of a study's command."""

    study: Study
    given: dict[str, Any]
    settings: Settings
    key: Any  # what to sign the folder with, read before anything is computed; or None
    cluster: dict[str, Any]  # as an argument of the run, where the study has one

    @property
    def out(self) -> Path | None:
        """The folder to write; None where the study leaves none behind."""
        if not self.study.writes:
            return None
        name = f"widenet-{self.study.name}"
        return self.given["out"] or Path(
            f"{name}-{common.short_name(self.given['data'])}" if self.study.reads_data else name
        )

    def may_replace(self) -> bool:
        """Whether an earlier result may go: where that is asked for, and ours in the usual folder."""
        from widenet.report.parts.files import holds_result

        is_usual = self.out is not None and self.given["out"] is None
        return bool(self.given["force"]) or (is_usual and holds_result(self.out or Path()))

    def check_source(self) -> None:
        """Refuse a file that is not there, or columns that it does not have, before torch is imported."""
        from widenet.files.opening import check_file, looks_like_path

        if self.study.reads_data and looks_like_path(self.given["data"]):
            reading = Reading(**_of(Reading, self.given))
            check_file(self.given["data"], reading.target, reading.drop, reading.keep, reading.categorical)

    def check_folder(self) -> None:
        """Refuse a folder that must not be written, before anything is computed."""
        from widenet.report.parts.files import check_folder
        from widenet.report.parts.publish import all_files

        if self.out is not None:
            check_folder(self.out, all_files(self.study.room), force=self.may_replace())

    def check_device(self) -> None:
        """Refuse a device that is not there, before anything is read; this imports torch."""
        from widenet.runs.device import device_named

        if "device" in self.given:
            device_named(self.given["device"], self.cluster.get("cluster"))

    @contextmanager
    def sole_folder(self) -> Iterator[None]:
        """The folder for this run alone; what a kill left aside is restored, which may be in the way."""
        with common.sole(*filter(None, [self.out])):
            if self.out is not None:
                common.restore(self.out)
                self.check_folder()
            yield

    def run(self, progress: "Progress") -> Any:
        """Read, run and write."""
        shared = {"allow_long": self.given["yes"], "progress": progress, **self.cluster}
        if not self.study.reads_data:
            with self.store() as kept:
                result = self.study.run(self.settings, **kept, **shared)
                return self.written(result, {}, progress)
        self.check_device()
        dataset = self.read(progress)
        with self.store() as kept:
            result = self.study.run(dataset, self.settings, **kept, **shared)
            reading = {"data": self.given["data"], **_of(Reading, self.given)}
            return self.written(result, reading | {"prepare": dataset.preparation.kind}, progress)

    def read(self, progress: "Progress") -> "Dataset":
        """The data, as the options of reading have it."""
        from widenet.data import is_concept, load

        data, reading = self.given["data"], Reading(**_of(Reading, self.given))
        progress(f"reading {data}")
        prepare: Any = reading.prepare or ("unit" if self.study.unit_rows and is_concept(data) else None)
        return load(data, **asdict(reading) | {"prepare": prepare})

    def written(self, result: Any, reading: dict[str, Any], progress: "Progress") -> Any:
        """The result as it was written, where the study leaves a folder behind."""
        from widenet.report.parts.publish import publish

        if self.out is None:
            return result
        progress("writing the report")
        config = reading | asdict(self.settings) | result.resolved()
        force = self.may_replace()
        return publish(self.study.room, result, self.out, config, force=force, key=self.key)

    @contextmanager
    def store(self) -> "Iterator[dict[str, Store]]":
        """The store as an argument of the run: the one named, or one beside the folder until that is done."""
        if not self.study.resumes:
            yield {}
            return
        out = self.out or Path(self.study.name)
        with common.resumable(self.given["store"], out, quiet=self.given["quiet"]) as (store, _):
            yield {"store": store}


def _key(path: Path | None) -> Any:
    from widenet.base.keys import private_key

    return None if path is None else private_key(path)


def _on_the_way(room: Any, fact: object) -> tuple[str, ...]:
    """What is noted before the result, in sentences: the forecast, and what the room has words for."""
    from widenet.study.forecast import Forecast

    if isinstance(fact, Forecast):
        return (fact.told(),)
    return tuple(map(_flagged, room.on_the_way(fact))) if hasattr(room, "on_the_way") else ()


def _flagged(message: str) -> str:
    """A message with the flags of this command in place of the names of settings."""
    return in_flags(message, click.get_current_context().command.params)


def _of(settings: type[Settings], given: dict[str, Any]) -> dict[str, Any]:
    """Those of the given values that are fields of these settings."""
    return {field.name: given[field.name] for field in fields(settings)}
