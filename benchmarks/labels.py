"""Finding flipped labels: ours beside cleanlab with a cross-validated random forest, in one run.

`python -m benchmarks.labels`; cleanlab runs in the environment that `make bench` makes, and its better score
counts. Downloaded sets are left out where they are absent.
"""

import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.metrics import roc_auc_score
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.loading import load
from widenet.data.noise import flip_labels
from widenet.data.targets import class_columns
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.labels import LabelQuality, choose_label_model, judge_labels
from widenet.predict.loo import leave_one_out

PEER_PYTHON = Path(".bench/cleanlab/bin/python")
PEER_SCRIPT = Path(__file__).parent / "peers" / "cleanlab_labels.py"
RATES = (0.05, 0.1, 0.2, 0.3)
TABLE_DRAWS = 5  # of flips: on small tables one draw says little
IMAGES = {"digits": 1797, "mnist": 4000, "cifar10-2": 4000}
TABLES = {
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "make_classification": lambda: make_classification(1000, n_informative=2, flip_y=0, random_state=1),
}


@dataclass(frozen=True)
class Comparison:
    """One data set at one rate of flipped labels; means over the draws, of `inside` the sum."""

    name: str
    rate: float
    draws: int
    inside: int
    auroc: float
    peer_auroc: float
    seconds: float
    peer_seconds: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.name:20} {self.rate:5.2f} {self.auroc:9.4f} {self.peer_auroc:9.4f} "
            f"{self.seconds:8.1f} {self.peer_seconds:9.1f}   [{self.low:.3f}, {self.high:.3f}] "
            f"{self.inside} of {self.draws}"
        )


def prepared_table(name: str, folder: Path) -> tuple[Tensor, Tensor]:
    """Rows and labels of a table of scikit-learn, prepared as a file of a user would be."""
    X, labels = TABLES[name]()
    path = folder / f"{name}.npz"
    np.savez(path, X=X, y=np.array([f"class {label}" for label in labels]))
    dataset = load(str(path))
    assert dataset.labels is not None
    return dataset.X, dataset.labels


def prepared_images(name: str) -> tuple[Tensor, Tensor]:
    """The first rows of a built-in set."""
    dataset = load(name)
    assert dataset.labels is not None
    return dataset.X[: IMAGES[name]], dataset.labels[: IMAGES[name]]


def judge(X: Tensor, labels: Tensor, num_classes: int, *, generator: torch.Generator) -> LabelQuality:
    """All three stages of `widenet.predict.labels`."""
    model = choose_label_model(X, labels, num_classes, generator=generator)
    K = gram_matrix(kernel_by_name(model.kernel), X)
    loo = leave_one_out(K, class_columns(labels, num_classes), model.ridge)
    return judge_labels(loo.predictions, loo.variances, labels, num_classes)


def peer_scores(X: Tensor, labels: Tensor, folder: Path, python: Path) -> tuple[list[np.ndarray], float]:
    """Each of cleanlab's scores, and the seconds it took."""
    source, destination = folder / "in.npz", folder / "out.npz"
    np.savez(source, X=X.numpy(), labels=labels.numpy())
    subprocess.run([str(python), str(PEER_SCRIPT), str(source), str(destination)], check=True)
    with np.load(destination, allow_pickle=False) as result:
        return [result[key] for key in result.files if key != "seconds"], float(result["seconds"])


def compare(
    name: str, X: Tensor, true: Tensor, rate: float, seed: int, folder: Path, python: Path
) -> Comparison:
    """Flip labels, let both look for them."""
    generator = torch.Generator().manual_seed(seed)
    num_classes = int(true.max()) + 1
    labels, flipped = flip_labels(true, rate, num_classes, generator=generator)
    start = time.perf_counter()
    quality = judge(X, labels, num_classes, generator=generator)
    seconds = time.perf_counter() - start
    scores, peer_seconds = peer_scores(X, labels, folder, python)
    return Comparison(
        name=name,
        rate=rate,
        draws=1,
        inside=int(quality.low <= float(flipped.double().mean()) <= quality.high),
        auroc=roc_auc_score(flipped, quality.score),
        peer_auroc=max(roc_auc_score(flipped, score) for score in scores),
        seconds=seconds,
        peer_seconds=peer_seconds,
        low=quality.low,
        high=quality.high,
    )


def average(draws: list[Comparison]) -> Comparison:
    """One record for several draws of the same set and rate."""
    means = {
        field: float(np.mean([getattr(each, field) for each in draws]))
        for field in ("auroc", "peer_auroc", "seconds", "peer_seconds", "low", "high")
    }
    return replace(draws[0], draws=len(draws), inside=sum(each.inside for each in draws), **means)


def run(names: tuple[str, ...] = (*IMAGES, *TABLES), *, peer_python: Path = PEER_PYTHON) -> list[Comparison]:
    """Print the table row by row, and return it."""
    titles = f"{'data':20} {'rate':>5} {'AUROC':>9} {'cleanlab':>9} {'seconds':>8} {'cleanlab':>9}"
    print(f"{titles}   interval, inside")
    comparisons = []
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        for name in names:
            try:
                X, true = prepared_images(name) if name in IMAGES else prepared_table(name, folder)
            except InputError as error:
                print(f"{name}: {error}")
                continue
            for rate in RATES:
                seeds = range(TABLE_DRAWS if name in TABLES else 1)
                draws = [compare(name, X, true, rate, seed, folder, peer_python) for seed in seeds]
                comparisons.append(average(draws))
                print(comparisons[-1], flush=True)
    return comparisons


if __name__ == "__main__":
    run()
