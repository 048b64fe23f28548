"""How well a quarter or a half of the rows foretells the error at twice and four times as many.

`python -m benchmarks.learning_curve [--seeds N] [NAME ...]`. Of each table three points in ten are held out.
A random quarter of the other rows, and a random half, is audited: a kernel and a ridge are chosen on these
rows and the error at twice and four times as many is predicted. Then the predictor is fitted on so many rows,
with the same kernel and ridge and with those that would be chosen anew, and measured on the held-out points.
"""

import argparse
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from benchmarks.tables import JUDGED_CLASSES, JUDGED_NUMBERS, MOST_ROWS, tables
from widenet.data.dataset import Dataset
from widenet.data.duplicates import find_duplicates
from widenet.data.loading import load
from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.choose import choose_model
from widenet.predict.extrapolate import log_error_curve
from widenet.predict.learning_curve import (
    LearningCurve,
    Z,
    mistakes,
    predict_learning_curve,
    share_intervals,
    squared_errors,
)
from widenet.predict.subsets import JITTER

IMAGES = ("digits", "mnist", "mnist-2", "cifar10-2")  # only where they are named
NAMES = (*JUDGED_CLASSES, *JUDGED_NUMBERS)
FIRST_SEED = 1000  # the curve's priors were set on splits drawn with the seeds 0 to 5 of other tables
HELD_OUT = 0.3
FRACTIONS = {"quarter": 4, "half": 2}  # one in so many rows is audited
ERROR_OF_NUMBERS, ERROR_OF_CLASSES = "squared error of numbers", "squared error of classes"
MISCLASSIFIED = "misclassified"
LEAST_ROWS = 16  # of an audit: smaller quarters are left out


@dataclass(frozen=True)
class Model:
    """A kernel by name, and its ridge."""

    kernel: str
    ridge: float


INTERPOLATING = Model("relu2-hidden", 0.0)


@dataclass(frozen=True)
class Measured:
    """A mean over held-out rows with its 95% interval; `log` counts half a mistake more than were made."""

    value: float
    low: float
    high: float
    log: float


def measured_error(errors: Tensor, place: Tensor) -> Measured:
    """The mean of errors (t,)."""
    curve = log_error_curve({1: errors[None]}, place)
    log, spread = float(curve.values), Z * math.sqrt(float(curve.covariance))
    return Measured(math.exp(log), math.exp(log - spread), math.exp(log + spread), log)


def measured_share(wrong: Tensor, place: Tensor) -> Measured:
    """The share of ones in `wrong` (t,)."""
    low, share, high = share_intervals({1: wrong[None]}, place)[:, 0].tolist()
    return Measured(share, low, high, math.log((float(wrong.sum()) + 0.5) / (len(wrong) + 1)))


@dataclass(frozen=True)
class Split:
    """A table and one division of it: the rows to audit come first in `rows`, `test` is held out."""

    name: str
    dataset: Dataset
    place: Tensor  # of all rows, shape (n,)
    rows: Tensor
    test: Tensor

    def model(self, num_rows: int) -> Model:
        """What is chosen on the first rows."""
        rows = self.rows[:num_rows]
        chosen = choose_model(
            self.dataset.X[rows],
            self.dataset.Y[rows],
            place=self.place[rows],
            generator=torch.Generator().manual_seed(0),
        )
        return Model(chosen.kernel, chosen.ridge)

    def predict(self, model: Model, num_rows: int, sizes: list[int], seed: int) -> LearningCurve:
        """The learning curve that an audit of the first rows draws."""
        rows = self.rows[:num_rows]
        return predict_learning_curve(
            kernel_by_name(model.kernel),
            self.dataset.X[rows],
            self.dataset.Y[rows],
            sizes,
            classification=self.dataset.labels is not None,
            generator=torch.Generator().manual_seed(seed),
            ridge=model.ridge,
            place=self.place[rows],
        )

    def measure(self, model: Model, num_rows: int) -> dict[str, Measured]:
        """The errors on the held-out rows of a predictor fitted on the first rows."""
        kernel, rows = kernel_by_name(model.kernel), self.rows[:num_rows]
        X, Y = self.dataset.X, self.dataset.Y
        K = gram_matrix(kernel, X[rows])
        K.diagonal().add_(model.ridge + JITTER * K.diagonal().mean())
        alpha = torch.cholesky_solve(Y[rows], torch.linalg.cholesky(K))
        predictions = cross_matrix(kernel, X[self.test], X[rows]) @ alpha
        place, Y = self.place[self.test], Y[self.test]
        errors = measured_error(squared_errors(predictions, Y), place)
        if self.dataset.labels is None:
            return {ERROR_OF_NUMBERS: errors}
        return {ERROR_OF_CLASSES: errors, MISCLASSIFIED: measured_share(mistakes(predictions, Y), place)}


@dataclass(frozen=True)
class Trial:
    """One prediction beside what was measured."""

    table: str
    model: str  # "chosen", "chosen anew" or the name of the interpolating kernel
    quantity: str
    audited: str  # "quarter" or "half"
    growth: int  # so many times the audited rows
    predicted: float
    low: float
    high: float
    measured: Measured

    @property
    def log_ratio(self) -> float:
        """Logarithm of measured over predicted; above 0 where the prediction was too low."""
        return self.measured.log - math.log(self.predicted)

    @property
    def covered(self) -> bool:
        """Whether the two agree: distances of both intervals' ends add in squares [donner2012mover]."""
        found = self.measured
        if found.value > self.predicted:
            room = math.hypot(self.high - self.predicted, found.value - found.low)
        else:
            room = math.hypot(self.predicted - self.low, found.high - found.value)
        return abs(found.value - self.predicted) <= room


@dataclass(frozen=True)
class Summary:
    """Trials of one kind: how many, in how many tables, and how the predictions did."""

    model: str
    quantity: str
    audited: str
    growth: int
    tables: int
    trials: int
    coverage: float
    too_low: float
    mean_log_ratio: float
    typical_deviation: float  # median of |log ratio|

    def __str__(self) -> str:
        return (
            f"{self.model:14} {self.quantity:24} {self.audited:8} {self.growth:2} {self.tables:4} "
            f"{self.trials:5} {self.coverage:9.3f} {self.too_low:8.3f} {self.mean_log_ratio:+9.3f} "
            f"{self.typical_deviation:8.3f}"
        )


def split(name: str, dataset: Dataset, seed: int) -> Split:
    """Hold out points, with all their rows, and put the other rows in a random order."""
    generator = torch.Generator().manual_seed(seed)
    points = find_duplicates(dataset).points
    held_out = torch.zeros(points.num, dtype=torch.bool)
    held_out[torch.randperm(points.num, generator=generator)[: int(HELD_OUT * points.num)]] = True
    is_test = held_out[points.place]
    rows = (~is_test).nonzero()[:, 0]
    order = torch.randperm(len(rows), generator=generator)
    return Split(name, dataset, points.place, rows[order], is_test.nonzero()[:, 0])


def trials_of(table: Split, seed: int) -> list[Trial]:
    """Audit a quarter and a half, and measure what they foretold."""
    trials = []
    for part, fraction in FRACTIONS.items():
        if (audited := len(table.rows) // fraction) < LEAST_ROWS:
            continue
        growths = [growth for growth in (2, 4) if growth <= fraction]
        for label, model in (("chosen", table.model(audited)), (INTERPOLATING.kernel, INTERPOLATING)):
            curve = table.predict(model, audited, [growth * audited for growth in growths], seed)
            for growth in growths:
                found = {label: table.measure(model, growth * audited)}
                if label == "chosen":
                    anew = table.model(growth * audited)
                    found["chosen anew"] = table.measure(anew, growth * audited)
                for name, measured in found.items():
                    told = predictions(curve, growth * audited)
                    trials += [
                        Trial(table.name, name, quantity, part, growth, *told[quantity], measured[quantity])
                        for quantity in told
                    ]
    return trials


def predictions(curve: LearningCurve, size: int) -> dict[str, tuple[float, float, float]]:
    """Value, low and high end at a number of rows, for each quantity."""
    at = curve.n.index(size)
    error = curve.error[at], curve.error_low[at], curve.error_high[at]
    shares = curve.misclassified, curve.misclassified_low, curve.misclassified_high
    if shares[0] is None or shares[1] is None or shares[2] is None:
        return {ERROR_OF_NUMBERS: error}
    return {ERROR_OF_CLASSES: error, MISCLASSIFIED: (shares[0][at], shares[1][at], shares[2][at])}


def summarise(trials: list[Trial]) -> list[Summary]:
    """One record for each model, quantity, audited part and growth."""
    groups = defaultdict(list)
    for trial in trials:
        groups[trial.model, trial.quantity, trial.audited, trial.growth].append(trial)
    return [
        Summary(
            *kind,
            tables=len({trial.table for trial in group}),
            trials=len(group),
            coverage=statistics.mean(trial.covered for trial in group),
            too_low=statistics.mean(trial.log_ratio > 0 for trial in group),
            mean_log_ratio=statistics.mean(trial.log_ratio for trial in group),
            typical_deviation=statistics.median(abs(trial.log_ratio) for trial in group),
        )
        for kind, group in sorted(groups.items())
    ]


def image_set(name: str) -> Dataset:
    """At most MOST_ROWS random rows of a built-in set."""
    dataset = load(name)
    rows = torch.randperm(dataset.n, generator=torch.Generator().manual_seed(0))[:MOST_ROWS]
    labels = None if dataset.labels is None else dataset.labels[rows]
    return replace(dataset, X=dataset.X[rows], Y=dataset.Y[rows], labels=labels, rows=dataset.rows[rows])


def run(names: tuple[str, ...] = NAMES, num_seeds: int = 3) -> list[Summary]:
    """Print a line for each table, then the summary, and return that."""
    datasets = tables(tuple(name for name in names if name not in IMAGES))
    datasets |= {name: image_set(name) for name in names if name in IMAGES}
    trials = []
    for name, dataset in datasets.items():
        for seed in range(FIRST_SEED, FIRST_SEED + num_seeds):
            trials += trials_of(split(name, dataset, seed), seed)
        inside = [trial.covered for trial in trials if trial.table == name]
        print(f"{name}, {dataset.n} rows: {sum(inside)} of {len(inside)} inside", flush=True)
    summary = summarise(trials)
    titles = f"{'model':14} {'quantity':24} {'audited':8}  x tabs    of inside 95% too low mean log  typical"
    print(titles, *summary, sep="\n", flush=True)
    return summary


def main() -> None:
    """Run on the named tables, by default on those that no constant was set on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    run(tuple(arguments.names), arguments.seeds)


if __name__ == "__main__":
    main()
