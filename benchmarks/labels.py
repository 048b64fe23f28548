"""Finding flipped labels: ours beside cleanlab with three cross-validated classifiers.

`python -m benchmarks.labels [FOLDER]`; cleanlab runs in the environment that `make bench` makes. A folder
keeps its scores, so that a run can be resumed. Downloaded images are left out where they are absent.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from benchmarks.tables import JUDGED_CLASSES, tables
from widenet.base.errors import InputError
from widenet.data.dataset import Dataset
from widenet.data.duplicates import find_duplicates
from widenet.data.loading import load
from widenet.data.noise import flip_by_inputs, flip_labels, flip_one_way, subset, with_labels
from widenet.data.points import Points
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.choose import choose_model
from widenet.predict.labels import LabelQuality, judge_labels
from widenet.predict.loo import by_row, leave_one_out

PEER_PYTHON = Path(".bench/cleanlab/bin/python")
PEER_SCRIPT = Path(__file__).parent / "peers" / "cleanlab_labels.py"
PEERS = ("forest", "logistic", "boosting")
KINDS = ("symmetric", "one-way", "by-inputs")
RATES = (0.1, 0.2)
SEEDS = range(3)
IMAGES = {"digits": 1797, "mnist": 2000, "cifar10-2": 2000}  # few, for the sake of boosting
TIE = 0.002  # of the area under the ROC curve


@dataclass(frozen=True)
class Problem:
    """A data set some of whose labels were flipped."""

    name: str
    kind: str
    rate: float
    seed: int
    dataset: Dataset  # with the labels as they were flipped
    flipped: Tensor  # which were, shape (n,)

    @property
    def file(self) -> str:
        """Name of its files."""
        return f"{self.name}-{self.kind}-{self.rate}-{self.seed}.npz"


@dataclass(frozen=True)
class Outcome:
    """What ours and each of the peers made of one problem."""

    name: str
    kind: str
    rate: float
    seed: int
    wrong: float  # share of labels that were flipped
    low: float
    high: float
    decided: bool
    seconds: float
    auroc: float
    peer_auroc: dict[str, float]  # of each classifier, with the better of cleanlab's scores
    peer_seconds: dict[str, float]


@dataclass(frozen=True)
class Clean:
    """What is said of a data set as it is published."""

    name: str
    estimate: float
    low: float
    high: float
    decided: bool


@dataclass(frozen=True)
class Summary:
    """All data sets with one kind and rate of flips, each by its means over the seeds."""

    kind: str
    rate: float
    inside: int  # problems whose share of flips the interval holds
    decided: int
    problems: int
    auroc: float
    peer_auroc: float  # of the classifier that does best on each data set
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return (
            f"{self.kind:10} {self.rate:4.1f}   "
            f"{self.inside} of {self.problems} inside, {self.decided} decided   "
            f"{self.auroc:.4f} {self.peer_auroc:.4f}   {self.wins} won, {self.ties} tied, {self.losses} lost"
        )


def flip(dataset: Dataset, kind: str, rate: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """New labels and which were flipped, shape (n,) each."""
    true, c = _labels(dataset), len(dataset.classes)
    if kind == "by-inputs":
        return flip_by_inputs(true, dataset.X, rate, c, generator=generator)
    flips = {"symmetric": flip_labels, "one-way": flip_one_way}[kind]
    return flips(true, rate, c, generator=generator)


def problems_of(name: str, dataset: Dataset, kinds: Iterable[str], seeds: Iterable[int]) -> Iterator[Problem]:
    """Every kind, rate and seed of flips."""
    for kind in kinds:
        for rate in RATES:
            for seed in seeds:
                labels, flipped = flip(dataset, kind, rate, torch.Generator().manual_seed(seed))
                yield Problem(name, kind, rate, seed, with_labels(dataset, labels), flipped)


def judge(dataset: Dataset, points: Points, *, generator: torch.Generator) -> LabelQuality:
    """All stages from the data to the judgement, as in an audit."""
    model = choose_model(dataset.X, dataset.Y, place=points.place, generator=generator)
    roots = points.counts.sqrt()[:, None]
    K = gram_matrix(kernel_by_name(model.kernel), dataset.X[points.first]) * roots * roots.T
    loo = by_row(leave_one_out(K, roots * points.means(dataset.Y), model.ridge), points, model.ridge)
    c = len(dataset.classes)
    return judge_labels(loo.predictions, loo.variances, _labels(dataset), c, place=points.place)


def judge_clean(name: str, dataset: Dataset) -> Clean:
    """Judge the labels as they are."""
    points = find_duplicates(dataset).points
    quality = judge(dataset, points, generator=torch.Generator().manual_seed(0))
    return Clean(name, quality.estimate, quality.low, quality.high, quality.decided)


def score_with_peers(problems: list[Problem], folder: Path) -> None:
    """Write what cleanlab needs to the folder, and let it score what it has not yet."""
    (folder / "problems").mkdir(parents=True, exist_ok=True)
    for problem in problems:
        X = peer_inputs(problem.dataset).numpy()
        np.savez(folder / "problems" / problem.file, X=X, labels=_labels(problem.dataset).numpy())
    subprocess.run([str(PEER_PYTHON), str(PEER_SCRIPT), str(folder)], check=True)


def peer_inputs(dataset: Dataset) -> Tensor:
    """Standardised columns, not on the sphere: what a peer would be given, shape (n, columns)."""
    if dataset.preparation.kind != "standard":
        return dataset.X
    return dataset.X[:, :-1] / dataset.X[:, -1:]


def compare(problem: Problem, points: Points, folder: Path) -> Outcome:
    """Judge a problem that the peers have scored."""
    start = time.perf_counter()
    quality = judge(problem.dataset, points, generator=torch.Generator().manual_seed(problem.seed))
    seconds = time.perf_counter() - start
    with np.load(folder / "scores" / problem.file, allow_pickle=False) as found:
        scores = {peer: found[peer] for peer in PEERS}
        peer_seconds = {peer: float(found[f"{peer}_seconds"]) for peer in PEERS}
    return Outcome(
        name=problem.name,
        kind=problem.kind,
        rate=problem.rate,
        seed=problem.seed,
        wrong=float(problem.flipped.double().mean()),
        low=quality.low,
        high=quality.high,
        decided=quality.decided,
        seconds=seconds,
        auroc=roc_auc_score(problem.flipped, quality.score),
        peer_auroc={
            peer: max(roc_auc_score(problem.flipped, each) for each in both) for peer, both in scores.items()
        },
        peer_seconds=peer_seconds,
    )


def summarise(outcomes: list[Outcome]) -> list[Summary]:
    """One line for each kind and rate."""
    groups = {
        (kind, rate): [o for o in outcomes if (o.kind, o.rate) == (kind, rate)]
        for kind in KINDS
        for rate in RATES
    }
    return [_summary(kind, rate, group) for (kind, rate), group in groups.items() if group]


def _summary(kind: str, rate: float, outcomes: list[Outcome]) -> Summary:
    by_name: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_name.setdefault(outcome.name, []).append(outcome)
    ours = np.array([np.mean([o.auroc for o in group]) for group in by_name.values()])
    best = np.array(
        [max(np.mean([o.peer_auroc[peer] for o in group]) for peer in PEERS) for group in by_name.values()]
    )
    return Summary(
        kind=kind,
        rate=rate,
        inside=sum(o.low <= o.wrong <= o.high for o in outcomes),
        decided=sum(o.decided for o in outcomes),
        problems=len(outcomes),
        auroc=float(ours.mean()),
        peer_auroc=float(best.mean()),
        wins=int((ours - best >= TIE).sum()),
        ties=int((abs(ours - best) < TIE).sum()),
        losses=int((best - ours >= TIE).sum()),
    )


def images() -> dict[str, Dataset]:
    """The first rows of the built-in sets that are there."""
    found = {}
    for name, rows in IMAGES.items():
        try:
            found[name] = subset(load(name), torch.arange(rows))
        except InputError as error:
            print(f"{name}: {error}")
    return found


def _labels(dataset: Dataset) -> Tensor:
    assert dataset.labels is not None
    return dataset.labels


def _run_all(
    datasets: dict[str, Dataset], folder: Path, kinds: Sequence[str] = KINDS, seeds: Sequence[int] = SEEDS
) -> list[Outcome]:
    points = {name: find_duplicates(dataset).points for name, dataset in datasets.items()}
    problems = [
        problem for name, dataset in datasets.items() for problem in problems_of(name, dataset, kinds, seeds)
    ]
    score_with_peers(problems, folder)
    outcomes = [compare(problem, points[problem.name], folder) for problem in problems]
    print(*summarise(outcomes), sep="\n", flush=True)
    return outcomes


def run(folder: Path | None = None) -> dict[str, list[Summary] | list[Outcome] | list[Clean]]:
    """Print the summaries, and return them with every outcome."""
    if folder is None:
        with tempfile.TemporaryDirectory() as path:
            return run(Path(path))
    datasets = tables(JUDGED_CLASSES)
    clean = [judge_clean(name, dataset) for name, dataset in datasets.items()]
    outcomes = _run_all(datasets, folder)
    pictures = _run_all(images(), folder, kinds=("symmetric",), seeds=(0,))
    return {
        "summaries": summarise(outcomes),
        "images": summarise(pictures),
        "clean": clean,
        "outcomes": outcomes + pictures,
    }


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:]))
