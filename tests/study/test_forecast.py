import pytest

from widenet.base.errors import InputError
from widenet.study.forecast import Forecast
from widenet.study.speed import measure_speed, seconds_of


def test_an_hour_is_the_limit_unless_more_is_allowed():
    Forecast(3600.0).refuse_long("take fewer rows", allow_long=False)
    Forecast(1e9).refuse_long("take fewer rows", allow_long=True)
    with pytest.raises(InputError, match=r"about 1\.5 hours: take fewer rows, or .*`allow_long=True`"):
        Forecast(5400.0).refuse_long("take fewer rows", allow_long=False)


def test_the_forecast_in_a_sentence():
    assert Forecast(30.0, 2**30).told() == "Forecast: 1 GiB of memory and 30 seconds."
    assert Forecast(300.0).told() == "Forecast: 5 minutes."


def test_speeds_are_those_of_this_machine():
    speed = measure_speed()
    assert 1e6 < speed.double < 1e14
    assert speed.single > speed.double / 4
    assert 1e6 < speed.bytes < 1e13


def test_the_second_of_two_calls_is_timed():
    calls = []
    seconds_of(lambda: calls.append(1))
    assert len(calls) == 2
