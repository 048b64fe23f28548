"""What an audit says on data made to break its sentences, against what is known of that data.

`python -m benchmarks.truth`: labels independent of the inputs, targets without noise, targets with a known
share of it, and a real table whose labels are shuffled.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from scipy.stats import kstest

from benchmarks.tables import tables
from widenet.audit.result import AuditResult
from widenet.audit.run import run_audit
from widenet.data.dataset import Dataset
from widenet.data.loading import load
from widenet.data.noise import with_labels
from widenet.report.audit import sentences

SHARES = ((0.5, 0.5), (0.9, 0.1), (0.95, 0.05), (0.98, 0.02), (0.97, 0.02, 0.01))
NUM_SEEDS = 20
NUM_ROWS, NUM_COLUMNS = 1000, 10
TARGET_ROWS = 400
NOISE_SHARE = 0.2  # of the targets' variance
CLAIMS = ("These labels depend on", "more data helps.", "of the labels are wrong (", "A wide network (")
TARGETS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda X: X @ np.arange(1.0, X.shape[1] + 1),
    "smooth": lambda X: np.exp(-((X[:, 0] - 0.5) ** 2)) + np.tanh(X[:, 1] * X[:, 2]),
    "fast sine": lambda X: np.sin(40 * X[:, 0]),
    "product": lambda X: np.sign(X).prod(1) * np.abs(X).prod(1) ** 0.25,
}


def dataset_of(X: np.ndarray, y: np.ndarray) -> Dataset:
    """Rows and targets, prepared as a file of a user would be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, X=X, y=y)
        return load(str(path))


def claims(result: AuditResult) -> list[str]:
    """Sentences that claim to have found something."""
    return [told for told in sentences(result) if any(claim in told for claim in CLAIMS)]


def independent_labels() -> dict[str, object]:
    """P-values of labels that do not depend on the inputs, and what was claimed of them."""
    found: dict[str, object] = {}
    for shares in SHARES:
        results = []
        for seed in range(NUM_SEEDS):
            rng = np.random.default_rng([seed, len(found)])
            labels = rng.choice([f"class {k}" for k in range(len(shares))], size=NUM_ROWS, p=shares)
            results.append(run_audit(dataset_of(rng.normal(size=(NUM_ROWS, NUM_COLUMNS)), labels)))
        found["/".join(f"{share:g}" for share in shares)] = {
            "Kolmogorov p, complexity": kstest([r.complexity.p_value for r in results], "uniform").pvalue,
            "Kolmogorov p, dependence": kstest([r.dependence.p_value for r in results], "uniform").pvalue,
            "claims": [claim for result in results for claim in claims(result)],
        }
    return found


def target_noise() -> dict[str, object]:
    """How often the interval of the noise holds the true share, without noise and with some."""
    found: dict[str, object] = {}
    for name, function in TARGETS.items():
        inside = {0.0: 0, NOISE_SHARE: 0}
        for seed in range(NUM_SEEDS):
            rng = np.random.default_rng(seed)
            X = rng.uniform(-1, 1, size=(TARGET_ROWS, 6))
            clean = function(X)
            noise = rng.normal(size=TARGET_ROWS) * clean.std() * (NOISE_SHARE / (1 - NOISE_SHARE)) ** 0.5
            for share, y in ((0.0, clean), (NOISE_SHARE, clean + noise)):
                result = run_audit(dataset_of(X, y)).noise
                inside[share] += result.low <= share <= result.high
        found[name] = {f"{share:.0%} noise": f"{count} of {NUM_SEEDS}" for share, count in inside.items()}
    return found


def shuffled_wine() -> list[str]:
    """What is told of a table of wines whose quality is shuffled."""
    wine = tables(("regression-winequality_red",))["regression-winequality_red"]
    assert wine.labels is not None
    order = torch.randperm(wine.n, generator=torch.Generator().manual_seed(0))
    return list(sentences(run_audit(with_labels(wine, wine.labels[order]))))


def run() -> dict[str, object]:
    """All of it."""
    return {
        "independent labels": independent_labels(),
        "target noise": target_noise(),
        "shuffled wine": shuffled_wine(),
    }


if __name__ == "__main__":
    for title, record in run().items():
        print(title, record, sep="\n  ")
