import pytest
import torch

from widenet.base.errors import NotConvergedError
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.trace import hutchpp_trace, stochastic_logdet, stochastic_trace
from widenet.testing import decaying_matrix


def test_hutchpp_is_within_its_error_bar_and_beats_plain_probes(generator):
    H = decaying_matrix(400, generator=generator, smallest=1e-12)
    estimate = hutchpp_trace(lambda V: H @ V, 400, num_matvecs=90, generator=generator)
    exact = float(H.trace())
    assert abs(estimate.value - exact) < 4 * estimate.error
    probes = 2 * torch.randint(2, (400, 90), generator=generator).double() - 1
    plain_error = (probes * (H @ probes)).sum(0).std() / 90**0.5
    assert estimate.error < 0.2 * plain_error


def test_trace_of_the_inverse_is_within_its_error_bar(generator):
    H = decaying_matrix(300, generator=generator, smallest=0.1)
    estimate = stochastic_trace(
        DenseGram(H),
        torch.reciprocal,
        floor=0.05,
        num_probes=10,
        num_steps=60,
        rtol=1e-6,
        generator=generator,
    )
    exact = float(torch.linalg.inv(H).trace())
    assert abs(estimate.value - exact) < 4 * estimate.error
    assert estimate.error < 0.1 * exact


def test_logdet_is_within_its_error_bar(generator):
    H = decaying_matrix(300, generator=generator)
    estimate = stochastic_logdet(
        DenseGram(H), 0.5, num_probes=10, num_steps=60, rtol=1e-6, generator=generator
    )
    exact = float(torch.logdet(H + 0.5 * torch.eye(300, dtype=torch.float64)))
    assert abs(estimate.value - exact) < 4 * estimate.error


def test_an_unconverged_trace_is_an_error(generator):
    H = decaying_matrix(300, generator=generator, smallest=1e-6)
    with pytest.raises(NotConvergedError, match="num_steps"):
        stochastic_trace(
            DenseGram(H),
            torch.reciprocal,
            floor=1e-7,
            num_probes=4,
            num_steps=5,
            rtol=1e-3,
            generator=generator,
        )
