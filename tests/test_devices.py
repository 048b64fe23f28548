"""Functions of the library compute where their rows are, with the numbers of the CPU."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.toy_device import numbers
from widenet import spectrum, testing
from widenet.base.checkpoint import Checkpoint, Saved
from widenet.data.points import points_of
from widenet.kernels import RandomFeatures, cross_matrix, gram_matrix, kernel_by_name, kernel_names
from widenet.predict.choose import choose_model
from widenet.predict.labels import judge_labels, judge_targets
from widenet.predict.landmarks import landmark_leave_one_out
from widenet.predict.learning_curve import predict_learning_curve
from widenet.predict.limit import limit_errors
from widenet.predict.loo import estimated_leave_one_out, leave_one_out
from widenet.predict.nearby import nearby_precision, surroundings
from widenet.spectrum.cholesky import smallest_eigenvalue
from widenet.spectrum.gram import PartOfGram

H_INFINITY = kernel_by_name("relu2-hidden")
N, D = 40, 6


class Memory(Checkpoint):
    """Keeps the state of every step in memory."""

    def __init__(self) -> None:
        self.saved: Saved | None = None

    def load(self) -> Saved | None:
        return self.saved

    def is_due(self) -> bool:
        return True

    def save(self, arrays: Any, grown: Any = None) -> None:
        before = self.saved.grown if self.saved else ()
        self.saved = Saved(dict(arrays), (*before, grown) if grown else before)


def seed() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def dense(X: Tensor) -> spectrum.DenseGram:
    return spectrum.DenseGram(gram_matrix(H_INFINITY, X))


def tiled(X: Tensor) -> spectrum.TiledGram:
    return spectrum.TiledGram(H_INFINITY, X, tile=16, keep_bytes=4000)


def kept_halfway(X: Tensor, Y: Tensor) -> Any:
    """A run that stops after some steps, and one that goes on from there."""
    checkpoint = Memory()
    spectrum.lanczos(dense(X), Y, num_steps=6, stop=lambda _: True, check_every=3, checkpoint=checkpoint)
    return spectrum.lanczos(dense(X), Y, num_steps=6, solve=True, checkpoint=checkpoint)


def solved_halfway(X: Tensor, Y: Tensor) -> Any:
    """Solves that are given up after some steps, and go on from there."""
    gram, checkpoint, sketched = tiled(X), Memory(), Memory()

    def preconditioner() -> Any:
        return spectrum.nystrom_preconditioner(gram, 0.1, rank=5, generator=seed(), checkpoint=sketched)

    with pytest.raises(spectrum.solve.NotConvergedError):
        spectrum.conjugate_gradients(
            gram, Y, ridge=0.1, preconditioner=preconditioner, max_matvecs=2, checkpoint=checkpoint
        )
    return spectrum.conjugate_gradients(
        gram, Y, ridge=0.1, preconditioner=preconditioner, checkpoint=checkpoint
    )


FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    **{name: lambda X, Y, name=name: gram_matrix(kernel_by_name(name), X) for name in kernel_names()},
    "rows of other norms": lambda X, Y: gram_matrix(H_INFINITY, X * X[:, :1]),
    "close pairs": lambda X, Y: cross_matrix(H_INFINITY, X, X + 1e-9 * X.roll(1, 0)),
    "random features": lambda X, Y: gram_matrix(RandomFeatures(lambda X, W: (X @ W.T).clamp(0), X[:5]), X),
    "points": lambda X, Y: points_of((4 * X[:, 0]).long()).means(Y),
    "points in another order": lambda X, Y: (
        points_of((4 * X[:, 0]).long()).ordered(torch.arange(N).flip(0)).first
    ),
    "dense products": lambda X, Y: (dense(X).matmul(Y), dense(X).diag()),
    "tiled products": lambda X, Y: (tiled(X).matmul(Y), tiled(X).matmul(Y), tiled(X).diag()),
    "columns": lambda X, Y: [gram(X).columns(torch.tensor([3, 1])) for gram in (dense, tiled)],
    "part": lambda X, Y: PartOfGram(tiled(X), torch.arange(7)).matmul(Y[:7]),
    "lanczos": lambda X, Y: spectrum.lanczos(tiled(X), Y, num_steps=5, solve=True),
    "lanczos, resumed": kept_halfway,
    "quadrature": lambda X, Y: spectrum.gauss_measure(spectrum.lanczos(dense(X), Y, num_steps=4)),
    "bracket": lambda X, Y: spectrum.inverse_bracket(spectrum.lanczos(dense(X), Y, num_steps=4), 0.01),
    "residual bracket": lambda X, Y: spectrum.residual_bracket(dense(X), Y, 2 * Y, floor=0.01, error=1e-9),
    "projections": lambda X, Y: spectrum.label_projections(gram_matrix(H_INFINITY, X), Y),
    "floor": lambda X, Y: spectrum.eigenvalue_floor(H_INFINITY, X),
    "floor by factorising": lambda X, Y: spectrum.cholesky_floor(gram_matrix(H_INFINITY, X), N),
    "proved floor": lambda X, Y: spectrum.proved_floor(torch.cat([X, X + 1e-5 * X.roll(1, 0)])[: N + 1]),
    "enclosure": lambda X, Y: spectrum.enclose(X, Y, 2 * Y, floor=0.01),
    "smallest eigenvalue": lambda X, Y: smallest_eigenvalue(gram_matrix(H_INFINITY, X), N),
    "solves": lambda X, Y: spectrum.conjugate_gradients(dense(X), Y, ridge=0.1),
    "solves, resumed": solved_halfway,
    "trace": lambda X, Y: spectrum.stochastic_trace(
        tiled(X), torch.reciprocal, floor=0.01, num_probes=4, num_steps=40, rtol=0.1, generator=seed()
    ),
    "trace of products": lambda X, Y: spectrum.hutchpp_trace(
        dense(X).matmul, N, num_matvecs=9, generator=seed(), device=X.device
    ),
    "leave one out": lambda X, Y: leave_one_out(gram_matrix(H_INFINITY, X), Y, 0.1),
    "leave one out, estimated": lambda X, Y: estimated_leave_one_out(
        tiled(X), Y, 0.1, torch.ones_like(Y[:, 0]), num_probes=8, rank=5, generator=seed()
    ),
    "precision nearby": lambda X, Y: nearby_precision(
        H_INFINITY, X, torch.ones_like(Y[:, 0]), 0.1, surroundings(X)
    ),
    "leave one out of landmarks": lambda X, Y: landmark_leave_one_out(
        H_INFINITY,
        X,
        Y,
        points_of(torch.arange(N, device=X.device) // 2),
        0.1,
        num_landmarks=7,
        generator=seed(),
    ),
    "choice of a kernel": lambda X, Y: choose_model(
        X, Y, place=torch.arange(N, device=X.device), generator=seed()
    ),
    "learning curve": lambda X, Y: predict_learning_curve(
        H_INFINITY, X, Y, [2 * N], classification=True, generator=seed()
    ),
    "learning curve with an anchor": lambda X, Y: predict_learning_curve(
        H_INFINITY,
        X,
        Y[:, :1],
        [2 * N],
        classification=False,
        generator=seed(),
        anchor=Y[:, 1:],
        place=torch.arange(N, device=X.device) // 2,
    ),
    "limit": lambda X, Y: limit_errors(H_INFINITY, X[10:], Y[10:], X[:10], Y[:10]),
    "labels": lambda X, Y: judge_labels(Y + X[:, :2] / 9, X[:, 2].abs(), Y.argmax(1), 2),
    "targets": lambda X, Y: judge_targets(
        X[:, :1], X[:, 2].abs(), X[:, 1:2], place=torch.arange(N, device=X.device) // 2
    ),
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_numbers_are_those_of_the_cpu(what, toy, generator):
    X = testing.unit_rows(N, D, generator=generator)
    Y = torch.nn.functional.one_hot((X[:, 0] > 0).long(), 2).double()
    here, there = (FUNCTIONS[what](X.to(device), Y.to(device)) for device in (X.device, toy))
    assert numbers(here) == numbers(there)
