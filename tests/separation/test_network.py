"""Functions of the class, and the network trained on them."""

import math
from dataclasses import replace

import pytest
import torch

from widenet.runs import Store
from widenet.separation import network as module
from widenet.separation.kernels import cube
from widenet.separation.network import draw_members, network_point, train_member
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep

D1, K, ALPHA = 6, 2, 0.5
GRID = [TrainingSettings(rate=rate, batch=10, epochs=5) for rate in (0.1, 1e6)]


@pytest.fixture
def members():
    return draw_members(D1, K, ALPHA, 3, 40, seed=1)


def test_members_are_functions_of_the_class(members):
    for member in members:
        dataset = member.dataset(member.samples)
        signs = member.samples * math.sqrt(D1)
        torch.testing.assert_close(signs, signs.sign())
        picked = signs[:, list(member.subset)]
        torch.testing.assert_close(dataset.Y, picked + ALPHA * picked.prod(1, keepdim=True))
        torch.testing.assert_close(dataset.X, member.samples)
    assert len({member.seed for member in members}) == 3
    again = draw_members(D1, K, ALPHA, 3, 40, seed=1)
    assert all(torch.equal(a.samples, b.samples) for a, b in zip(members, again, strict=True))
    assert not torch.equal(members[0].samples, draw_members(D1, K, ALPHA, 1, 40, seed=2)[0].samples)


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


def test_the_setting_is_chosen_on_other_functions(members, monkeypatch):
    scores = {0: [3.0, 9.0], 1: [4.0, 1.0], 2: [2.0, 3.0]}  # of each member under each setting
    asked = []

    def trained(member, num_samples, points, grid, width, store):
        index = next(i for i, each in enumerate(members) if each is member)
        asked.append((index, len(grid)))
        return [scores[index][GRID.index(settings)] for settings in grid]

    monkeypatch.setattr(module, "train_member", trained)
    done = []
    point = network_point(30, members[1:], members[:1], cube(D1), GRID, 20, progress=done.append)
    assert asked == [(1, 2), (2, 2), (0, 1)]
    assert (point.rate, point.tuning_error, point.errors) == (GRID[1].rate, 2.0, (9.0,))
    assert done == [2, 2, 1]


def test_a_setting_that_diverges_gives_way_to_the_next(members, monkeypatch):
    def trained(member, num_samples, points, grid, width, store):
        if len(grid) > 1:
            return [1.0, 2.0]
        return [math.inf if grid[0] == GRID[0] else 5.0]

    monkeypatch.setattr(module, "train_member", trained)
    point = network_point(30, members[1:], members[:1], cube(D1), GRID, 20)
    assert (point.rate, point.errors) == (GRID[0].rate, (5.0,))


def test_finished_runs_are_kept(members, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        first = train_member(members[0], 20, cube(D1), GRID[:1], 10, store)
    with Store(tmp_path / "runs.sqlite") as store:
        assert train_member(members[0], 20, cube(D1), GRID[:1], 10, store) == first
