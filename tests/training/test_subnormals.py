"""Weights that decay past the smallest normal number are 0, and the processor is left as it was."""

import pytest
import torch

from widenet.networks.names import network_by_name
from widenet.training.rows import as_rows
from widenet.training.settings import TrainingSettings
from widenet.training.subnormals import flushed_subnormals, is_flushing
from widenet.training.together import train_together


def test_numbers_are_flushed_inside_a_block_alone():
    assert not is_flushing()
    with flushed_subnormals():
        assert is_flushing()
        with flushed_subnormals():
            assert is_flushing()
        assert is_flushing()  # an outer block goes on
    assert not is_flushing()


def test_an_error_ends_the_block():
    with pytest.raises(ZeroDivisionError), flushed_subnormals():
        raise ZeroDivisionError
    assert not is_flushing()


def test_decayed_weights_end_at_0():
    """Targets of 0 leave nothing but the decay once outputs vanish."""
    X = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    rows = as_rows(X, torch.zeros(20, 1), torch.float32)
    settings = TrainingSettings(rate=0.1, decay=1.0, batch=None, epochs=2500)
    (run,) = train_together(network_by_name("2layer-all", 8), rows, [settings], keep_weights=True)
    assert all(bool((part == 0).all()) for part in run.weights.values())
    assert not is_flushing()
