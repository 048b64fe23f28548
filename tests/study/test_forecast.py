import time

import pytest

from widenet.base.errors import InputError
from widenet.study import speed
from widenet.study.forecast import Forecast
from widenet.study.speed import measure_speed


def test_an_hour_is_the_limit_unless_more_is_allowed():
    Forecast(3600.0).refuse_long("take fewer rows", allow_long=False)
    Forecast(1e9).refuse_long("take fewer rows", allow_long=True)
    with pytest.raises(InputError, match=r"about 1\.5 hours: take fewer rows, or .*`allow_long=True`"):
        Forecast(5400.0).refuse_long("take fewer rows", allow_long=False)


def test_the_forecast_in_a_sentence():
    assert Forecast(30.0, 2**30).told() == "Forecast: 1 GiB of memory and 30 seconds."
    assert Forecast(300.0).told() == "Forecast: 5 minutes."


def test_speeds_are_those_of_this_machine():
    found = measure_speed()
    assert 1e6 < found.double < 1e14
    assert found.single > found.double / 4
    assert 1e6 < found.bytes < 1e13


def test_the_median_of_calls_after_the_first_is_told(monkeypatch):
    calls, clock = [], iter([0, 0.001, 1, 1.009, 2, 2.002, 3, 3.012])
    monkeypatch.setattr(speed.time, "perf_counter", lambda: next(clock))
    assert speed.seconds_of(lambda: calls.append(1)) == pytest.approx(0.0055)
    assert len(calls) == 5


def test_a_call_that_takes_long_is_timed_once():
    calls = []
    speed.seconds_of(lambda: calls.append(time.sleep(0.03)))
    assert len(calls) == 2
