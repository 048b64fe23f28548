"""Learnability and training curves: everything that one block Lanczos run yields."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import torch
from torch import Tensor

from widenet.audit.findings import (
    Alignment,
    ColumnComplexity,
    Complexity,
    SpectrumSummary,
    StepsTo,
    TrainingCurve,
)
from widenet.audit.problem import KernelProblem
from widenet.audit.shuffles import ShuffleTest
from widenet.base.checkpoint import NOWHERE, Checkpoint
from widenet.data.dataset import Dataset
from widenet.predict.curve import descent_distance, descent_loss, step_grid, steps_until
from widenet.spectrum.brackets import NUMERICAL_RANK, Bracket, inverse_bracket, residual_bracket
from widenet.spectrum.enclosure import Enclosure, complexity_ends
from widenet.spectrum.gram import num_to_fill
from widenet.spectrum.lanczos import (
    Krylov,
    SpectralMeasure,
    galerkin,
    gauss_measure,
    lanczos,
    radau_measure,
    smallest_ritz_value,
)
from widenet.spectrum.powers import ldexp
from widenet.spectrum.trace import rademacher

NUM_PROBES = 12  # random vectors, at least; their spread is the error bar of shuffled labels
SOLVED_COLUMNS = 32  # of a block and its targets, at least, where probes leave rows out: no matrix is held
LABEL_WIDTH = 2e-6  # relative width of the bracket of Σ yᵀH⁻¹y at which the run may stop
PROBE_WIDTH = 2e-4  # the same for shuffled labels, whose sampling error is larger than that anyway
SHOWN_WIDTH = 2e-4  # a bracket of Σ yᵀH⁻¹y wider than this is not shown as a value
END_ACCURACY = 0.15  # relative residual up to which the smallest Ritz value, most often far closer, is shown
MAX_DIMENSION = 2400  # of the Krylov space, whose matrix is decomposed again and again
MAX_SOLVED_DIMENSION = 4000  # where it is decomposed once
CHECK_EVERY = 4  # steps, where that costs little
MIN_STEPS = 40  # allowed all the same where many classes make the blocks wide
BLIND_STEPS = 64  # taken where no certified floor lets a bracket close
SHARES = (0.5, 0.1, 0.01)
CURVE_ACCURACY = 0.01  # relative width of the loss's bracket up to which the curve is drawn
ENDS_PER_DECADE = 4  # numbers of steps at which a curve may end
LAST_SHARE = 1e-4  # the curve ends where the slower of labels and shuffled labels has this share left


@dataclass(frozen=True)
class SolvedProbes:
    """H⁻¹ times the targets and random signs, read off a Krylov space that starts at them."""

    alpha: Tensor  # of the targets, shape (u, c)
    probes: Tensor  # random signs, shape (u, s)
    solved: Tensor  # of these, shape (u, s)


@dataclass(frozen=True)
class LabelSpectrum:
    """The Lanczos run of an audit, as one started at targets, a constant and random vectors.

    Shuffled labels are their mean and, orthogonal to the constant vector, a part in a random direction:
    E[y yᵀ] = ȳ² 11ᵀ + n σ² / (n − 1) (I − 11ᵀ/n).

    Attributes:
        krylov: The run itself, for the columns of the targets, then the constant, then the probes.
        inverse: Bounds on vᵀH⁻¹v of each column.
        num_targets: Columns of the targets.
        mean: ȳ², summed over the columns.
        variance: n σ² / (n − 1), summed over the columns.
        floor: Certified lower bound on the spectrum.
        unfittable: Part of ‖Y‖² that stays whatever is learned.
        shuffled_unfittable: The same for shuffled labels, in expectation.
        solved: The solves of the run where no matrix is held; None elsewhere, or where rounding spoilt them.
        is_proved: Whether the bounds of `inverse` are proved, rounding included.
    """

    krylov: Krylov
    inverse: Bracket
    num_targets: int
    mean: float
    variance: float
    floor: float
    unfittable: float
    shuffled_unfittable: float
    solved: "SolvedProbes | None" = None
    is_proved: bool = False

    def labels(self, columns: Tensor) -> Tensor:
        """The targets' sum of a quantity given per column (..., p), as one column."""
        return columns[..., : self.num_targets].sum(-1, keepdim=True)

    def shuffled(self, columns: Tensor) -> Tensor:
        """Expectation over shuffles, one sample per probe, of a quantity given per column (..., p)."""
        constant, probes = columns[..., self.num_targets], columns[..., self.num_targets + 1 :]
        return self.mean * constant[..., None] + self.variance * probes

    @property
    def enclosure(self) -> Enclosure | None:
        """The bounds of the targets where their rounding is proved."""
        if self.inverse.upper is None or not self.is_proved:
            return None
        return Enclosure(self.inverse.lower[: self.num_targets], self.inverse.upper[: self.num_targets])

    @cached_property
    def gauss(self) -> SpectralMeasure:
        """The run's quadrature."""
        return gauss_measure(self.krylov)

    def _measure(self) -> SpectralMeasure:
        """The same; H has no negative eigenvalues, so a node below 0 is rounding."""
        return SpectralMeasure(self.gauss.nodes.clamp(min=0), self.gauss.weights)

    def label_measure(self) -> SpectralMeasure:
        """Measure of the targets; what cannot be fitted lies on the eigenvalue 0."""
        measure = self._measure()
        return _with_unfittable(SpectralMeasure(measure.nodes, self.labels(measure.weights)), self.unfittable)

    def shuffled_measure(self) -> SpectralMeasure:
        """The same of shuffled labels in expectation, averaged over the probes."""
        measure = self._measure()
        weights = self.shuffled(measure.weights).mean(-1, keepdim=True)
        return _with_unfittable(SpectralMeasure(measure.nodes, weights), self.shuffled_unfittable)


def _with_unfittable(measure: SpectralMeasure, energy: float) -> SpectralMeasure:
    zero, weight = measure.nodes.new_zeros(1), measure.weights.new_full((1, 1), energy)
    return SpectralMeasure(torch.cat([zero, measure.nodes]), torch.cat([weight, measure.weights]))


def label_spectrum(
    problem: KernelProblem,
    *,
    generator: torch.Generator,
    progress: Callable[[int], None] | None = None,
    checkpoint: Checkpoint = NOWHERE,
    certified: Checkpoint = NOWHERE,
) -> LabelSpectrum:
    """Run block Lanczos until the brackets of the labels' and of shuffled labels' complexity have closed.

    Where no matrix is held, the run also solves for the targets and for the probes, and its bounds are found
    from these by one product in float64, whatever the precision of the run. It starts at the difference of
    two close points, too: the brackets close long before random vectors alone find the smallest eigenvalue.
    """
    n, num_targets = problem.Y.shape
    is_solving = _is_solving(problem)
    num_other = num_targets + (1 if problem.close_pair is None else 2)
    least = max(NUM_PROBES, SOLVED_COLUMNS - num_other) if is_solving else NUM_PROBES
    num_probes = least + num_to_fill(num_other + least)
    probes = rademacher(
        problem.gram.n, num_probes, generator=generator, dtype=problem.Y.dtype, device=problem.Y.device
    )
    constant = problem.points.counts.sqrt()[:, None]  # D^½ 1, of norm √n
    along = constant.T @ probes / n
    start = torch.cat([problem.targets, constant, probes - constant @ along], dim=1)
    krylov = _run(problem, start, progress, checkpoint)
    solved = None
    if not is_solving:
        inverse = inverse_bracket(krylov, problem.floor)
    elif krylov.solution is None:  # T is not positive definite, as it would be but for rounding
        inverse = Bracket(krylov.start.new_zeros(start.shape[1]), None)
    else:
        Z = krylov.solution * (start != 0).any(0)  # what rounding makes of columns of zeros is none
        alpha, of_constant, of_probes = Z.tensor_split((num_targets, num_targets + 1), dim=1)
        solved = SolvedProbes(alpha, probes, of_probes + of_constant @ along)
        inverse = _certified(problem, start, Z, certified)
    mean = float(problem.Y.mean(0).square().sum())
    variance = float(problem.Y.var(0).sum()) if n > 1 else 0.0
    return LabelSpectrum(
        krylov=krylov,
        inverse=inverse,
        num_targets=num_targets,
        mean=mean,
        variance=variance,
        floor=problem.floor,
        unfittable=problem.unfittable,
        shuffled_unfittable=variance * problem.points.num_repeated,
        solved=solved,
        is_proved=solved is not None and problem.exact is not None and problem.exact.is_proof,
    )


def _is_solving(problem: KernelProblem) -> bool:
    """Whether the run also solves, for bounds by one product in float64."""
    return problem.exact is not None and problem.floor > 0


def _run(
    problem: KernelProblem,
    start: Tensor,
    progress: Callable[[int], None] | None,
    checkpoint: Checkpoint,
) -> Krylov:
    """The run that starts at these columns (u, p) and at a close pair, as one that starts at the columns."""
    num_targets = problem.Y.shape[1]
    units = _units(start, num_targets)
    in_proportion = torch.cat([units[:num_targets] / units[:num_targets].max(), units[num_targets:]])
    V = start / units
    if problem.close_pair is not None:
        V = torch.cat([V, _pair(problem)], dim=1)
    has_closed = partial(_has_solved if _is_solving(problem) else _has_closed, problem)

    def stop(krylov: Krylov) -> bool:
        if progress is not None:
            progress(krylov.num_steps)
        return has_closed(_started_at(krylov, in_proportion))  # squares of all units may underflow

    most = MAX_SOLVED_DIMENSION if problem.gram.dtype == torch.float32 else MAX_DIMENSION
    krylov = lanczos(
        problem.gram,
        V,
        num_steps=max(most // V.shape[1], MIN_STEPS) if problem.floor > 0 else BLIND_STEPS,
        stop=stop,
        check_every=CHECK_EVERY if _is_solving(problem) else 8,
        solve=_is_solving(problem),
        checkpoint=checkpoint,
    )
    return _started_at(krylov, units)


def _pair(problem: KernelProblem) -> Tensor:
    """D^-½ (e_i − e_j) of two close points in the length of random signs, shape (u, 1).

    From it a run finds the smallest eigenvalue much sooner.
    """
    assert problem.close_pair is not None
    pair = problem.close_pair / problem.points.counts.sqrt()[:, None]
    return pair * (math.sqrt(len(pair)) / float(pair.norm()))


def _started_at(krylov: Krylov, units: Tensor) -> Krylov:
    """The run as one for the first columns of its start, each times its unit (p,)."""
    num_columns = len(units)
    solution = None if krylov.solution is None else krylov.solution[:, :num_columns] * units
    return replace(krylov, start=krylov.start[:, :num_columns] * units.cpu(), solution=solution)


def _units(start: Tensor, num_targets: int) -> Tensor:
    """Powers of 2 in which each target is as large as the other columns, shape (p,).

    What is much smaller than the others would pass for rounding.
    """
    exponents = torch.frexp(start.abs().amax(0)).exponent - 1
    exponents[num_targets:] = 0
    return ldexp(torch.ones_like(start[0]), exponents)


def _has_closed(problem: KernelProblem, krylov: Krylov) -> bool:
    """Whether the brackets of the run are narrow, and its smallest Ritz value is an eigenvalue."""
    bounds = inverse_bracket(krylov, problem.floor)
    return _are_narrow(bounds, problem.Y.shape[1]) and _end_is_found(krylov)


def _has_solved(problem: KernelProblem, krylov: Krylov) -> bool:
    """The same of the bounds that the solutions in the space would give."""
    found = galerkin(krylov)
    if found is None:
        return False
    bounds = Bracket(found.quadratic, found.quadratic + found.residual.square() / problem.floor)
    return _are_narrow(bounds, problem.Y.shape[1]) and _end_is_found(krylov)


def _are_narrow(bounds: Bracket, num_targets: int) -> bool:
    labels, probes = _columns(bounds, slice(0, num_targets)), _columns(bounds, slice(num_targets + 1, None))
    return labels.width() <= LABEL_WIDTH and probes.width() <= PROBE_WIDTH


def _certified(problem: KernelProblem, V: Tensor, Z: Tensor, kept: Checkpoint) -> Bracket:
    """Bounds on vᵀH⁻¹v of each column with their rounding, as those of D^-½V over H of the points.

    Of the targets that is ȳ, whose own rounding is counted, too.
    """
    if (saved := kept.load()) is not None:
        return Bracket(torch.from_numpy(saved.arrays["lower"]), torch.from_numpy(saved.arrays["upper"]))
    points, exact, num_targets = problem.points, problem.exact, problem.Y.shape[1]
    assert exact is not None
    weights = points.counts.sqrt()[:, None]
    V, Z = V / weights, (weights * Z).cpu()
    V[:, :num_targets], off = points.means(problem.Y), torch.zeros_like(V)
    off[:, :num_targets] = points.rounding_of_means(problem.Y)
    found = residual_bracket(exact.gram, V.cpu(), Z, floor=problem.floor, error=exact.rounding, off=off.cpu())
    assert found.upper is not None
    kept.finish({"lower": found.lower.numpy(), "upper": found.upper.numpy()})
    return found


def complexity(
    dataset: Dataset, spectrum: LabelSpectrum, test: ShuffleTest, enclosure: Enclosure | None
) -> Complexity:
    """√(2 yᵀH⁻¹y / n) of the labels, of each column and of shuffled labels [fine-grained, eq. 10].

    The bounds are those of the enclosure, where there is one, else those of the Lanczos run, which hold up to
    rounding.
    """
    n, bounds = dataset.n, spectrum.inverse
    labels = _columns(bounds, slice(0, spectrum.num_targets))
    certified = enclosure is not None and bool(enclosure.upper.isfinite().all())
    if enclosure is not None and certified:
        labels = Bracket(enclosure.lower, enclosure.upper)
    names = dataset.classes if dataset.task == "multiclass" else _target_names(spectrum.num_targets)
    each = (_measures(_columns(labels, slice(c, c + 1)), n) for c in range(len(names)))
    value, lower, upper = _measures(labels, n)
    shuffled, error = _shuffled_complexity(bounds, spectrum, n)
    return Complexity(
        value=value,
        lower=lower,
        upper=upper,
        certified=certified,
        shuffled=shuffled,
        shuffled_error=error,
        shuffled_std=None if shuffled is None else shuffled * test.spread(n) / 2,
        p_value=test.p_value,
        columns=tuple(ColumnComplexity(name, *found) for name, found in zip(names, each, strict=True)),
        num_matvecs=spectrum.krylov.num_steps,
    )


def _target_names(num_targets: int) -> tuple[str, ...]:
    return ("target",) if num_targets == 1 else tuple(f"target {c + 1}" for c in range(num_targets))


def spectrum_summary(spectrum: LabelSpectrum, num_points: int = 80) -> SpectrumSummary:
    """The ends of the spectrum, and the share of label energy above each eigenvalue."""
    labels, shuffled = spectrum.label_measure(), spectrum.shuffled_measure()
    largest = float(shuffled.nodes[-1])
    smallest = float(shuffled.nodes[1]) if _end_is_found(spectrum.krylov) else None  # 0 comes before it
    start = max(float(shuffled.nodes[1]), 1e-12 * largest)
    grid = torch.logspace(math.log10(largest), math.log10(start), num_points, dtype=torch.float64)
    shares = (_floats(_share_above(measure, grid)) for measure in (labels, shuffled))
    alignment = Alignment(_floats(grid), *shares)
    return SpectrumSummary(largest, smallest, spectrum.floor or None, alignment)


def training_curve(spectrum: LabelSpectrum, eta: float | None) -> TrainingCurve:
    """Loss and movement of gradient descent for these labels, shuffled ones and the worst [Theorem 4.1]."""
    labels, shuffled = spectrum.label_measure(), spectrum.shuffled_measure()
    largest = float(shuffled.nodes[-1])
    eta = 1 / largest if eta is None else eta
    worst = SpectralMeasure(shuffled.nodes[1:2], labels.weights.sum()[None, None])
    known_end = _end_is_found(spectrum.krylov)
    ends = (steps_until(m, eta, share) for m in (labels, shuffled) for share in (*SHARES, LAST_SHARE))
    last = max(step or 0 for step in ends)
    steps = _accurate(spectrum, eta, step_grid(_round_number(max(last, 100))))
    bounds = _columns(spectrum.inverse, slice(0, spectrum.num_targets))
    return TrainingCurve(
        eta=eta,
        eta_max=2 / largest,
        steps=tuple(int(step) for step in steps),
        loss=_floats(descent_loss(labels, eta, steps)),
        random_loss=_floats(descent_loss(shuffled, eta, steps)),
        worst_loss=_floats(descent_loss(worst, eta, steps)) if known_end else None,
        movement=_floats(descent_distance(labels, eta, steps)),
        movement_limit=math.sqrt(float(bounds.lower.sum())) if bounds.width() <= SHOWN_WIDTH else None,
        steps_to=tuple(
            StepsTo(
                share,
                labels=_up_to(steps, steps_until(labels, eta, share)),
                random=_up_to(steps, steps_until(shuffled, eta, share)),
                worst=steps_until(worst, eta, share) if known_end else None,
            )
            for share in SHARES
        ),
        trained=None,
    )


def _round_number(last: int) -> int:
    """The next of 100, 178, 316, 562, 1000, ...: a step that rounding moves by 1 must not move the grid."""
    return round(10 ** (math.ceil(ENDS_PER_DECADE * math.log10(last) - 1e-6) / ENDS_PER_DECADE))


def _up_to(steps: Tensor, step: int | None) -> int | None:
    """The step, if it lies where the curve is known."""
    return step if step is not None and step <= steps[-1] else None


def _end_is_found(krylov: Krylov) -> bool:
    value, residual = smallest_ritz_value(krylov)
    return residual <= END_ACCURACY * value


def _accurate(spectrum: LabelSpectrum, eta: float, steps: Tensor) -> Tensor:
    """The steps up to which the labels' and the shuffled labels' loss are bracketed narrowly.

    Beyond η = 1/λ_max the two rules no longer bound the loss, but their difference still shows how well it
    is known.
    """
    largest = float(spectrum.gauss.nodes[-1])
    node = spectrum.floor if spectrum.floor > 0 else -NUMERICAL_RANK * largest  # H is positive semi-definite
    rules = (spectrum.gauss, radau_measure(spectrum.krylov, node))
    below, above = (rule.integrate(lambda x: (1 - eta * x).abs() ** (2 * steps[:, None])) for rule in rules)
    known = torch.ones(len(steps), dtype=torch.bool)
    for select, stays in (
        (spectrum.labels, spectrum.unfittable),
        (spectrum.shuffled, spectrum.shuffled_unfittable),
    ):
        lower, upper = select(below).mean(-1) + stays, select(above).mean(-1) + stays
        known &= (upper - lower).abs() <= CURVE_ACCURACY * upper
    return steps[: int(known.to(torch.int64).cumprod(0).sum())]


def _shuffled_complexity(
    bounds: Bracket, spectrum: LabelSpectrum, n: int
) -> tuple[float | None, float | None]:
    """√(2 E[yᵀH⁻¹y] / n) and its standard error over the probes; None where their bracket is open."""
    probes = _columns(bounds, slice(spectrum.num_targets + 1, None))
    if probes.width() > 2 * PROBE_WIDTH or bounds.upper is None:
        return None, None
    samples = spectrum.shuffled((bounds.lower + bounds.upper) / 2)
    mean, error = float(samples.mean()), float(samples.std()) / math.sqrt(samples.numel())
    value = math.sqrt(2 * mean / n)
    return value, value * error / (2 * mean) if mean > 0 else 0.0


def _measures(bounds: Bracket, n: int) -> tuple[float | None, float, float | None]:
    """Value, lower and upper √(2 q / n) for a bracket of q summed over its columns, rounded outward."""
    if bounds.upper is None:
        return None, math.sqrt(max(0.0, 2 * float(bounds.lower.sum()) / n)), None
    lower, upper = complexity_ends(Enclosure(bounds.lower, bounds.upper).total(), n)
    return ((lower + upper) / 2 if bounds.width() <= SHOWN_WIDTH else None), lower, upper


def _columns(bounds: Bracket, which: slice) -> Bracket:
    return Bracket(bounds.lower[..., which], None if bounds.upper is None else bounds.upper[..., which])


def _share_above(measure: SpectralMeasure, grid: Tensor) -> Tensor:
    weights = measure.weights.sum(1)
    above = measure.nodes[None, :] >= grid[:, None] * (1 - 1e-9)
    return (above * weights).sum(1) / weights.sum()


def _floats(values: Tensor) -> tuple[float, ...]:
    return tuple(values.tolist())
