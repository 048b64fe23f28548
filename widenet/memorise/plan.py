"""What will be done: a draft with the network and its cost, then a plan with what the theorems ask for.

They are two because σ_min of many rows may take longer than all the rest, and the cost is to be told first.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from widenet.base.errors import InputError
from widenet.data.dataset import Dataset
from widenet.memorise.conditions import Conditions, conditions_of
from widenet.memorise.forecast import forecast_memorising
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.direct import Direct
from widenet.memorise.methods.method import Method
from widenet.memorise.methods.pgd import PerturbedDescent, TheoremDescent
from widenet.memorise.problem import Problem, problem_of
from widenet.memorise.result import Forecast
from widenet.runs.checkpoint import Checkpoint, Saved
from widenet.spectrum.cholesky import EigenvalueBracket

METHODS = ("pgd", "adam", "direct")
DEFAULT_METHOD = "direct"  # the only one that ends at the global minimum for certain
HOUR = 3600.0

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MemoriseSettings:
    """What memorising depends on, besides the data.

    Attributes:
        layers: 2 or 3; None for what suits the data.
        method: One of `METHODS`.
        width: Neurons of the trained layer; None for 2k + 2.
        noise: Standard deviation of the perturbation of each coordinate.
        theorem: Whether `pgd` uses exactly Theorem 4's numbers.
        seed: Seed of every random choice.
    """

    layers: int | None = None
    method: str = DEFAULT_METHOD
    width: int | None = None
    noise: float = 0.0
    theorem: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError(f"There is no method {self.method!r}: take {', '.join(METHODS)}.")
        if self.theorem and self.method != "pgd":
            raise InputError(
                "Theorem 4 is about perturbed gradient descent: use --theorem with --method pgd."
            )


@dataclass(frozen=True)
class Draft:
    """What is known before anything large is computed.

    Attributes:
        dataset: The data.
        settings: The settings.
        problem: What is to be memorised.
        forecast: What it will cost.
        saved: What an earlier run left; None where this one begins.
        seconds: Time that was spent so far, by earlier runs too.
    """

    dataset: Dataset
    settings: MemoriseSettings
    problem: Problem
    forecast: Forecast
    saved: Saved | None
    seconds: float


@dataclass(frozen=True)
class Plan:
    """What is known before the training.

    Attributes:
        draft: What was known before σ_min.
        conditions: What the theorems ask for.
        method: How it is trained.
        seconds: Time that was spent so far, by earlier runs too.
    """

    draft: Draft
    conditions: Conditions
    method: Method
    seconds: float

    def sentences(self) -> tuple[str, ...]:
        """What the theorems ask for on this data, and what will be done."""
        return (*self.conditions.sentences(), *self.method.notes(self.draft.problem))


def draft_memorising(
    dataset: Dataset,
    settings: MemoriseSettings | None = None,
    *,
    checkpoint: Checkpoint | None = None,
    restart: bool = False,
    allow_long: bool = False,
    progress: Progress = lambda stage: None,
) -> Draft:
    """Choose the network and forecast what memorising costs; refuse what takes too long.

    Args:
        dataset: Classes, or one target column.
        settings: The defaults of `MemoriseSettings` if left out.
        checkpoint: Where the state of an earlier run is looked for.
        restart: Whether the checkpoint of another run is passed over instead of refused.
        allow_long: Whether a run whose forecast is beyond an hour may start.
        progress: Called with what is being done.
    """
    start = time.perf_counter()
    settings = settings or MemoriseSettings()
    saved = None if checkpoint is None else checkpoint.load(restart=restart)
    progress("choosing the network")
    problem = problem_of(
        dataset, layers=settings.layers, r=settings.width, noise=settings.noise, seed=settings.seed
    )
    forecast = forecast_memorising(problem, "theorem" if settings.theorem else settings.method)
    if saved is None and forecast.seconds > HOUR and not allow_long:  # what was begun may end
        raise InputError(
            f"This would take about {forecast.seconds / HOUR:.1f} hours: take fewer rows or another "
            "--method, or add --yes to run it all the same."
        )
    before = 0.0 if saved is None else float(saved.notes["seconds"])
    return Draft(dataset, settings, problem, forecast, saved, before + time.perf_counter() - start)


def plan_memorising(
    draft: Draft, *, checkpoint: Checkpoint | None = None, progress: Progress = lambda stage: None
) -> Plan:
    """Measure what the theorems ask for, unless an earlier run did, and keep it for later ones."""
    start = time.perf_counter()
    if draft.saved is None:
        progress("computing σ_min")
        conditions = conditions_of(
            draft.dataset, draft.problem, progress=lambda share: progress(f"computing σ_min: {share:.0%}")
        )
    else:
        conditions = _noted(draft.saved)
    method = method_of(draft.settings, conditions)  # which may refuse, and then nothing should be left
    seconds = draft.seconds + time.perf_counter() - start
    if checkpoint is not None and draft.saved is None:
        # σ_min of many rows may take longer than the training.
        checkpoint.save_if_due({}, checkpoint_notes(conditions, seconds))
    return Plan(draft, conditions, method, seconds)


def method_of(settings: MemoriseSettings, conditions: Conditions) -> Method:
    """The method by its name; Theorem 4's numbers need a proved σ_min."""
    if settings.method == "adam":
        return AdamRecipe()
    if settings.method == "direct":
        return Direct()
    if not settings.theorem:
        return PerturbedDescent()
    if conditions.sigma_min.lower <= 0:
        raise InputError(f"Theorem 4 needs a σ_min above 0. {' '.join(conditions.sentences()[2:])}")
    return TheoremDescent(sigma=conditions.sigma_min.lower)


def checkpoint_notes(conditions: Conditions, seconds: float) -> dict[str, str]:
    """What a checkpoint keeps beside the state."""
    return {"conditions": json.dumps(asdict(conditions)), "seconds": repr(seconds)}


def _noted(saved: Saved) -> Conditions:
    """Conditions as `notes` wrote them."""
    record = json.loads(saved.notes["conditions"])
    record["sigma_min"] = EigenvalueBracket(**record["sigma_min"])
    return Conditions(**record)
