"""Kernels of trials, of finite width and in the limit, beside explicit features and wide networks."""

import pytest
import torch
from torch.testing import assert_close

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.names import network_by_name
from widenet.networks.network import network_outputs
from widenet.networks.tangent import jacobian, tangent_gram
from widenet.papers.jobs.draws import draws
from widenet.papers.jobs.job import Desk
from widenet.papers.jobs.kernels import KERNELS, TIMES, kernel_runs, kernel_trial
from widenet.papers.jobs.limits import LIMITS, limit_runs, limit_trial, starting_outputs
from widenet.papers.resnet_beyond_kernels.comparison import resnet_offset
from widenet.study.speed import Speed
from widenet.training.rows import as_rows
from widenet.training.settings import TrainingSettings
from widenet.training.together import Group

DATA, DECAYS = "resnet-cube:n=30,d=8,seed=1", (1e-2, 1.0)


def ridge_error(network: str, width: int, seed: int, decay: float) -> float:
    """Test error of ridge regression on the Jacobian's columns, from f at initialisation."""
    rows, net = draws(DATA, 20), network_by_name(network, width)
    generator = torch.Generator().manual_seed(seed)
    start = draw_parameters(net, 8, 4, Initialisation(), generator=generator, dtype=torch.float64)
    J, J_test = (jacobian(net, start, each.X).flatten(0, 1) for each in (rows.train, rows.test))
    rest = (rows.train.Y - network_outputs(net, start, rows.train.X)[0]).flatten()
    theta = torch.linalg.solve(J.T @ J + 30 * decay * torch.eye(J.shape[1], dtype=J.dtype), J.T @ rest)
    out = network_outputs(net, start, rows.test.X)[0] + (J_test @ theta).view(-1, 4)
    return float((rows.test.Y - out).square().sum(1).mean())


def test_a_tangent_kernel_is_ridge_regression_on_gradients():
    trial = kernel_trial(DATA, 20, "3resnet-all", 6, 5, DECAYS)
    record = next(iter(KERNELS.work([trial], Desk()))).record
    runs = kernel_runs(record)
    assert [run.tried for run in runs[:3]] == [{"decay": 1e-2}, {"decay": 1.0}, {"time": TIMES[0]}]
    for run in runs[:2]:
        assert run.test[0] == pytest.approx(ridge_error("3resnet-all", 6, 5, run.tried["decay"]), rel=1e-8)
    assert len(runs) == 2 + len(TIMES)
    assert len(kernel_runs(record | {"converged": False})) == 2


def test_the_weights_are_those_of_a_network_that_is_trained_with_the_seed():
    """Both draw from a generator of the seed, W before V before A."""
    rows, net = draws(DATA, 20), network_by_name("2layer-all", 6)
    train = as_rows(rows.train.X, rows.train.Y, torch.float64)
    group = Group(net, train, [TrainingSettings(seed=5)])
    generator = torch.Generator().manual_seed(5)
    start = draw_parameters(net, 8, 4, Initialisation(), generator=generator, dtype=torch.float64)
    assert_close(group.start["W"], start["W"])


@pytest.mark.parametrize("trained", ["hidden", "last"])
def test_the_limit_is_that_of_wide_networks(trained):
    wide = kernel_trial(DATA, 20, f"2layer-{trained}", 20_000, 0, DECAYS)
    finite = kernel_runs(next(iter(KERNELS.work([wide], Desk()))).record)[:2]
    limit = limit_runs(
        next(iter(LIMITS.work([limit_trial(DATA, 20, f"relu2-bias-{trained}", DECAYS)], Desk()))).record
    )
    for near, exact in zip(finite, limit, strict=True):
        assert near.tried == exact.tried
        assert near.test[0] == pytest.approx(exact.test[0], rel=0.1)


@pytest.mark.parametrize("layers", ["hidden", "last", "all"])
def test_the_limit_of_the_resnet_has_a_constant_more(layers):
    """On the cube all rows have the same norm, so that what the second layer adds is a constant."""
    X, net = draws(DATA, 20).train.X[:6], network_by_name(f"3resnet-{layers}", 100_000)
    generator = torch.Generator().manual_seed(0)
    start = draw_parameters(net, 8, 1, Initialisation(), generator=generator, dtype=torch.float64)
    limit = gram_matrix(kernel_by_name(f"relu2-bias-{layers}"), X) + resnet_offset(8, layers)
    assert_close(tangent_gram(net, start, X), limit, rtol=0.03, atol=0.03)


def test_an_offset_joins_the_kernel():
    plain, shifted = (limit_trial(DATA, 20, "relu2-bias-last", DECAYS, offset) for offset in (0.0, 5.0))
    first, second = (limit_runs(each.record) for each in LIMITS.work([plain, shifted], Desk()))
    assert first[0].test != second[0].test


SPHERE, LAYERS = "three-sines:n=30,seed=1", Initialisation("layers")


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 3])
def test_outputs_start_where_those_of_wide_networks_do(depth):
    """Covariances over many draws of the process, and over many draws of a network."""
    rows, net = draws("three-sines:n=3,seed=1", 1), network_by_name(f"{depth}layer-hidden", 100)
    X, num = torch.cat([each.X for each in (rows.train, rows.validation, rows.test)]), 2000
    process = torch.stack(
        [torch.cat(starting_outputs(rows, f"relu{depth}-bias-last", seed))[:, 0] for seed in range(num)]
    )
    generator = torch.Generator().manual_seed(0)
    networks = torch.stack(
        [
            network_outputs(net, draw_parameters(net, 4, 1, LAYERS, generator=generator), X.float())[0, :, 0]
            for _ in range(num)
        ]
    ).double()
    assert_close(process.T.cov(), networks.T.cov(), rtol=0.15, atol=0.05)
    assert_close(process.mean(0), torch.zeros(5, dtype=torch.float64), rtol=0, atol=0.1)


def test_the_limit_starts_where_wide_networks_do():
    """Means over draws of weights; with a ~ N(0, 1) the kernel at width m is m times its limit."""
    width, seeds = 2000, range(16)
    wide = [
        kernel_trial(SPHERE, 20, "2layer-hidden", width, seed, [width * each for each in DECAYS], LAYERS)
        for seed in seeds
    ]
    kernel, start = "relu2-bias-hidden", "relu2-bias-last"
    limits = [limit_trial(SPHERE, 20, kernel, DECAYS, start=start, seed=seed) for seed in seeds]
    finite = torch.tensor([kernel_runs(each.record)[0].test for each in KERNELS.work(wide, Desk())])
    limit = torch.tensor([limit_runs(each.record)[0].test for each in LIMITS.work(limits, Desk())])
    (from_0,) = LIMITS.work([limit_trial(SPHERE, 20, kernel, DECAYS)], Desk())
    spread = (finite.var() / 16 + limit.var() / 16).sqrt()
    assert abs(finite.mean() - limit.mean()) < 3 * spread
    assert limit.std() > 0.01 * limit.mean()
    assert abs(limit.mean() - limit_runs(from_0.record)[0].test[0]) > 0.01


def test_starting_at_a_process_costs_more():
    plain, begun = (
        limit_trial(DATA, 20, "relu2-bias-hidden", DECAYS, start=s) for s in ("", "relu2-bias-last")
    )
    speed = Speed(1e11, 5e10, 1e10)
    assert LIMITS.seconds([begun], speed) > LIMITS.seconds([plain], speed)
