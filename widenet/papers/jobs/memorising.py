"""Nets of squares trained to memorise images or random rows [mild-memorisation, section 5, Appendix A]."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch

from widenet.base.progress import Progress
from widenet.data.principal import principal_components
from widenet.memorise.experiments import (
    InputWay,
    image_problem,
    squared_features,
    synthetic_problem,
    trailing_mean,
    unseen_fit,
)
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.method import RECORD_EVERY, State, last_loss
from widenet.memorise.methods.plain import PlainDescent
from widenet.memorise.train import train_method
from widenet.papers.jobs.images import TRAIN_LABELS, image_rows
from widenet.papers.jobs.job import Desk, Job
from widenet.runs.trial import Record, TrialResult
from widenet.study.speed import Speed

WINDOW = 20  # records in a mean, as the paper draws losses
NUM_SHOWN = 200  # of these means that are kept
STEP_SECONDS = 3e-4  # of a step of descent, whatever its size
SLOW = 1.7  # times the time of large matrix products
UPDATE_BYTES = 4 * 8  # that Adam reads and writes for each weight in a step
PIXELS = 784


class Watched(Progress):
    """Looks up from the work whenever it is told of progress."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def __call__(
        self, stage: str, done: int | None = None, total: int | None = None, detail: str = ""
    ) -> None:
        self.desk.look_up()


@dataclass(frozen=True)
class ImageTask:
    """What is memorised of MNIST, and by which network.

    Attributes:
        n: Training rows, the first ones.
        num_test: Test rows, the first ones.
        portion: Of the training labels that is drawn anew.
        components: Principal components that rows are projected to; 0 to leave them as they are.
        noise: Standard deviation of what is then added to each coordinate.
        k: Squared random features; 0 for two layers.
        std: Standard deviation of their weights.
        r: Neurons of the trained layer.
        seed: Of labels, noise, features and weights.
    """

    n: int
    num_test: int
    portion: float
    components: int
    noise: float
    k: int
    std: float
    r: int
    seed: int


def synthetic_trial(n: int, d: int, r: int, eta: float, num_steps: int, seed: int) -> dict[str, Any]:
    """The settings of plain descent on n random rows of d numbers, with r neurons [figure 2]."""
    sizes = {"n": n, "d": d, "r": r}
    return {"job": f"{__name__}:SYNTHETIC", **sizes, "eta": eta, "num_steps": num_steps, "seed": seed}


def image_trial(task: ImageTask, recipe: AdamRecipe) -> dict[str, Any]:
    """The settings of the Adam recipe on MNIST."""
    return {"job": f"{__name__}:IMAGES", **asdict(task), **asdict(recipe)}


def memorise_synthetic(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Plain descent to the end of its steps; losses are f = Σ δ²/(4n)."""
    for trial in trials:
        problem = synthetic_problem(trial["n"], trial["d"], trial["r"], trial["seed"])
        method = PlainDescent(eta=trial["eta"], max_steps=trial["num_steps"], target=0.0)
        with desk.kept(trial) as kept:
            state = train_method(problem, method, kept, progress=Watched(desk))
        yield TrialResult({**_shown(state), "last": last_loss(state)})


def memorise_images(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """The recipe to the end of its epochs; losses are f = Σ δ²/(4b), test errors mean squared errors."""
    for trial in trials:
        seed, way = trial["seed"], _way(trial)
        train, test = image_rows("mnist", trial["n"], trial["num_test"])
        y = train.redrawn(trial["portion"], seed, TRAIN_LABELS).to(torch.float64)
        problem = image_problem(train.X, y, trial["r"], way, seed)
        method = AdamRecipe(**{each.name: trial[each.name] for each in fields(AdamRecipe)})
        with desk.kept(trial) as kept:
            state = train_method(problem, method, kept, progress=Watched(desk))
        unseen = unseen_fit(test.X, test.labels.to(torch.float64), method.weights(problem, state), way, seed)
        errors = {"test_clean": unseen.clean, "test_perturbed": unseen.perturbed}
        yield TrialResult({**_shown(state), "last": last_loss(state), **errors})


def _way(trial: Record) -> InputWay:
    """The way of all rows, fitted to the training rows."""
    num, k, noise = trial["components"], trial["k"], trial["noise"]
    components = None
    if num:
        train, _ = image_rows("mnist", trial["n"], 1)
        components = principal_components(train.X, num)
    layer = squared_features(k, num or PIXELS, trial["std"], trial["seed"]) if k else None
    return InputWay(components, noise, layer)


def _shown(state: State) -> dict[str, list[float]]:
    """Means over the last WINDOW records, at NUM_SHOWN steps or fewer, the last among them."""
    means = trailing_mean(state["recorded"], WINDOW)
    stride = max(1, -(-len(means) // NUM_SHOWN))
    places = torch.arange(len(means) - 1, -1, -stride).flip(0)
    return {"steps": (RECORD_EVERY * (places + 1)).tolist(), "loss": means[places].tolist()}


def synthetic_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """Two products with all weights for each row and step."""
    first = trials[0]
    step = SLOW * 6 * first["n"] * first["d"] * first["r"] / speed.double + STEP_SECONDS
    return len(trials) * first["num_steps"] * step


def image_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """Two products with all weights for each row and epoch, and an update for each batch."""
    first = trials[0]
    n, k = first["n"], num_inputs(first)
    weights = k * first["r"]
    epoch = 4 * SLOW * n * weights / speed.single + SLOW * n * k * k / speed.double
    updates = -(-n // first["batch"]) * UPDATE_BYTES * weights / speed.bytes
    return len(trials) * first["epochs"] * (epoch + updates)


def image_bytes(trials: Sequence[Record]) -> int:
    """The images as they are, and what the recipe holds."""
    first = trials[0]
    return 8 * first["n"] * PIXELS + AdamRecipe.num_bytes(first["n"], num_inputs(first), first["r"])


def num_inputs(trial: Record) -> int:
    """Inputs of the trained layer."""
    inputs: int = trial["k"] or trial["components"] or PIXELS
    return inputs


SYNTHETIC = Job(memorise_synthetic, synthetic_seconds)
IMAGES = Job(memorise_images, image_seconds, image_bytes)
