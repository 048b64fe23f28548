"""What the forecast times, and how it has matrices held."""

import pytest
import torch

from widenet.audit import forecast
from widenet.audit.findings import Held
from widenet.base.errors import InputError
from widenet.base.memory import BASE_BYTES
from widenet.kernels.moments import close_pairs
from widenet.kernels.names import kernel_by_name
from widenet.runs.device import CPU
from widenet.spectrum.panels import held_bytes

KERNEL = kernel_by_name("relu2-hidden")


def test_the_rows_that_are_timed_are_no_close_pairs():
    rows = forecast.pilot_rows()
    cosines = (rows @ rows.T).fill_diagonal_(0)
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(len(rows), dtype=torch.float64))
    assert len(close_pairs(cosines, 1.0, 1.0)[0]) == 0


def test_memory_is_refused_before_it_is_taken():
    with pytest.raises(InputError, match="GiB"):
        forecast.forecast_audit(10**7, 1000, 1, KERNEL, usable=2**33)


def test_tiles_are_recomputed_where_they_do_not_fit():
    assert forecast.forecast_audit(80_000, 100, 2, KERNEL, usable=2**33)[1].held is Held.TILED
    compact = forecast.forecast_audit(60_000, 100, 2, KERNEL, usable=2**33)[1]
    assert compact.held is Held.PACKED
    assert compact.num_bytes < held_bytes(60_000, torch.float32)
    assert forecast.forecast_audit(50_000, 100, 2, KERNEL, usable=2**36)[1].held is Held.PACKED
    assert forecast.forecast_audit(5_000, 100, 2, KERNEL, usable=2**33)[1].held is Held.DENSE


def test_what_is_there_already_is_planned_with_on_the_cpu(monkeypatch):
    monkeypatch.setattr(forecast, "usable_on", lambda device: 10**9)
    here = 10**9 + int(0.8 * (BASE_BYTES + 8 * 20_000 * 100))
    assert forecast._usable(20_000, 100, CPU) == here
    assert forecast._usable(20_000, 100, torch.device("meta")) == 10**9
    planned, _ = forecast.forecast_audit(20_000, 100, 2, KERNEL)
    assert planned.memory_bytes <= here
