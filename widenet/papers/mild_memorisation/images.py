"""What figures 3, 4 and 6 share: MNIST memorised by a net of squares with Adam [section 5, Appendix A]."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from widenet.memorise.methods.adam import AdamRecipe
from widenet.papers.curve import Curve, Style, series
from widenet.papers.figure import Axes, Done, FigureSettings
from widenet.papers.jobs.memorising import ImageTask, image_trial
from widenet.runs.trial import Record, TrialResult
from widenet.study.settings import setting

LOSS, BARE, TEST = "training loss", "training loss without noise", "test error"
AXES = Axes("Iteration", "Mean squared error, mean of 20 records", log_y=True)
SQUARED = 4.0  # times f = Σ δ²/(4b) is the mean squared error
DEPARTURES = (
    "The paper does not say whether its loss has the factor 1/4 of f; the mean squared error is shown.",
    "Weights start at N(0, 1/(3k)) for k inputs; the paper does not say where they start.",
    "The paper does not say for how many epochs it trains; with 75 the rate falls four times.",
)
THREE_LAYERS = ("Principal components are of centred images; the paper only says that images are projected.",)


@dataclass(frozen=True)
class MemorisingSettings(FigureSettings):
    """The images, the net and the recipe."""

    n: int = setting(60_000, "Training rows.", low=1, high=60_000)
    num_test: int = setting(10_000, "Test rows.", low=1, high=10_000)
    r: int = setting(3000, "Neurons of the trained layer, half of either sign.", low=2, high=2**16)
    noise: float = setting(0.01, "Standard deviation of the noise on each coordinate.", low=0)
    epochs: int = setting(75, "Epochs.", low=1, high=10**5)
    batch: int = setting(128, "Rows in each step.", low=1, high=60_000)
    rate: float = setting(0.003, "Initial rate.", low=0, strict=True)
    decay: float = setting(0.3, "What the rate is multiplied by.", low=0, strict=True)
    decay_every: int = setting(15, "Epochs after which it is.", low=1)

    @property
    def recipe(self) -> AdamRecipe:
        """How it is trained."""
        return AdamRecipe(self.epochs, self.batch, self.rate, self.decay, self.decay_every)

    def task(self, noise: float, portion: float, seed: int) -> ImageTask:
        """Two layers on the images themselves."""
        return ImageTask(self.n, self.num_test, portion, 0, noise, 0, 0.0, self.r, seed)


@dataclass(frozen=True)
class ThreeLayerSettings(MemorisingSettings):
    """The random layer, and what it stands on."""

    noise: float = setting(0.05, "Standard deviation σ₁ of the noise on each coordinate.", low=0)
    components: int = setting(100, "Principal components.", low=1, high=784)
    k: int = setting(750, "Squared random features.", low=1, high=2**14)
    std: float = setting(0.15, "Standard deviation σ₂ of their weights.", low=0, strict=True)

    def task(self, noise: float, portion: float, seed: int) -> ImageTask:
        """Three layers on principal components."""
        return ImageTask(
            self.n, self.num_test, portion, self.components, noise, self.k, self.std, self.r, seed
        )


def plan(portion: float, *, bare: bool = False) -> Callable[[MemorisingSettings], list[list[Record]]]:
    """A net for each seed, and where `bare` is set one without noise; a portion of labels is random."""

    def planned(settings: MemorisingSettings) -> list[list[Record]]:
        noises = (settings.noise, 0.0) if bare else (settings.noise,)
        return [
            [image_trial(settings.task(noise, portion, seed), settings.recipe)]
            for noise in noises
            for seed in settings.all_seeds
        ]

    return planned


def curves(settings: MemorisingSettings, done: Sequence[Done]) -> list[Curve]:
    """Losses on the way and test errors at the end, with noise and, where there are any, without it."""
    return list(_curves(settings, [each.result for each in done]))


def _curves(settings: MemorisingSettings, results: Sequence[TrialResult | None]) -> Iterator[Curve]:
    noisy, bare = results[: settings.seeds], results[settings.seeds :]
    steps = next((result.record["steps"] for result in results if result is not None), [1])
    yield _losses(LOSS, steps, noisy)
    if bare:
        yield _losses(BARE, steps, bare, "dashed")
    errors = [[math.nan] if result is None else [result.record["test_clean"]] for result in noisy]
    yield series(TEST, steps[-1:], errors, "marks")


def _losses(
    name: str, steps: Sequence[int], results: Sequence[TrialResult | None], style: Style = "line"
) -> Curve:
    missing = [math.nan] * len(steps)
    losses = [
        missing if result is None else [SQUARED * value for value in result.record["loss"]]
        for result in results
    ]
    return series(name, steps, losses, style)
