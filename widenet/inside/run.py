"""Is my network inside the theorem? What each one asks for, measured on data, beside what there is."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import torch

from widenet.base.errors import InputError
from widenet.data.dataset import Dataset
from widenet.inside.answer import Answer, Setting
from widenet.inside.answers import all_answers
from widenet.inside.measured import Measured, measure
from widenet.theory.demand import Demand
from widenet.theory.mild_memorisation.descent import C_PGD

SCHEMA = "widenet/inside/1"
EPSILON = 0.1  # accuracy, loss or risk that the theorems are asked for, unless told
DELTA = 0.05  # failure probability that they are asked for, unless told
ASTRONOMICAL = 15.0  # orders of magnitude from which no machine will make up a factor


@dataclass(frozen=True)
class InsideResult:
    """Which theorems speak of a network on a data set.

    Attributes:
        schema: Name and version of this record.
        version: Version of widenet.
        data: Name of the data set.
        setting: The network and its training, as given.
        measured: What was measured on the data.
        answers: One for each theorem.
        summary: The gist in sentences.
    """

    schema: str
    version: str
    data: str
    setting: Setting
    measured: Measured
    answers: tuple[Answer, ...]
    summary: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as `--json` prints them; numbers beyond a float go by their logarithms."""
        return {
            "schema": self.schema,
            "version": self.version,
            "data": self.data,
            "setting": asdict(self.setting),
            "measured": asdict(self.measured),
            "answers": [answer.to_dict() for answer in self.answers],
            "summary": list(self.summary),
        }


def inside(
    dataset: Dataset,
    *,
    width: int,
    eta: float | None = None,
    kappa: float | None = None,
    steps: int | None = None,
    epsilon: float = EPSILON,
    delta: float = DELTA,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> InsideResult:
    """Hold a network and its training against every theorem of three papers.

    Args:
        dataset: The data.
        width: Neurons of the hidden layer.
        eta: Step size η of gradient descent; None leaves the step open.
        kappa: Standard deviation κ of the initial weights; None takes the one for which least is asked.
        steps: Steps of training; None leaves their number open.
        epsilon: Accuracy, loss or risk to reach.
        delta: Failure probability.
        seed: Chooses rows where there are too many to measure on all.
        progress: Called with a few words as each stage begins.
    """
    setting = Setting(width, eta, kappa, steps, epsilon, delta)
    _refuse_impossible(setting)
    measured = measure(dataset, generator=torch.Generator().manual_seed(seed), progress=progress)
    answers = all_answers(measured, setting)
    return InsideResult(
        SCHEMA, version("widenet"), dataset.name, setting, measured, answers, summarise(measured, answers)
    )


def _refuse_impossible(setting: Setting) -> None:
    for name, value in (("width", setting.width), ("eta", setting.eta), ("kappa", setting.kappa)):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{name}={value} is impossible: it must be a positive number.")
    if not 0 < setting.epsilon < float("inf") or not 0 < setting.delta < 1:
        raise InputError(
            f"epsilon={setting.epsilon:g} and delta={setting.delta:g} do not fit: an accuracy is above 0, "
            "and a failure probability is between 0 and 1."
        )


def summarise(measured: Measured, answers: tuple[Answer, ...]) -> tuple[str, ...]:
    """How many theorems hold, what is furthest away, and what that means."""
    met = sum(answer.inside is True for answer in answers)
    open_ones = sum(answer.inside is None for answer in answers)
    sentences = [f"This network is inside {met} of {len(answers)} theorems{_open_words(open_ones)}."]
    if measured.num_repeated:
        sentences.append(
            f"{measured.num_repeated:,} rows repeat others, so λ₀ and σ of all rows are 0 and no theorem "
            "that needs them holds; the numbers are those of the distinct rows."
        )
    if measured.num_measured < measured.n - measured.num_repeated:
        sentences.append(
            f"Eigenvalues are those of {measured.num_measured:,} of the rows; all rows ask for no less."
        )
    sentences += _distances(answers)
    sentences.append(
        f"Constants that the papers hide are taken as 1, and c of Algorithm 1 as {C_PGD:g}, so factors are "
        "orders of magnitude."
    )
    return tuple(sentences)


def _distances(answers: tuple[Answer, ...]) -> list[str]:
    """What is nearest, what is furthest, and what that means."""
    missed = sorted(
        (answer for answer in answers if answer.log10_short), key=lambda answer: answer.log10_short
    )
    if not missed:
        return []
    sentences = [
        f"{words} is missing for {answer.paper}, {answer.place}: {_furthest(answer).sentence}"
        for words, answer in zip(("Least", "Most"), dict.fromkeys((missed[0], missed[-1])), strict=False)
    ]
    if missed[-1].log10_short > ASTRONOMICAL:
        sentences.append(
            "That is astronomical: no machine will hold such a network or take so many steps. Theorems give "
            "sufficient conditions; smaller networks may well do what they promise, but unproven."
        )
    return sentences


def _furthest(answer: Answer) -> Demand:
    return max(answer.demands, key=lambda demand: demand.log10_short or 0.0)


def _open_words(open_ones: int) -> str:
    return f"; {open_ones} cannot be decided from what is known" if open_ones else ""
