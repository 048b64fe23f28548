"""Costs, foretold from sizes."""

import pytest
import torch

from widenet.base.errors import InputError
from widenet.memorise import forecast as forecast_module
from widenet.memorise.forecast import forecast_memorising
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.direct import Direct
from widenet.memorise.methods.pgd import PerturbedDescent, TheoremDescent
from widenet.memorise.problem import SquaresProblem
from widenet.study.speed import Speed


def problem_of_size(n: int, k: int, r: int) -> SquaresProblem:
    return SquaresProblem(torch.empty(n, k, device="meta"), torch.empty(n, device="meta"), r, 2, None, 0.0, 0)


def test_what_does_not_fit_is_refused_with_what_it_needs():
    with pytest.raises(InputError, match=r"60,000 rows.*GiB.*σ_min"):
        forecast_memorising(problem_of_size(60_000, 784, 3000), Direct, usable=8 * 2**30)
    with pytest.raises(InputError, match=r"1,000 rows.*pgd"):
        forecast_memorising(problem_of_size(1000, 5000, 10**5), PerturbedDescent, usable=8 * 2**30)
    forecast = forecast_memorising(problem_of_size(60_000, 784, 3000), AdamRecipe, usable=20 * 2**30)
    assert 14e9 < forecast.memory_bytes < 20e9


def test_more_rows_take_longer(monkeypatch):
    monkeypatch.setattr(forecast_module, "measure_speed", lambda: Speed(1e11, 5e10, 1e10))
    for method in (Direct, PerturbedDescent, TheoremDescent, AdamRecipe):
        seconds = [
            forecast_memorising(problem_of_size(n, 784, 3000), method, usable=2**50).seconds
            for n in (1000, 10_000, 60_000)
        ]
        assert seconds == sorted(seconds)
        assert 2 < seconds[0] < seconds[-1] < (1e7 if method is TheoremDescent else 1e5)
