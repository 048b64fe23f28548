"""A small audit for each task, with numbers that hang together but were not computed."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from widenet.audit.result import (
    SCHEMA,
    Alignment,
    AuditResult,
    Bound,
    ColumnComplexity,
    Complexity,
    Curve,
    DataSummary,
    Forecast,
    LeaveOneOutSummary,
    Noise,
    SpectrumSummary,
    StepsTo,
    Suspect,
    TrainedCurve,
)
from widenet.data.dataset import Dataset
from widenet.data.prepare import Preparation
from widenet.predict.learning_curve import LearningCurve

CLASSES = {"binary": ("cat", "dog"), "multiclass": ("ant", "bee", "cow"), "regression": ()}
N, D = 60, 16
STEPS = (0, 1, 3, 10, 31, 100, 316, 1000, 3162, 10000)
SIZES = (15, 30, 60, 120, 240)


def make_result(task: str, rename: Callable[[str], str] = str) -> AuditResult:
    """An audit of `N` rows; `rename` is applied to every text that would come from the data."""
    classes = tuple(rename(name) for name in CLASSES[task])
    columns = classes if task == "multiclass" else (rename("target"),)
    return AuditResult(
        schema=SCHEMA,
        version="0.1.0",
        data=DataSummary(
            name=rename("animals.csv"),
            n=N,
            d=D,
            classes=classes,
            class_counts=tuple(N // len(classes) for _ in classes),
            task=task,
            prepare="unit",
            duplicates=(),
            opposites=(),
            conflicts=(),
            provenance=(rename("column"), "16 columns were used as they are."),
        ),
        kernel="relu3-ntk",
        complexity=Complexity(
            value=0.8123456,
            lower=0.8123450,
            upper=0.8123461,
            random=3.25,
            random_error=0.05,
            columns=tuple(ColumnComplexity(name, 0.5, 0.49, 0.51) for name in columns),
            num_matvecs=42,
        ),
        spectrum=SpectrumSummary(
            eigenvalue_max=30.0,
            eigenvalue_min=0.12,
            eigenvalue_min_certified=0.11,
            alignment=Alignment((30.0, 3.0, 0.3, 0.12), (0.5, 0.8, 0.99, 1.0), (0.02, 0.1, 0.7, 1.0)),
        ),
        curve=make_curve(),
        bound=Bound(1.4, {"complexity": 0.81, "confidence": 0.59}, 0.01, True, True, "It is more than 1."),
        loo=LeaveOneOutSummary(0.2, 0.0, None if task == "regression" else 0.05, N, "closed form", 1.0),
        learning_curve=make_learning_curve(task),
        noise=Noise(0.05, 0.02, 0.09, "relu3-ntk", 0.01),
        labels=make_suspects(classes),
        labels_file="labels.csv",
        forecast=Forecast(memory_bytes=3 * 2**20, seconds=1.5, gram="dense", gram_bytes=2**20),
        seconds=1.25,
    )


def make_curve() -> Curve:
    loss = tuple(float(np.exp(-step / 500)) * N / 2 for step in STEPS)
    random = tuple(float(np.exp(-step / 4000)) * N / 2 for step in STEPS)
    return Curve(
        eta=1 / 30,
        eta_max=2 / 30,
        steps=STEPS,
        loss=loss,
        random_loss=random,
        worst_loss=tuple(float(np.exp(-step / 9000)) * N / 2 for step in STEPS),
        movement=tuple(0.1 * k for k in range(len(STEPS))),
        movement_limit=1.0,
        steps_to=(
            StepsTo(0.5, 12, 340, 1200),
            StepsTo(0.1, 123, 4567, 8901),
            StepsTo(0.01, 1234, None, None),
        ),
        trained=TrainedCurve(
            256, 0.01, 40, 1 / 20, STEPS, tuple(1.05 * value for value in loss), loss, 0.9, 0.95
        ),
    )


def make_learning_curve(task: str) -> LearningCurve:
    error = tuple(6 / n for n in SIZES)
    low, high = tuple(0.8 * value for value in error), tuple(1.3 * value for value in error)
    shares = (None, None, None) if task == "regression" else (error, (0.0,) * len(SIZES), high)
    return LearningCurve(SIZES, tuple(n <= N for n in SIZES), error, low, high, *shares)


def make_suspects(classes: tuple[str, ...]) -> tuple[Suspect, ...]:
    """Every row, worst first."""
    pair = (classes[0], classes[1]) if classes else ("12.5", "3.25")
    return tuple(Suspect(row, *pair, score=1 - row / N) for row in range(1, N + 1))


def make_dataset(task: str, *, images: bool = False, rename: Callable[[str], str] = str) -> Dataset:
    generator = torch.Generator().manual_seed(0)
    X = torch.nn.functional.normalize(torch.rand(N, D, dtype=torch.float64, generator=generator))
    labels = torch.arange(N) % max(len(CLASSES[task]), 1)
    pixels = torch.randint(256, (N, 8, 8), generator=generator, dtype=torch.uint8)
    return Dataset(
        name=rename("animals.csv"),
        X=X,
        Y=torch.ones(N, 1, dtype=torch.float64),
        labels=None if task == "regression" else labels,
        classes=tuple(rename(name) for name in CLASSES[task]),
        task=task,
        names=tuple(rename(f"x{k}") for k in range(D)),
        rows=torch.arange(1, N + 1),
        given=("?",) * N,
        images=pixels if images else None,
        preparation=Preparation("unit", (), torch.arange(D), torch.zeros(D), torch.ones(D)),
        provenance=(),
    )


@pytest.fixture(params=sorted(CLASSES))
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def result_of() -> Callable[..., AuditResult]:
    return make_result


@pytest.fixture
def dataset_of() -> Callable[..., Dataset]:
    return make_dataset
