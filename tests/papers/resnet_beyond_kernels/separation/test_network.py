"""Functions of the class, and the network trained on them."""

import itertools
import math
from dataclasses import replace

import pytest
import torch

from widenet.data.inputs import Cube
from widenet.papers.resnet_beyond_kernels.separation import network as module
from widenet.papers.resnet_beyond_kernels.separation.kernels import cube
from widenet.papers.resnet_beyond_kernels.separation.network import (
    TrainingPlan,
    draw_members,
    network_point,
    network_seconds,
    train_member,
)
from widenet.runs import Store
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep

D1, K, ALPHA = 6, 2, 0.5
GRID = [TrainingSettings(rate=rate, batch=10, epochs=5) for rate in (0.1, 1e6)]


def draw(num_members=3, num_samples=40, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return draw_members(D1, K, ALPHA, num_members, num_samples, generator=generator)


@pytest.fixture
def members():
    return draw()


def test_members_are_functions_of_the_class(members):
    for member in members:
        dataset = member.dataset(member.samples)
        signs = member.samples * math.sqrt(D1)
        torch.testing.assert_close(signs, signs.sign())
        picked = signs[:, list(member.subset)]
        torch.testing.assert_close(dataset.Y, picked + ALPHA * picked.prod(1, keepdim=True))
        torch.testing.assert_close(dataset.X, member.samples)


def test_members_are_distinct_even_if_all_of_them_are_drawn():
    members = draw(math.comb(D1, K))
    assert {member.subset for member in members} == set(itertools.combinations(range(D1), K))
    assert len({tuple(member.samples.flatten().tolist()) for member in members}) == len(members)


def test_members_are_the_same_however_many_are_drawn(members):
    for more in (draw(), draw(num_members=5), draw(num_samples=60)):
        for one, same in zip(members, more, strict=False):
            assert (one.subset, one.seed) == (same.subset, same.seed)
            assert torch.equal(one.samples, same.samples[:40])
    assert not torch.equal(members[0].samples, draw(seed=2)[0].samples)


def test_initial_weights_have_a_seed_of_their_own(members):
    """Neither the run's, nor that of any samples: no generator draws both samples and weights."""
    seeds = {member.seed for member in members}
    assert len(seeds) == 3
    assert 1 not in seeds
    for member in members:
        redrawn = Cube(D1, D1**-0.5).draw(40, generator=torch.Generator().manual_seed(member.seed))
        assert not any(torch.equal(redrawn, each.samples) for each in members)


def test_errors_are_over_the_whole_cube_per_output(members):
    points, member = cube(D1), members[0]
    error, diverged = train_member(member, 30, points, GRID, 20, None)
    assert diverged == math.inf
    settings = replace(GRID[0], seed=member.seed)
    run = sweep(module.ResNet(20, "all"), member.dataset(member.samples[:30]), [settings], keep_weights=True)[
        0
    ]
    wrong = (run.outputs(points).double() - member.dataset(points).Y).square().mean()
    assert error == pytest.approx(float(wrong), rel=1e-5)


def plan(tuning, measured):
    return TrainingPlan(tuning, measured, cube(D1), GRID, 20)


def test_the_setting_is_chosen_on_other_functions(members, monkeypatch):
    scores = {0: [3.0, 9.0], 1: [4.0, 1.0], 2: [2.0, 3.0]}  # of each member under each setting
    asked = []

    def trained(member, num_samples, points, grid, width, store, notes):
        index = next(i for i, each in enumerate(members) if each is member)
        asked.append((index, len(grid)))
        return [scores[index][GRID.index(settings)] for settings in grid]

    monkeypatch.setattr(module, "train_member", trained)
    done = []
    point = network_point(plan(members[1:], members[:1]), 30, done.append)
    assert asked == [(1, 2), (2, 2), (0, 1)]
    assert (point.rate, point.tuning_error, point.errors) == (GRID[1].rate, 2.0, (9.0,))
    assert done == [2, 2, 1]


def test_a_setting_that_diverges_gives_way_to_the_next(members, monkeypatch):
    def trained(member, num_samples, points, grid, width, store, notes):
        if len(grid) > 1:
            return [1.0, 2.0]
        return [math.inf if grid[0] == GRID[0] else 5.0]

    monkeypatch.setattr(module, "train_member", trained)
    point = network_point(plan(members[1:], members[:1]), 30)
    assert (point.rate, point.errors, point.num_replaced) == (GRID[0].rate, (5.0,), 1)


def test_a_network_that_blew_up_and_died_has_failed(members, monkeypatch):
    """Its training error is that of predicting 0, above that of the start."""
    ran = sweep(module.ResNet(20, "all"), members[0].dataset(members[0].samples), GRID[:1])[0]
    start = ran.train_error[0]
    for end, expected in ((1.01 * start, math.inf), (0.5 * start, 0.7)):
        run = replace(ran, train_error=(start, 30 * start, end), test_error=(3.0, 9.0, 0.7 * K))
        monkeypatch.setattr(module, "sweep", lambda *parts, run=run, **options: [run])
        assert train_member(members[0], 30, cube(D1), GRID[:1], 20, None) == [pytest.approx(expected)]


def test_finished_runs_are_kept(members, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        first = train_member(members[0], 20, cube(D1), GRID[:1], 10, store)
    with Store(tmp_path / "runs.sqlite") as store:
        assert train_member(members[0], 20, cube(D1), GRID[:1], 10, store) == first


@pytest.mark.parametrize(("width", "num_points"), [(20, 64), (3000, 8192)])
def test_the_forecast_scales_with_width_and_points(members, monkeypatch, width, num_points):
    """By a clock that takes 1 s for an epoch and 3 s for looking at the points."""
    now, asked = 0.0, []

    def trained(member, num_samples, points, grid, width, store):
        nonlocal now
        now += grid[0].epochs + 3.0
        asked.append((num_samples, len(points), len(grid), width))
        return [0.0] * len(grid)

    monkeypatch.setattr(module, "train_member", trained)
    monkeypatch.setattr(module.time, "perf_counter", lambda: now)
    points = torch.zeros(num_points, D1)
    seconds = network_seconds(TrainingPlan(members[:2], members[2:], points, GRID, width), (10, 20))
    per_run = max(1, width / 1000) * (2 * 3.0 * max(1, num_points / 4096) + 1.5 * 1.0 * GRID[0].epochs)
    assert seconds == pytest.approx(3 * per_run)
    assert {each[:2] for each in asked} == {(20, min(num_points, 4096))}
    assert {each[3] for each in asked} == {min(width, 1000)}


def test_a_noisy_clock_makes_no_negative_forecast(members, monkeypatch):
    """The longer pilot was the faster one."""
    now, spent = 0.0, itertools.cycle([3.0, 1.0])

    def trained(member, num_samples, points, grid, width, store):
        nonlocal now
        now += next(spent)

    monkeypatch.setattr(module, "train_member", trained)
    monkeypatch.setattr(module.time, "perf_counter", lambda: now)
    plan = TrainingPlan(members[:1], members[1:2], torch.zeros(64, D1), GRID, 20)
    assert network_seconds(plan, (10,)) == pytest.approx(6.0)
