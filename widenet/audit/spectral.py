"""Learnability and training curves: everything that one block Lanczos run yields."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.audit.problem import Problem
from widenet.audit.result import Alignment, ColumnComplexity, Complexity, Curve, SpectrumSummary, StepsTo
from widenet.data.dataset import Dataset
from widenet.predict.curve import descent_distance, descent_loss, step_grid, steps_until
from widenet.spectrum.brackets import Bracket, bracket, inverse_bracket
from widenet.spectrum.lanczos import Krylov, SpectralMeasure, gauss_measure, lanczos
from widenet.spectrum.trace import rademacher

NUM_PROBES = 8  # random label vectors; their spread is the error bar of what is said of random labels
LABEL_WIDTH = 2e-6  # relative width of the bracket of Σ yᵀH⁻¹y at which the run may stop
PROBE_WIDTH = 1e-3  # the same for random labels, whose sampling error is larger than that anyway
SHOWN_WIDTH = 2e-4  # a bracket of Σ yᵀH⁻¹y wider than this is not shown as a value
MAX_STEPS = 600
SHARES = (0.5, 0.1, 0.01)
CURVE_ACCURACY = 0.01  # relative width of the loss's bracket up to which the curve is drawn
LAST_SHARE = 1e-4  # the curve ends where the slower of labels and random labels has this share left


@dataclass(frozen=True)
class LabelSpectrum:
    """The Lanczos run of an audit, started at targets, a constant and random labels.

    Attributes:
        krylov: The run itself; its columns are those of the targets, then the constant, then the probes.
        num_targets: Columns of the targets.
        random_mean: Square of the mean of random labels, summed over the columns.
        random_variance: Their variance, summed over the columns.
        floor: Certified lower bound on the spectrum.
        unfittable: Part of ‖Y‖² that stays whatever is learned.
    """

    krylov: Krylov
    num_targets: int
    random_mean: float
    random_variance: float
    floor: float
    unfittable: float

    def random(self, columns: Tensor) -> Tensor:
        """Expectation over random labels, one sample per probe, of a quantity given per column (..., p)."""
        constant, probes = columns[..., self.num_targets], columns[..., self.num_targets + 1 :]
        return self.random_mean * constant[..., None] + self.random_variance * probes

    def label_measure(self) -> SpectralMeasure:
        """Measure of the targets; what cannot be fitted lies on the eigenvalue 0."""
        measure = gauss_measure(self.krylov)
        unfittable = measure.weights.new_zeros(1, self.num_targets)
        unfittable[0, 0] = self.unfittable
        weights = torch.cat([unfittable, measure.weights[:, : self.num_targets]])
        return SpectralMeasure(torch.cat([measure.nodes.new_zeros(1), measure.nodes]), weights)

    def random_measure(self) -> SpectralMeasure:
        """Measure of random labels in expectation, averaged over the probes."""
        measure = gauss_measure(self.krylov)
        return SpectralMeasure(measure.nodes, self.random(measure.weights).mean(-1, keepdim=True))


def label_spectrum(
    dataset: Dataset,
    problem: Problem,
    *,
    generator: torch.Generator,
    progress: Callable[[int], None] | None = None,
) -> LabelSpectrum:
    """Run block Lanczos until the brackets of the labels' and of random labels' complexity have closed."""
    num_targets = problem.targets.shape[1]
    probes = rademacher(problem.gram.n, NUM_PROBES, generator=generator, dtype=problem.targets.dtype)
    constant = problem.weights[:, None]
    start = torch.cat([problem.targets, constant, constant * probes], dim=1)

    def closed(krylov: Krylov) -> bool:
        if progress is not None:
            progress(krylov.num_steps)
        bounds = inverse_bracket(krylov, problem.floor)
        return (
            _columns(bounds, slice(0, num_targets)).width() <= LABEL_WIDTH
            and _columns(bounds, slice(num_targets + 1, None)).width() <= PROBE_WIDTH
        )

    krylov = lanczos(problem.gram, start, num_steps=MAX_STEPS, stop=closed)
    # Random labels: fair signs, uniform classes as one-hot columns, or draws of mean 0 and variance 1.
    num_classes = len(dataset.classes)
    mean, variance = (1 / num_classes, 1 - 1 / num_classes) if dataset.task == "multiclass" else (0.0, 1.0)
    return LabelSpectrum(krylov, num_targets, mean, variance, problem.floor, problem.unfittable)


def complexity(dataset: Dataset, spectrum: LabelSpectrum) -> Complexity:
    """√(2 yᵀH⁻¹y / n) of the labels, of each column and of random labels [fine-grained, eq. 10]."""
    bounds = inverse_bracket(spectrum.krylov, spectrum.floor)
    labels = _columns(bounds, slice(0, spectrum.num_targets))
    names = dataset.classes if dataset.task == "multiclass" else ("target",)
    columns = tuple(
        ColumnComplexity(name, *_measures(_columns(bounds, slice(c, c + 1)), dataset.n))
        for c, name in enumerate(names)
    )
    random, random_error = _random_complexity(bounds, spectrum, dataset.n)
    return Complexity(*_measures(labels, dataset.n), random, random_error, columns, spectrum.krylov.num_steps)


def spectrum_summary(spectrum: LabelSpectrum, num_points: int = 80) -> SpectrumSummary:
    """The ends of the spectrum, and the share of label energy above each eigenvalue."""
    labels, random = spectrum.label_measure(), spectrum.random_measure()
    largest, smallest = float(random.nodes[-1]), float(random.nodes[0])
    start = max(smallest, 1e-12 * largest)
    grid = torch.logspace(math.log10(largest), math.log10(start), num_points, dtype=torch.float64)
    alignment = Alignment(
        _floats(grid), _floats(_share_above(labels, grid)), _floats(_share_above(random, grid))
    )
    return SpectrumSummary(largest, smallest, spectrum.floor or None, alignment)


def training_curve(spectrum: LabelSpectrum, eta: float | None) -> Curve:
    """Loss and movement of gradient descent for these labels, random ones and the worst [Theorem 4.1]."""
    labels, random = spectrum.label_measure(), spectrum.random_measure()
    largest, smallest = float(random.nodes[-1]), float(random.nodes[0])
    eta = 1 / largest if eta is None else eta
    energy = labels.weights.sum()[None, None]
    worst = SpectralMeasure(random.nodes[:1].clamp(min=0), energy)
    last = max(steps_until(measure, eta, LAST_SHARE) or 0 for measure in (labels, random))
    steps = _accurate(spectrum, eta, step_grid(max(last, 100)))
    fitted = SpectralMeasure(labels.nodes[1:], labels.weights[1:])
    bounds = _columns(inverse_bracket(spectrum.krylov, spectrum.floor), slice(0, spectrum.num_targets))
    return Curve(
        eta=eta,
        eta_max=2 / largest,
        steps=tuple(int(step) for step in steps),
        loss=_floats(descent_loss(labels, eta, steps)),
        random_loss=_floats(descent_loss(random, eta, steps)),
        worst_loss=_floats(descent_loss(worst, eta, steps)) if smallest > 0 else None,
        movement=_floats(descent_distance(fitted, eta, steps)),
        movement_limit=math.sqrt(float(bounds.lower.sum())) if bounds.width() <= SHOWN_WIDTH else None,
        steps_to=tuple(
            StepsTo(share, *(steps_until(measure, eta, share) for measure in (labels, random, worst)))
            for share in SHARES
        ),
        trained=None,
    )


def _accurate(spectrum: LabelSpectrum, eta: float, steps: Tensor) -> Tensor:
    """The steps up to which quadrature pins the labels' loss down; all where no bracket speaks against it."""
    if spectrum.floor <= 0:
        return steps
    bounds = bracket(spectrum.krylov, lambda x: (1 - eta * x).abs() ** (2 * steps[:, None]), spectrum.floor)
    assert bounds.upper is not None
    lower = bounds.lower[:, : spectrum.num_targets].sum(1) + spectrum.unfittable
    upper = bounds.upper[:, : spectrum.num_targets].sum(1) + spectrum.unfittable
    return steps[upper - lower <= CURVE_ACCURACY * upper]


def _random_complexity(bounds: Bracket, spectrum: LabelSpectrum, n: int) -> tuple[float | None, float | None]:
    """√(2 E[yᵀH⁻¹y] / n) and its standard error over the probes; None where their bracket is open."""
    probes = _columns(bounds, slice(spectrum.num_targets + 1, None))
    if probes.width() > 2 * PROBE_WIDTH:
        return None, None
    samples = spectrum.random(bounds.lower)
    mean, error = float(samples.mean()), float(samples.std()) / math.sqrt(NUM_PROBES)
    value = math.sqrt(2 * mean / n)
    return value, value * error / (2 * mean)


def _measures(bounds: Bracket, n: int) -> tuple[float | None, float, float | None]:
    """Value, lower and upper √(2 q / n) for a bracket of q summed over its columns."""
    lower = math.sqrt(2 * float(bounds.lower.sum()) / n)
    if bounds.upper is None:
        return None, lower, None
    upper = math.sqrt(2 * float(bounds.upper.sum()) / n)
    return ((lower + upper) / 2 if bounds.width() <= SHOWN_WIDTH else None), lower, upper


def _columns(bounds: Bracket, which: slice) -> Bracket:
    return Bracket(bounds.lower[..., which], None if bounds.upper is None else bounds.upper[..., which])


def _share_above(measure: SpectralMeasure, grid: Tensor) -> Tensor:
    weights = measure.weights.sum(1)
    above = measure.nodes[None, :] >= grid[:, None] * (1 - 1e-9)
    return (above * weights).sum(1) / weights.sum()


def _floats(values: Tensor) -> tuple[float, ...]:
    return tuple(values.tolist())
