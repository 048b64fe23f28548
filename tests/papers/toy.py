"""A figure whose work is nothing but a line in a log, for tests that count, kill and spread trials."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from widenet.base.errors import WidenetError
from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, check_below, series
from widenet.papers.figure import Axes, Done, Figure, FigureSettings
from widenet.papers.jobs.job import Desk, Job
from widenet.papers.run import run_figure
from widenet.runs.store import Store
from widenet.runs.trial import Record, TrialResult
from widenet.study.settings import setting
from widenet.study.speed import Speed


@dataclass(frozen=True)
class ToySettings(FigureSettings):
    n: tuple[int, ...] = setting((1, 2, 3, 4), "Numbers.", low=0)
    log: str = setting("", "File that names every trial that is run.")
    wait: float = setting(0.0, "Seconds of a trial.", low=0)
    bad: int = setting(-1, "Number that fails.")


def add(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    for trial in trials:
        desk.look_up()
        time.sleep(trial["wait"])
        if trial["n"] == trial["bad"]:
            raise WidenetError("This number is bad.")
        if trial["log"]:
            with Path(trial["log"]).open("a") as file:
                file.write(f"{trial['n']},{trial['seed']}\n")
        yield TrialResult({"value": trial["n"] + 0.1 * trial["seed"]})


def add_seconds(trials: Sequence[Record], speed: Speed) -> float:
    return 10.0 * len(trials)


ADD = Job(add, add_seconds)


def plan(settings: ToySettings) -> list[list[Record]]:
    common = {"job": f"{__name__}:ADD", "log": settings.log, "wait": settings.wait, "bad": settings.bad}
    return [[{**common, "n": n, "seed": seed} for n in settings.n] for seed in settings.all_seeds]


def curves(settings: ToySettings, done: Sequence[Done]) -> list[Curve]:
    found = [float("nan") if each.result is None else each.result.record["value"] for each in done]
    num = len(settings.n)
    return [series("value", settings.n, [found[start : start + num] for start in range(0, len(found), num)])]


TOY = Figure(
    paper="resnet-beyond-kernels",
    name="toy",
    title="Numbers",
    place="nowhere",
    scales={"quick": ToySettings(n=(1, 2), seeds=2), "paper": ToySettings()},
    axes=Axes("n", "value"),
    plan=plan,
    curves=curves,
    claims=(
        Claim(
            "The value at 1 is below 2.",
            "nowhere",
            lambda settings, found: [check_below("value", found["value"].at(1), "", 2.0)],
        ),
    ),
)


def main(path: str, log: str) -> None:
    """Run the figure slowly, and print its curve."""
    with Store(path) as kept:
        made = run_figure(TOY, "paper", slow(log), store=kept)
    print([point.best for point in made.curves[0].points])


def slow(log: str) -> ToySettings:
    return ToySettings(log=log, wait=0.03, seeds=5)
