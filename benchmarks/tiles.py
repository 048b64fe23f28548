"""Audits whose kernel matrix is not held: leaving rows out by random signs, against the closed form."""

import time
from statistics import mean

import torch
from torch import Tensor

from widenet.audit.generalise import loo_summary
from widenet.audit.problem import KernelProblem, weighted_gram
from widenet.audit.work import Work
from widenet.base.progress import SILENT
from widenet.data import load, subset
from widenet.data.dataset import Dataset
from widenet.data.duplicates import find_duplicates
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.loo import by_row, leave_one_out
from widenet.runs.checkpoints import Checkpoints
from widenet.runs.trial import Trial
from widenet.spectrum.gram import DenseGram, TiledGram
from widenet.study.speed import measure_speed

ROWS = 10_000
SEEDS = range(5)


def _tiles(kernel: Kernel, X: Tensor, dtype: torch.dtype) -> TiledGram:
    return TiledGram(kernel, X, keep_bytes=8 * len(X) ** 2, dtype=dtype)


def _work(dataset: Dataset, seed: int) -> Work:
    generator = torch.Generator().manual_seed(seed)
    points = find_duplicates(dataset).points
    return Work(dataset, points, _tiles, generator, SILENT, Checkpoints(None, _no_trial))


def _no_trial() -> Trial:
    raise AssertionError("nothing is kept")


def measure(name: str) -> dict[str, float]:
    """Both errors of the interpolating kernel on the first rows, in closed form and by several seeds."""
    dataset = subset(load(name), torch.arange(ROWS))
    kernel, works = kernel_by_name("relu2-hidden"), [_work(dataset, seed) for seed in SEEDS]
    points = works[0].points
    gram = weighted_gram(DenseGram(gram_matrix(kernel, dataset.X[points.first])), points)
    targets = KernelProblem(gram, points, dataset.Y, 0.0).targets
    exact = loo_summary(dataset, points, by_row(leave_one_out(gram.held(), targets, 0.0), points, 0.0))
    del gram
    found, widths, seconds = [], [], []
    for work in works:
        begin = time.process_time()
        problem = work.problem(kernel)
        spectrum = work.spectrum(problem)
        found.append(loo_summary(dataset, points, work.left_out_by_tiles(kernel, problem, spectrum, 0.0)))
        seconds.append(time.process_time() - begin)
        widths.append(spectrum.inverse.width())
    V = torch.cat([targets] * (40 // targets.shape[1]), dim=1)
    begin = time.perf_counter()
    problem.gram.matmul(V)
    rate = 2 * len(V) ** 2 * V.shape[1] / (time.perf_counter() - begin)
    return {
        "rows": dataset.n,
        "squared error": exact.error,
        "mean of its estimates over it": mean(each.error for each in found) / exact.error,
        "farthest": max(abs(each.error / exact.error - 1) for each in found),
        "misclassified": exact.misclassified,
        "mean of its estimates less it": mean(each.misclassified for each in found) - exact.misclassified,
        "farthest of these": max(abs(each.misclassified - exact.misclassified) for each in found),
        "width of the bounds": max(widths),
        "processor seconds": mean(seconds),
        "a product's rate over that of square matrices": rate / measure_speed().single,
    }


def run() -> dict[str, dict[str, float]]:
    """Ten classes and two."""
    return {name: measure(name) for name in ("mnist", "cifar10-2", "mnist-2")}


if __name__ == "__main__":
    for title, record in run().items():
        print(title, *(f"{key}: {value:.6g}" for key, value in record.items()), sep="\n  ")
