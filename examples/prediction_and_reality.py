"""Lay the predicted training curve of a wide network over a real one, and take their difference apart.

    python examples/prediction_and_reality.py OUT

measures everything that docs/prediction-and-reality.md reports: one JSON file in the folder OUT for each
group of runs, and the figure. A group that is already there is not run again. The data set `mnist-2` must be
available; matplotlib draws the figure. The whole takes several minutes on two free cores.
"""

import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean

import matplotlib.pyplot as plt
import pandas
import torch
from matplotlib.axes import Axes
from torch import Tensor

from widenet.data import load
from widenet.networks.two_layer import FineGrainedNet, draw_fine_grained, fine_grained_outputs, finite_gram
from widenet.predict.curve import descent_distance, descent_loss
from widenet.spectrum.lanczos import SpectralMeasure
from widenet.training.descent import descend

LABEL_SEED = 1
KAPPAS = (1e-2, 1.0, 10.0)
WIDTHS = (250, 1_000, 4_000, 16_000)


@dataclass(frozen=True)
class Setting:
    """One run: the first n rows, steps at η = 1/λ_max, the network, the labels.

    With an `eta_factor` below 1, η is that fraction of 1/λ_max, and every step is as many as make up for it.
    """

    n: int
    num_steps: int
    width: int
    kappa: float
    antisymmetric: bool
    labels: str = "true"
    seed: int = 0
    eta_factor: float = 1.0


PAPER = Setting(n=1_000, num_steps=300, width=10_000, kappa=1e-2, antisymmetric=False)
LAZY = replace(PAPER, kappa=1.0, antisymmetric=True)
SMALL = Setting(n=100, num_steps=100, width=4_000, kappa=1.0, antisymmetric=True)
BOTH_LABELS = ("true", "random")
GROUPS = {
    "paper": [replace(PAPER, labels=labels) for labels in BOTH_LABELS],
    "lazy": [replace(LAZY, labels=labels) for labels in BOTH_LABELS],
    "narrow": [
        replace(PAPER, width=2_000, labels=labels, antisymmetric=antisymmetric, seed=seed)
        for labels in BOTH_LABELS
        for antisymmetric, seed in ((False, 0), (False, 1), (False, 2), (True, 0))
    ],
    "eta": [
        replace(SMALL, kappa=1e-2, labels=labels, eta_factor=factor)
        for labels in BOTH_LABELS
        for factor in (1.0, 0.1)
    ],
    "kappa": [
        replace(SMALL, kappa=kappa, labels=labels, seed=seed)
        for kappa in (1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0, 10.0)
        for labels in BOTH_LABELS
        for seed in range(4)
    ],
    "width": [
        replace(SMALL, width=width, kappa=kappa, labels=labels, seed=seed)
        for width in WIDTHS
        for kappa in KAPPAS
        for labels in BOTH_LABELS
        for seed in range(4)
    ],
}


def linear_outputs(H: Tensor, target: Tensor, eta: float, step: int) -> Tensor:
    """u(k) of u(k+1) = u(k) + ηH(y − u(k)), u(0) = 0 [fine-grained, equation (7)], shape (n,)."""
    eigenvalues, eigenvectors = torch.linalg.eigh(H)
    return target - eigenvectors @ ((1 - eta * eigenvalues) ** step * (eigenvectors.T @ target))


def linear_curves(H: Tensor, target: Tensor, eta: float, steps: Tensor) -> tuple[Tensor, Tensor]:
    """Theorem 4.1 with Gram matrix H: residual norms and distances travelled at the given steps."""
    eigenvalues, eigenvectors = torch.linalg.eigh(H)
    measure = SpectralMeasure(
        nodes=eigenvalues.clamp(min=1e-12),  # H(0) of a narrow network may be singular
        weights=(eigenvectors.T @ target).square()[:, None],
    )
    return (2 * descent_loss(measure, eta, steps)).sqrt(), descent_distance(measure, eta, steps)


def limit_gram(X: Tensor) -> Tensor:
    """H∞_ij = x_i^T x_j (π − arccos x_i^T x_j) / 2π."""
    cosines = (X @ X.T).clamp(-1, 1).fill_diagonal_(1)
    return cosines * (torch.pi - torch.arccos(cosines)) / (2 * torch.pi)


def in_double(params: FineGrainedNet) -> FineGrainedNet:
    return FineGrainedNet(W=params.W.to(torch.float64), a=params.a.to(torch.float64))


def measure(setting: Setting, X: Tensor, y: Tensor) -> dict:
    """Train one network, and predict its curve from ever less knowledge of it."""
    X, y = X[: setting.n], y[: setting.n]
    if setting.labels == "random":
        generator = torch.Generator().manual_seed(LABEL_SEED)
        y = 2.0 * torch.randint(2, y.shape, generator=generator).to(y.dtype) - 1.0
    H_limit = limit_gram(X)
    lambda_max = float(torch.linalg.eigvalsh(H_limit)[-1])
    eta = setting.eta_factor / lambda_max
    stride = round(1 / setting.eta_factor)
    steps = torch.arange(0, stride * setting.num_steps + 1, stride, dtype=X.dtype)

    start = draw_fine_grained(
        setting.width,
        X.shape[1],
        setting.kappa,
        generator=torch.Generator().manual_seed(setting.seed),
        antisymmetric=setting.antisymmetric,
        dtype=torch.float32,
    )
    H_start = finite_gram(in_double(start), X)
    run = descend(start, X, y, eta=eta, num_steps=stride * setting.num_steps)
    H_end = finite_gram(in_double(run.params), X)

    residual_at_start = y - fine_grained_outputs(in_double(start), X)
    outputs_at_end = fine_grained_outputs(in_double(run.params), X)
    predicted_at_end = linear_outputs(H_limit, y, eta, stride * setting.num_steps)
    predicted, predicted_distance = linear_curves(H_limit, y, eta, steps)
    predicted_from_start, _ = linear_curves(H_limit, residual_at_start, eta, steps)
    predicted_from_gram, distance_from_gram = linear_curves(H_start, residual_at_start, eta, steps)
    return {
        **asdict(setting),
        "eta": eta,
        "measured": run.residual_norms[::stride].tolist(),
        "predicted": predicted.tolist(),
        "predicted_from_start": predicted_from_start.tolist(),
        "predicted_from_gram": predicted_from_gram.tolist(),
        "distance": run.distances[::stride].tolist(),
        "predicted_distance": predicted_distance.tolist(),
        "distance_from_gram": distance_from_gram.tolist(),
        "output_gap": float((outputs_at_end - predicted_at_end).norm() / y.norm()),
        "sign_changes": run.sign_changes,
        "mean_movement": float(run.neuron_movement.mean()),
        "gram_error": float((H_start - H_limit).norm() / H_limit.norm()),
        "gram_drift": float((H_end - H_start).norm() / H_limit.norm()),
    }


def deviation(row: dict, curve: str = "measured", reference: str = "predicted") -> float:
    """Largest relative distance between two curves over all steps."""
    a, b = torch.tensor(row[curve]), torch.tensor(row[reference])
    return float(((a - b).abs() / b).max())


def summary(row: dict) -> dict:
    """The deviation and its parts: from u(0), from H(0) − H∞, and from the signs that change on the way."""
    ends = ("measured", "predicted", "distance", "predicted_distance", "distance_from_gram")
    scalars = ("output_gap", "sign_changes", "mean_movement", "gram_error", "gram_drift")
    return {
        **{key: row[key] for key in Setting.__dataclass_fields__},
        "deviation": deviation(row),
        "from_start": deviation(row, "predicted_from_start", "predicted"),
        "from_width": deviation(row, "predicted_from_gram", "predicted_from_start"),
        "from_signs": deviation(row, "measured", "predicted_from_gram"),
        **{key: row[key][-1] for key in ends},
        **{key: row[key] for key in scalars},
    }


def draw_curves(axes: Axes, rows: list[dict], title: str) -> None:
    for row, colour in zip(rows, ("tab:blue", "tab:orange"), strict=True):
        axes.plot(row["measured"], color=colour, label=f"{row['labels']} labels, measured")
        axes.plot(row["predicted"], color=colour, linestyle="--", label=f"{row['labels']} labels, predicted")
    axes.set(title=title, xlabel="step k", ylabel="‖y − u(k)‖", yscale="log")
    axes.set_yticks([3, 5, 10, 20, 30], labels=["3", "5", "10", "20", "30"])
    axes.minorticks_off()
    axes.legend(fontsize="small")


def draw_scaling(axes: Axes, rows: list[dict]) -> None:
    for kappa, marker in zip(KAPPAS, "sod", strict=True):
        for labels, colour in zip(BOTH_LABELS, ("tab:blue", "tab:orange"), strict=True):
            chosen = [row for row in rows if (row["kappa"], row["labels"]) == (kappa, labels)]
            gaps = [mean(row["output_gap"] for row in chosen if row["width"] == width) for width in WIDTHS]
            axes.plot(WIDTHS, gaps, color=colour, marker=marker, label=f"κ = {kappa:g}, {labels} labels")
    axes.plot(WIDTHS, [1 / width**0.5 for width in WIDTHS], "k:", label="slope −1/2")
    axes.set(title="n = 100, antisymmetric", xlabel="width m", ylabel="‖u(100) − ũ(100)‖ / ‖y‖")
    axes.set(xscale="log", yscale="log")
    axes.legend(fontsize="x-small")


def draw(results: dict[str, list[dict]], path: Path) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    draw_curves(axes[0], results["paper"], "n = 1,000, m = 10,000, κ = 0.01")
    draw_curves(axes[1], results["lazy"], "n = 1,000, m = 10,000, κ = 1, antisymmetric")
    draw_scaling(axes[2], results["width"])
    with plt.rc_context({"svg.hashsalt": "widenet"}):  # the same drawing is the same file
        figure.savefig(path, metadata={"Date": None})


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    dataset = load("mnist-2")
    X, y = dataset.X, dataset.Y[:, 0]
    results = {}
    for group, settings in GROUPS.items():
        path = out / f"{group}.json"
        if not path.exists():
            path.write_text(json.dumps([measure(setting, X, y) for setting in settings]))
        results[group] = json.loads(path.read_text())
        print(group, pandas.DataFrame(map(summary, results[group])).to_string(), sep="\n", flush=True)
    draw(results, out / "prediction-and-reality.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
