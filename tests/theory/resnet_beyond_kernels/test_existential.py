"""Lemma E.1: networks that are built out of indicators without bias."""

import math

import pytest
import torch

from widenet.data.concepts import GeneralSums
from widenet.networks.constructed import log_slope
from widenet.testing import unit_rows
from widenet.theory.resnet_beyond_kernels.existential import existential_outputs, existential_step, lemma_e_1
from widenet.theory.resnet_beyond_kernels.indicator import odd_hermite
from widenet.theory.smooth.functions import power_sum

SINE = tuple(0.0 if i % 2 == 0 else (-1) ** (i // 2) / math.factorial(i) for i in range(14))
CUBIC = (0.3, -0.5, 0.0, 0.8)


def target_of(d: int, generator: torch.Generator) -> GeneralSums:
    phis = ((power_sum(SINE), power_sum(CUBIC)), (power_sum(CUBIC), power_sum((0.0, 1.0))))
    w1, w2 = (unit_rows(2, d + 1, generator=generator) for _ in range(2))
    return GeneralSums(phis, w1, w2, torch.tensor([[1.0, -0.4], [0.7, 0.9]], dtype=torch.float64))


def drawn_outputs(target: GeneralSums, X, m: int, generator: torch.Generator):
    h = [[odd_hermite(phi.coefficients) for phi in row] for row in target.functions]
    A = torch.randn(2, m, generator=generator, dtype=torch.float64)
    W0 = torch.randn(m, X.shape[1] + 1, generator=generator, dtype=torch.float64) / math.sqrt(m)
    return A, W0, existential_step(target, h, A, W0)


def test_step_is_that_of_the_paper(generator):
    """(E.3) over m and G_r, neuron by neuron."""
    target, X = target_of(3, generator), unit_rows(4, 3, generator=generator)
    A, W0, step = drawn_outputs(target, X, 6, generator)
    for j in range(6):
        expected = torch.zeros(4, dtype=torch.float64)
        for r in range(2):
            for i in range(2):
                h = odd_hermite(target.functions[r][i].coefficients)
                alpha = math.sqrt(6) * W0[j] @ target.w1[i]
                expected += A[r, j] * target.a[r, i] * h(alpha) * target.w2[i] / 6
        assert torch.allclose(step[j], expected)
    found = existential_outputs(A, W0, step, X)
    for n, row in enumerate(X):
        x1 = torch.cat([row, row.new_ones(1)])
        each = [A[:, j] * (step[j] @ x1) for j in range(6) if W0[j] @ x1 >= 0]
        assert torch.allclose(found[n], sum(each, torch.zeros(2, dtype=torch.float64)))


def test_the_error_falls_like_one_over_the_root_of_the_width(generator):
    target, X = target_of(3, generator), unit_rows(20, 3, generator=generator)
    Y, widths, errors = target.evaluate(X), (2**8, 2**10, 2**12, 2**14), []
    for m in widths:
        outs = [existential_outputs(*drawn_outputs(target, X, m, generator), X) for _ in range(12)]
        errors.append(float(torch.stack([(out - Y).square().mean().sqrt() for out in outs]).mean()))
    assert log_slope(widths, errors) == pytest.approx(-0.5, abs=0.08)
    assert errors[-1] < 0.1 < float(Y.square().mean().sqrt())


def test_lemma_e1_measures_a_drawn_network():
    narrow, wide = (lemma_e_1("sin", m, 4, k=2, p=2, seed=3) for m in (1000, 16000))
    assert narrow.applies
    assert wide.applies
    assert wide.terms["mean error"] < narrow.terms["mean error"] / 2
    assert 1.2 < wide.terms["mean error with a quarter of the neurons"] / wide.terms["mean error"] < 4
    assert 2 < narrow.terms["‖W⋇‖_F"] / wide.terms["‖W⋇‖_F"] < 8  # 4, as 1/√m
    assert wide.terms["mean error"] <= wide.value
    assert lemma_e_1("sin", 1000, 4, c_F=1e-9).applies is False
