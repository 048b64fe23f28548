"""The ResNet trained on functions of the class, its settings chosen on other functions of the class.

Weights and samples are drawn alike for every coordinate, so by symmetry a network's error has the same
distribution on every function of the class: the mean over a few functions estimates the mean over all.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from widenet.base.progress import SILENT, Progress
from widenet.data.columns import NumericColumn
from widenet.data.dataset import Dataset
from widenet.data.inputs import Cube
from widenet.data.paper_concepts import resnet_hard
from widenet.data.prepare import fit_preparation
from widenet.networks.resnet import ResNet
from widenet.papers.resnet_beyond_kernels.separation.kernels import subsets
from widenet.papers.resnet_beyond_kernels.separation.result import NetworkPoint
from widenet.runs.store import Store
from widenet.study.settings import LARGEST_SEED
from widenet.training.run import TrainingRun
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep
from widenet.training.together import RECORDS

PILOT_WIDTH, PILOT_POINTS = 1000, 4096  # at most, of what is timed for the forecast


@dataclass(frozen=True, eq=False)
class Member:
    """A function of the class with the samples that it is learned from."""

    subset: tuple[int, ...]  # the k coordinates that it depends on, counted from 0
    alpha: float  # α
    samples: Tensor  # independent points of the cube, shape (N, d₁)
    seed: int  # of the network's initial weights and order of rows, drawn apart from the samples' own

    def dataset(self, X: Tensor) -> Dataset:
        """These rows (n, d₁) with their targets."""
        d1 = X.shape[1]
        concept = resnet_hard(d1, k=len(self.subset), alpha=self.alpha, coordinates=self.subset)
        Y = concept.evaluate(X)
        columns = tuple(NumericColumn(f"x{j + 1}") for j in range(d1))
        preparation, X, notes = fit_preparation(X, columns, "raw")
        return Dataset(
            name="resnet-hard",
            X=X,
            Y=Y,
            labels=None,
            classes=(),
            task="regression",
            names=preparation.names,
            rows=torch.arange(1, len(X) + 1),
            given=("",) * len(X),
            images=None,
            preparation=preparation,
            provenance=notes,
        )


@dataclass(frozen=True, eq=False)
class TrainingPlan:
    """Which networks are trained on which functions."""

    tuning: Sequence[Member]  # functions on which every setting is tried
    measured: Sequence[Member]  # functions on which the best of them is measured
    points: Tensor  # all points of the cube, shape (P, d₁)
    grid: Sequence[TrainingSettings]  # rates and decays
    width: int  # neurons of each hidden layer
    store: Store | None = None  # where finished runs are kept
    notes: Progress = SILENT  # told what keeps runs from going on from there


def draw_members(
    d1: int, k: int, alpha: float, num_members: int, num_samples: int, *, generator: torch.Generator
) -> list[Member]:
    """Distinct functions of the class, each with samples and a seed of its own.

    The first members, and the first samples of each, are the same however many of them are drawn.
    """
    sets = subsets(d1, k)
    chosen = sets[torch.randperm(len(sets), generator=generator)[:num_members]].tolist()
    members = []
    for subset in chosen:
        of_samples, of_network = torch.randint(LARGEST_SEED, (2,), generator=generator).tolist()
        own = torch.Generator().manual_seed(of_samples)
        samples = Cube(d1, d1**-0.5).draw(num_samples, generator=own)
        members.append(Member(tuple(subset), alpha, samples, of_network))
    return members


def train_member(
    member: Member,
    num_samples: int,
    points: Tensor,
    grid: Sequence[TrainingSettings],
    width: int,
    store: Store | None,
    notes: Progress = SILENT,
) -> list[float]:
    """Error per output over the cube at the end of training, under each setting; infinite if it failed."""
    dataset, test = member.dataset(member.samples[:num_samples]), member.dataset(points)
    seeded = [replace(settings, seed=member.seed) for settings in grid]
    runs = sweep(ResNet(width, "all"), dataset, seeded, test=test, store=store, progress=notes)
    return [_final_error(run) / len(member.subset) for run in runs]


def network_point(
    plan: TrainingPlan, num_samples: int, progress: Callable[[int], None] = lambda num_runs: None
) -> NetworkPoint:
    """Choose a setting on the tuning functions, then train on the others with it, from N samples each.

    Args:
        plan: Functions, settings and network.
        num_samples: N.
        progress: Called with the number of runs just done.
    """
    grid, how = plan.grid, (plan.width, plan.store, plan.notes)
    tried = []
    for member in plan.tuning:
        tried.append(train_member(member, num_samples, plan.points, grid, *how))
        progress(len(grid))
    means = [sum(errors) / len(errors) for errors in zip(*tried, strict=True)]
    ranked = sorted(range(len(grid)), key=lambda index: means[index])
    errors, num_replaced = [], 0
    for member in plan.measured:
        for index in ranked:  # one that fails, which needs no test to see, gives way to the next best
            (error,) = train_member(member, num_samples, plan.points, [grid[index]], *how)
            if math.isfinite(error):
                break
        errors.append(error)
        num_replaced += index != ranked[0]
        progress(1)
    best = grid[ranked[0]]
    return NetworkPoint(num_samples, best.rate, best.decay, means[ranked[0]], tuple(errors), num_replaced)


def network_seconds(plan: TrainingPlan, sizes: Sequence[int]) -> float:
    """Seconds that `network_point` will take for all sizes, from a few epochs at the largest of them.

    A run measures the cube `RECORDS` times however many epochs it has, so the time of an epoch is the
    difference between two pilots that both do. Both times are proportional to the width where it is large.
    """
    member, largest, grid = plan.measured[0], max(sizes), plan.grid
    rows = sum(size / largest for size in sizes)
    pilot_width, pilot_points = min(plan.width, PILOT_WIDTH), plan.points[:PILOT_POINTS]

    def seconds(settings: Sequence[TrainingSettings]) -> float:
        pilots = [[replace(each, epochs=times * RECORDS) for each in settings] for times in (1, 2)]
        spent = []
        for pilot in pilots:
            start = time.perf_counter()
            train_member(member, largest, pilot_points, pilot, pilot_width, None)
            spent.append(time.perf_counter() - start)
        measuring = min(max(2 * spent[0] - spent[1], 0.0), spent[0])  # clocks are noisy
        epoch = (spent[0] - measuring) / RECORDS
        per_size = measuring * len(plan.points) / len(pilot_points)
        return plan.width / pilot_width * (len(sizes) * per_size + rows * epoch * grid[0].epochs)

    seconds([replace(grid[0], batch=None)])  # nothing is timed before it has run once
    return len(plan.tuning) * seconds(grid) + len(plan.measured) * seconds(grid[:1])


def _final_error(run: TrainingRun) -> float:
    """Test error at the end; infinite if training failed, as its own rows tell: it diverged, or all was lost.

    A network that has blown up on its way can end with every neuron dead, and then predicts 0.
    """
    assert run.test_error is not None
    failed = run.diverged or run.train_error[-1] >= run.train_error[0]
    return math.inf if failed else run.test_error[-1]
