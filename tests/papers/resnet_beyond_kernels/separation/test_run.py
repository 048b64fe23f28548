"""The run as a whole, at a size of seconds."""

import json
import math
from dataclasses import replace

import pytest

from widenet.base.errors import InputError
from widenet.base.progress import Progress
from widenet.papers.resnet_beyond_kernels.separation import run as module
from widenet.papers.resnet_beyond_kernels.separation.result import NetworkPoint
from widenet.papers.resnet_beyond_kernels.separation.run import run_separation
from widenet.papers.resnet_beyond_kernels.separation.settings import SeparationSettings
from widenet.report.parts.files import to_json
from widenet.report.separation import record, sentences
from widenet.runs import Store
from widenet.theory.resnet_beyond_kernels.lower_bound import kernel_floor

SMALL = SeparationSettings(
    d1=6,
    k=2,
    sizes=(8, 14),
    kernels=("relu2-all", "gaussian:h=2"),
    members=2,
    tuning=1,
    width=20,
    epochs=10,
    rates=(0.1, 0.05),
    decays=(0.005,),
)


class Calls(Progress):
    def __init__(self, calls: list[object]) -> None:
        self.calls = calls

    def __call__(self, stage, done=None, total=None, detail="") -> None:
        self.calls.append((stage, done, total))

    def note(self, fact: object) -> None:
        self.calls.append(fact)


@pytest.fixture(scope="module")
def result():
    return run_separation(SMALL)


def test_no_kernel_is_below_the_bound(result):
    assert result.floor == tuple(kernel_floor(n, 6, 2, 0.5) for n in (8, 14))
    assert [kernel.name for kernel in result.kernels] == ["relu2-all", "gaussian:h=2", "parities"]
    assert result.smallest_margin > -1e-12
    for each in result.kernels:
        assert all(low <= mean for low, mean in zip(each.lowest, each.errors, strict=True))


def test_the_same_settings_give_the_same_result(result, tmp_path):
    calls = []
    with Store(tmp_path / "runs.sqlite") as store:
        run_separation(SMALL, store=store)
        again = run_separation(SMALL, store=store, progress=Calls(calls))
    same = replace(again, forecast=result.forecast, seconds=result.seconds)
    assert same == result
    assert calls[0] == again.forecast
    assert calls[-1] == ("networks", 8, 8)
    assert ("kernels", 3, 3) in calls
    assert run_separation(replace(SMALL, seed=1)).network != result.network


def test_as_json(result):
    read = json.loads(to_json(record(result)))
    assert read["schema"] == "widenet/separation/1"
    assert read["settings"]["d1"] == 6
    assert read["forecast"] == result.forecast.seconds
    assert read["smallest_margin"] == result.smallest_margin
    assert repr(result).startswith("SeparationResult(d1=6, k=2, samples=")
    assert read["network"][0]["error"] == result.network[0].error
    assert read["verdict"] == list(sentences(result))


def test_the_network_learns_what_kernels_fixed_before_the_labels_do_not():
    """d₁ = 9, k = 3: from 60 of 84 samples these have at least .29 α² on average, the network far less."""
    found = run_separation(replace(SMALL, d1=9, k=3, sizes=(60,), width=100, epochs=300, rates=(0.2, 0.1)))
    assert found.widest == 0
    assert found.network[0].error < found.floor[0] / 2
    assert "kernel is fixed before the labels has at least" in sentences(found)[0]


def test_verdicts(result):
    def with_error(error: float):
        points = tuple(NetworkPoint(n, 0.1, 0.0, 0.0, (error, error)) for n in result.sizes)
        return replace(result, network=points)

    learned = sentences(with_error(0.001))
    assert learned[0].startswith("From 8 samples the trained ResNet has a mean error of 0.004 α²")
    assert "over 2 functions of the class, with a standard deviation of 0 α² between them" in learned[0]
    assert learned[0].endswith("α², on average over the class.")
    assert "at least 15 samples" in learned[1]
    assert "none of them is below the bound" in learned[-1]
    for error in (1.0, math.inf):
        assert "did not get below" in sentences(with_error(error))[0]
    cheating = replace(result, floor=tuple(10.0 for _ in result.floor))
    assert "should be impossible" in sentences(cheating)[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d1": 30}, "from 2 to 16"),
        ({"k": 9}, "`k` is 9"),
        ({"alpha": 0.0}, "`alpha` is 0.0"),
        ({"sizes": (20, 10)}, "ascending"),
        ({"sizes": (0, 10)}, "`sizes` is 0,10, but must be at least 1"),
        ({"sizes": ()}, "`sizes` is empty"),
        ({"sizes": (100,)}, "more than the 64 points"),
        ({"k": 0}, "`k` is 0, but must be a whole number from 2 to `d1` = 6"),
        ({"alpha": math.nan}, "`alpha` is nan"),
        ({"alpha": 1e-200}, "from 0.001 to 1"),
        ({"members": 0}, "`members` is 0, but must be from 1"),
        ({"width": 0}, "`width` is 0"),
        ({"width": 10**9}, "`width` is 1000000000, but must be from 1 to 65,536"),
        (
            {"members": 15},
            r"15 functions for `d1` = 6 and `k` = 2, fewer than 15 to measure and 1 others? to tune",
        ),
        ({"k": 6, "members": 1}, "The class has 1 function "),
        ({"decays": ()}, "`decays` is empty"),
        ({"decays": (-1.0,)}, "`decays` is -1.0, but must be at least 0"),
        ({"batch": 0}, "`batch` is 0"),
        ({"tuning": 0}, "`tuning` is 0"),
        ({"rates": ()}, "`rates` is empty, but at least one"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(SMALL, **change)


def test_tuned_and_measured_functions_are_others(result):
    """All 15 functions of the class: 14 are measured, and the one that was tuned on is none of them."""
    settings = replace(SMALL, members=14, tuning=1, sizes=(8,), kernels=(), epochs=1, rates=(0.1,))
    found = run_separation(settings)
    assert len({*found.subsets, *found.tuning_subsets}) == 15
    assert not {*result.subsets} & {*result.tuning_subsets}


def test_what_would_not_fit_is_refused_before_memory_is_taken(monkeypatch):
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 2**28)
    monkeypatch.setattr(module, "cube_class", pytest.fail)
    with pytest.raises(InputError, match=r"12,870 functions on 65,536 points needs about 25\.\d GiB"):
        run_separation(SeparationSettings(d1=16, k=8))


def test_unknown_kernels_are_refused_first():
    with pytest.raises(InputError, match="did you mean"):
        run_separation(replace(SMALL, kernels=("gausian",)))


def test_long_runs_must_be_allowed(monkeypatch):
    monkeypatch.setattr(module, "network_seconds", lambda *parts: 7200.0)
    monkeypatch.setattr(module, "oracle_seconds", lambda *parts: 1800.0)
    with pytest.raises(InputError, match=r"about 3\.0 hours.*`sizes`.*`allow_long=True`"):
        run_separation(SMALL)
    assert run_separation(SMALL, allow_long=True).forecast.seconds == 7200.0 + 2 * 1800.0
