"""What is said of errors that rest on an estimate."""

from types import SimpleNamespace

import pytest
import torch

from widenet.audit.generalise import unbiased_share
from widenet.data.points import every_row
from widenet.predict.learning_curve import mistakes
from widenet.predict.loo import left_out_by_probes


def test_the_share_of_mistakes_is_not_biased_by_the_spread_of_the_probes(generator):
    """Residuals of whom few are close to 1, where a row changes sides; C is 1, and its samples are off."""
    n, num_probes = 400_000, 12
    residuals = torch.randn(n, 1, generator=generator, dtype=torch.float64).abs().pow(1.5) * 0.7
    Y = torch.ones(n, 1, dtype=torch.float64)
    samples = 1 + 0.6 * torch.randn(n, num_probes, generator=generator, dtype=torch.float64)
    loo = left_out_by_probes(Y, residuals, torch.ones_like(samples), samples, 100 * torch.ones(n))
    truth, wrong = float((residuals >= 1).double().mean()), mistakes(loo.predictions, Y)
    sampling = 3 * (truth / n) ** 0.5
    assert float(wrong.mean()) > truth + 0.003  # what is to be mended
    assert unbiased_share(SimpleNamespace(Y=Y), every_row(n), loo, wrong) == pytest.approx(
        truth, abs=0.001 + sampling
    )
