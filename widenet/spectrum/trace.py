"""Stochastic traces of matrix functions, with error bars."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from widenet.base.errors import NotConvergedError
from widenet.spectrum.brackets import bracket
from widenet.spectrum.gram import Gram
from widenet.spectrum.lanczos import lanczos


@dataclass(frozen=True)
class TraceEstimate:
    """A Monte Carlo estimate and its standard error."""

    value: float
    error: float


def rademacher(
    n: int, num_probes: int, *, generator: torch.Generator, dtype: torch.dtype, device: torch.device | str
) -> Tensor:
    """Independent random signs, shape (n, num_probes), drawn on the CPU: a seed has the same everywhere."""
    return 2 * torch.randint(2, (n, num_probes), generator=generator).to(device, dtype) - 1


def hutchpp_trace(
    matmul: Callable[[Tensor], Tensor],
    n: int,
    *,
    num_matvecs: int,
    generator: torch.Generator,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
) -> TraceEstimate:
    """Trace of a positive semi-definite matrix [Meyer, Musco, Musco & Woodruff 2021, Algorithm 1].

    A third of the products finds the range of the large eigenvalues, a third takes its trace exactly, and
    Hutchinson's estimator is left with the rest.
    """
    third = num_matvecs // 3
    signs = partial(rademacher, n, third, generator=generator, dtype=dtype, device=device)
    Q = torch.linalg.qr(matmul(signs())).Q
    exact = (Q * matmul(Q)).sum()
    probes = signs()
    probes = probes - Q @ (Q.T @ probes)
    samples = (probes * matmul(probes)).sum(0)
    return TraceEstimate(float(exact + samples.mean()), float(samples.std()) / third**0.5)


def stochastic_trace(
    gram: Gram,
    function: Callable[[Tensor], Tensor],
    *,
    floor: float,
    num_probes: int,
    num_steps: int,
    rtol: float,
    generator: torch.Generator,
) -> TraceEstimate:
    """Estimate tr f(H) by Lanczos quadrature [Ubaru, Chen & Saad 2017], f as in `bracket`.

    The error covers both the spread of the probes and the width of their brackets.

    Raises:
        NotConvergedError: If the brackets are wider than `rtol` after `num_steps` products.
    """
    device = gram.diag().device
    probes = rademacher(gram.n, num_probes, generator=generator, dtype=gram.dtype, device=device)
    krylov = lanczos(
        gram, probes, num_steps=num_steps, stop=lambda run: bracket(run, function, floor).width() <= rtol
    )
    bounds = bracket(krylov, function, floor)
    if bounds.upper is None or bounds.width() > rtol:
        raise NotConvergedError(
            f"The trace is known only to {bounds.width():.1e} after {num_steps} products: raise num_steps "
            "or rtol."
        )
    middle = (bounds.lower + bounds.upper) / 2
    spread = float(middle.std()) / num_probes**0.5
    return TraceEstimate(float(middle.mean()), spread + float((bounds.upper - bounds.lower).mean()) / 2)


def stochastic_logdet(
    gram: Gram, ridge: float, *, num_probes: int, num_steps: int, rtol: float, generator: torch.Generator
) -> TraceEstimate:
    """Estimate log det(H + ρI), ρ > 0."""
    negative = stochastic_trace(
        gram,
        lambda eigenvalues: -torch.log(eigenvalues.clamp(min=0) + ridge),
        floor=0.0,
        num_probes=num_probes,
        num_steps=num_steps,
        rtol=rtol,
        generator=generator,
    )
    return TraceEstimate(-negative.value, negative.error)
