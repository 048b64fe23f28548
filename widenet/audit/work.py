"""The kernel matrices of one audit: leaving rows out, and shuffling their labels."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from widenet.audit.findings import Dependence
from widenet.audit.kept import built, kept_stage
from widenet.audit.problem import ExactGram, KernelProblem, weighted_gram
from widenet.audit.shuffles import ShuffleTest, shuffle_test
from widenet.audit.spectral import NUM_PROBES, SOLVED_COLUMNS, LabelSpectrum, label_spectrum
from widenet.base.errors import NotConvergedError
from widenet.base.progress import Progress
from widenet.data.dataset import Dataset
from widenet.data.points import Points, points_of
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.moments import largest_far_cosine, squared_norms
from widenet.predict.landmarks import LandmarkFit, landmark_leave_one_out
from widenet.predict.loo import (
    LeaveOneOut,
    by_row,
    estimated_leave_one_out,
    inverse_root,
    leave_one_out,
    left_out,
    left_out_by_probes,
)
from widenet.predict.nearby import Surroundings, nearby_precision, surroundings
from widenet.runs.checkpoints import Checkpoints
from widenet.runs.device import CPU
from widenet.spectrum.enclosure import Enclosure, enclose, is_provable, proved_floor
from widenet.spectrum.floor import (
    cholesky_floor,
    close_pair,
    eigenvalue_floor,
    floor_of,
    neighbour_counts,
    num_closer,
    product_rounding,
    smallest_sine,
)
from widenet.spectrum.gram import DenseGram, Gram, num_to_fill

JITTER = 1e-8  # of the mean diagonal: lets rows that nearly coincide be left out all the same
PRECONDITIONER_RANK = 1200
SINGLE_MARGIN = 100  # by which eigenvalues exceed the rounding of float32 where it is used
MOST_CLOSE = 0.0025  # of all pairs: one that is computed again in float64 takes a hundred times as long
PART_ROWS = 4096  # whose labels are shuffled where the matrix of all rows is not at hand

GramMaker = Callable[[Kernel, Tensor, torch.dtype], Gram]


@dataclass(frozen=True)
class Interpolation:
    """What the inverse of the kernel matrix tells."""

    loo: LeaveOneOut | None  # of all rows; None where it did not converge
    complexity: ShuffleTest  # of yᵀH⁻¹y
    dependence: Dependence
    enclosure: Enclosure | None  # of yᵀH⁻¹y, rounding included; None where that is not proved


@dataclass(frozen=True)
class Work:
    """Kernel matrices over the distinct points of a data set."""

    dataset: Dataset
    points: Points
    make_gram: GramMaker
    generator: torch.Generator
    progress: Progress
    checkpoints: Checkpoints
    device: torch.device = CPU  # where kernel matrices are held; data, points and results are on the CPU

    def gram(self, kernel: Kernel) -> Gram:
        """The Gram operator of the distinct points."""
        return self.make_gram(kernel, self._inputs, torch.float64)

    def problem(self, kernel: Kernel) -> KernelProblem:
        """The problem of all rows, with a proved floor under its spectrum where one is found."""
        gram = self.gram(kernel)
        if (matrix := gram.held()) is not None:
            return self._problem(weighted_gram(gram, self._device_points), self._floor(kernel, matrix))
        if self.device != CPU:  # proofs are the CPU's
            gram = self.make_gram(kernel, self._inputs.cpu(), torch.float64)
        floor, exact = floor_of(kernel, self.neighbours), self._exact(kernel, gram)
        pair = close_pair(self._inputs, self.neighbours)
        return replace(self._problem(self._gram_above(kernel, floor), floor), exact=exact, close_pair=pair)

    def _problem(self, gram: Gram, floor: float = 0.0) -> KernelProblem:
        """The problem of all rows, with this operator of D^½ H D^½."""
        return KernelProblem(gram, self._device_points, self.dataset.Y.to(self.device), floor)

    @cached_property
    def _device_points(self) -> Points:
        return self.points.to(self.device)

    def _exact(self, kernel: Kernel, gram: Gram) -> ExactGram:
        """The operator of bounds, from one in float64 whose matrix is not held."""
        recomputed, sine = gram.recomputed(), smallest_sine(self.neighbours)
        is_unit = bool((squared_norms(self._inputs.cpu()) == 1).all())
        is_proof = recomputed is not None and is_provable(kernel) and is_unit
        rounding = product_rounding(kernel, self._inputs, sine) if sine > 0 else math.inf
        return ExactGram(gram if recomputed is None else recomputed, rounding, is_proof)

    @cached_property
    def neighbours(self) -> Tensor:
        """How many points lie at each distance of each, which tells a floor under any kernel's spectrum."""
        kept = self.checkpoints.stage("floor under the spectrum")
        if (saved := kept.load()) is not None:
            return torch.from_numpy(saved.arrays["counts"])
        self.progress("floor under the spectrum")
        counts = neighbour_counts(self._inputs)
        kept.finish({"counts": counts.numpy()})
        return counts

    @property
    def _inputs(self) -> Tensor:
        """The distinct points themselves, shape (u, d): the rows, and no copy of them, where none repeats."""
        X, points = self.dataset.X, self.points
        return (X[points.first] if points.num < len(X) else X).to(self.device)

    def _gram_above(self, kernel: Kernel, floor: float) -> Gram:
        """The weighted operator, in float32 where its eigenvalues, above this floor, let that suffice.

        Its entries are then made of rows in float32, too, in half the time, unless many rows are close.
        """
        scale = max(1.0, float(kernel.diag(self._inputs).max()))  # that of its entries
        dtype = torch.float32 if _single_suffices(self.points, floor / scale) else torch.float64
        X = self._inputs.to(torch.float64 if self._has_many_close_pairs else dtype)
        return weighted_gram(self.make_gram(kernel, X, dtype), self._device_points)

    @property
    def _has_many_close_pairs(self) -> bool:
        """Whether kernels might spend more time on pairs that are close in float32 than its rows save.

        Opposite rows count as close here, though kernels do not compute them again.
        """
        pairs = max(1, self.points.num * (self.points.num - 1))
        return num_closer(self.neighbours, largest_far_cosine(torch.float32)) > MOST_CLOSE * pairs

    def spectrum(self, problem: KernelProblem) -> LabelSpectrum:
        """The labels and shuffled ones on the spectrum of the problem."""
        stage = "labels on the spectrum"
        return label_spectrum(
            problem,
            generator=self.generator,
            progress=self.count(stage),
            checkpoint=self.checkpoints.stage(stage),
            certified=self.checkpoints.stage("bounds with their rounding"),
        )

    def interpolate(self, kernel: Kernel, problem: KernelProblem, spectrum: LabelSpectrum) -> Interpolation:
        """Leave rows out without a ridge, and shuffle their labels: those of a part, if there are many."""
        kept = self.checkpoints.stage("shuffled labels")
        arrays = kept_stage(kept, self.generator, lambda: vars(self._interpolate(kernel, problem, spectrum)))
        complexity = built(ShuffleTest, "complexity", arrays)
        dependence = built(Dependence, "dependence", arrays)
        assert complexity is not None
        assert dependence is not None
        return Interpolation(
            built(LeaveOneOut, "loo", arrays), complexity, dependence, built(Enclosure, "enclosure", arrays)
        )

    def _interpolate(self, kernel: Kernel, problem: KernelProblem, spectrum: LabelSpectrum) -> Interpolation:
        ridge, matrix, part = _jitter(problem), problem.gram.held(), self._part(kernel)
        dependence = self._depend(part)
        if matrix is None:
            loo = self.left_out_by_tiles(kernel, problem, spectrum, ridge)
            complexity = shuffle_test(part, self._root(part, _jitter(part)), generator=self.generator)
            return Interpolation(loo, complexity, dependence, spectrum.enclosure)
        self.progress("leave one out")
        root, ridge = _root_above(matrix, ridge, JITTER * problem.mean_diagonal)
        enclosure = self._enclose(problem, root) if problem.floor > 0 and is_provable(kernel) else None
        return Interpolation(
            loo=by_row(left_out(root, problem.targets), problem.points, ridge),
            complexity=shuffle_test(problem, root, generator=self.generator),
            dependence=dependence,
            enclosure=enclosure,
        )

    def fit(self, kernel: Kernel, ridge: float) -> LeaveOneOut:
        """Leave rows out with a ridge, all rows of a point together."""
        kept = self.checkpoints.stage("predictions for wrong labels")
        arrays = kept_stage(kept, self.generator, lambda: {"loo": self._fit(kernel, ridge)})
        loo = built(LeaveOneOut, "loo", arrays)
        assert loo is not None
        return loo

    def _fit(self, kernel: Kernel, ridge: float) -> LeaveOneOut:
        gram, stage = weighted_gram(self.gram(kernel), self._device_points), "wrong labels"
        if (matrix := gram.held()) is not None:
            self.progress(stage)
            targets = self._problem(gram).targets
            return by_row(leave_one_out(matrix, targets, ridge), self._device_points, ridge)
        gram = self._gram_above(kernel, ridge + floor_of(kernel, self.neighbours))
        targets = self._problem(gram).targets
        self.progress(stage)
        if (loo := self._estimate(kernel, gram, targets, ridge, stage)) is None:
            raise NotConvergedError(
                f"The labels of {self.dataset.n:,} rows could not be judged, because the solves with "
                f"{kernel.name} and ridge {ridge:.2g} did not converge: audit a sample with `rows`."
            )
        return loo

    def fit_landmarks(self, kernel: Kernel, ridge: float, num_landmarks: int) -> LandmarkFit:
        """Leave rows out of a regression on some of them, all rows of a point together."""
        kept = self.checkpoints.stage(f"predictions by {num_landmarks} landmarks, {kernel.name}, {ridge!r}")
        arrays = kept_stage(
            kept, self.generator, lambda: {"fit": self._fit_landmarks(kernel, ridge, num_landmarks)}
        )
        fit = built(LandmarkFit, "fit", arrays)
        assert fit is not None
        return fit

    def _fit_landmarks(self, kernel: Kernel, ridge: float, num_landmarks: int) -> LandmarkFit:
        def tell(done: int) -> None:
            self.progress("labels of all rows", done, 2 * self.points.num)

        return landmark_leave_one_out(
            kernel,
            self.dataset.X.to(self.device),
            self.dataset.Y.to(self.device),
            self._device_points,
            ridge,
            num_landmarks=num_landmarks,
            generator=self.generator,
            progress=tell,
        )

    def count(self, stage: str) -> Callable[[int], None]:
        """Tell the stage, and then how many products with the Gram matrix it has made."""
        self.progress(stage)
        return lambda num_products: self.progress(stage, num_products, detail="products")

    def _floor(self, kernel: Kernel, matrix: Tensor) -> float:
        """A number below λ_min: by proof where the rounding of the matrix is known, else up to that."""
        X = self._inputs
        return proved_floor(X) if is_provable(kernel) else _found_floor(kernel, X, matrix)

    def _enclose(self, problem: KernelProblem, root: Tensor) -> Enclosure:
        """Both ends of ȳᵀH⁻¹ȳ over the points, with α = H⁻¹ȳ from the root of D^½ H D^½."""
        self.progress("bounds with their rounding")
        points = problem.points
        alpha = points.counts.sqrt()[:, None] * (root.T @ (root @ problem.targets))
        Y = problem.Y
        return enclose(self._inputs, points.means(Y), alpha, problem.floor, points.rounding_of_means(Y))

    def _depend(self, problem: KernelProblem) -> Dependence:
        """The fit with a ridge of k̄ among shuffles of points and of rows, the same where no row repeats."""
        root = self._root(problem, problem.mean_diagonal)
        by_point = shuffle_test(problem, root, generator=self.generator, by_point=True)
        by_row = by_point
        if problem.points.num_repeated:
            by_row = shuffle_test(problem, root, generator=self.generator)
        return Dependence(by_point.p_value, by_row.p_value, by_row.rows)

    def _root(self, problem: KernelProblem, ridge: float) -> Tensor:
        self.progress("shuffled labels")
        matrix = problem.gram.held()
        assert matrix is not None
        return inverse_root(matrix, ridge)

    def _part(self, kernel: Kernel) -> KernelProblem:
        """The problem of some rows, drawn at random, whose matrix can be held, or of all if these are few."""
        rows = torch.randperm(self.dataset.n, generator=self.generator)[:PART_ROWS]
        points = points_of(self.points.place[rows])
        X, Y = (part.to(self.device) for part in (self.dataset.X[rows[points.first]], self.dataset.Y[rows]))
        points = points.to(self.device)
        gram = weighted_gram(DenseGram(gram_matrix(kernel, X)), points)
        return KernelProblem(gram, points, Y, floor=0.0)

    def left_out_by_tiles(
        self, kernel: Kernel, problem: KernelProblem, spectrum: LabelSpectrum, ridge: float
    ) -> LeaveOneOut | None:
        """From the solves of the spectrum's run, where it made them."""
        if (found := spectrum.solved) is None:
            return self._estimate(kernel, problem.gram, problem.targets, ridge, "leave one out")
        loo = left_out_by_probes(
            problem.targets,
            found.alpha,
            found.probes,
            found.solved,
            problem.gram.diag(),
            self._nearby(kernel, ridge),
        )
        return by_row(loo, problem.points, ridge)

    def _nearby(self, kernel: Kernel, ridge: float) -> Tensor:
        """What a few rows tell of how precisely each point is predicted, shape (u,)."""
        return nearby_precision(kernel, self._inputs, self._device_points.counts, ridge, self._surroundings)

    @cached_property
    def _surroundings(self) -> Surroundings:
        return surroundings(self._inputs)

    def _estimate(
        self, kernel: Kernel, gram: Gram, targets: Tensor, ridge: float, stage: str
    ) -> LeaveOneOut | None:
        """Leave rows out where no matrix is held; None where the solves do not converge."""
        kept, sketched = map(self.checkpoints.stage, (stage, f"{stage}, preconditioner"))
        least = max(NUM_PROBES, SOLVED_COLUMNS - targets.shape[1])
        try:
            loo = estimated_leave_one_out(
                gram,
                targets,
                ridge,
                self._nearby(kernel, ridge),
                num_probes=least + num_to_fill(least + targets.shape[1]),
                rank=min(PRECONDITIONER_RANK, max(1, gram.n // 4)),
                generator=self.generator,
                progress=self.count(stage),
                checkpoint=kept,
                sketched=sketched,
            )
        except NotConvergedError:
            kept.drop()
            sketched.drop()
            return None
        return by_row(loo, self._device_points, ridge)


def _found_floor(kernel: Kernel, X: Tensor, matrix: Tensor) -> float:
    return eigenvalue_floor(kernel, X) or cholesky_floor(matrix, len(X))


def _root_above(matrix: Tensor, ridge: float, jitter: float) -> tuple[Tensor, float]:
    """R of `inverse_root` and its ridge, with the jitter where λ_min is lost in the rounding of entries."""
    try:
        return inverse_root(matrix, ridge), ridge
    except torch.linalg.LinAlgError:
        return inverse_root(matrix, ridge + jitter), ridge + jitter


def _jitter(problem: KernelProblem) -> float:
    """What makes a matrix without a proved floor safe to invert."""
    return 0.0 if problem.floor > 0 else JITTER * problem.mean_diagonal


def _single_suffices(points: Points, floor: float) -> bool:
    """Whether D^½ H D^½ in float32 is exact enough to solve with, if its eigenvalues exceed `floor`.

    The floor is that of entries of H up to 1.

    Errors of its entries, and those of sums in its products, which weigh more where rows are nearly parallel,
    are of size ε √(m_i m_j) and nearly independent of each other, unless a few kernel values are those of all
    pairs. So the norm of their matrix is about that of its longest row, ε √(n max m). Those of entries that
    are made of rows in float32 add up to more, but along the largest eigenvalues, where that matters least.
    """
    longest = math.sqrt(len(points.place) * float(points.counts.max()))
    return floor >= SINGLE_MARGIN * torch.finfo(torch.float32).eps * longest
