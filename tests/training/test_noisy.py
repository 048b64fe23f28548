import itertools
import json
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.networks.fully_connected import ThreeLayers
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.network import Parameters, network_outputs, with_ones
from widenet.networks.pseudo import frozen_signs
from widenet.testing import unit_rows
from widenet.training import noisy
from widenet.training.losses import LOSSES
from widenet.training.noisy import (
    NoisyProblem,
    NoisySettings,
    StepNoise,
    draw_noise,
    noisy_gradient,
    perturbed_weights,
    train_noisy,
)
from widenet.training.rows import as_rows

N, D, K, M = 20, 4, 2, 8
NETWORK = ThreeLayers(M, "hidden", fixed_biases=True)
PLAIN = NoisySettings(
    rate=0.05, rounds=4, inner_steps=5, batch=3, signs=False, shrink=0.0, num_draws=1,
    sigma_w=0.0, sigma_v=0.0, lambda_w=0.0, lambda_v=0.0,
)  # fmt: skip


@pytest.fixture
def problem(generator) -> tuple[Tensor, Tensor]:
    X = unit_rows(N, D, generator=generator)
    return X, torch.stack([X[:, 0] * X[:, 1], X[:, 2].sin()], dim=1) * 2


def formula(p: Parameters, X: Tensor) -> Tensor:
    first = torch.relu(with_ones(X) @ p["W"].mT)
    return torch.relu(with_ones(first) @ p["V"].mT) @ p["A"].mT


def start_and_step(generator: torch.Generator, size: float = 0.5) -> tuple[Parameters, Parameters]:
    start = draw_parameters(NETWORK, D, K, Initialisation("layers"), generator=generator, dtype=torch.float64)
    step = {
        name: size * torch.randn(start[name].shape, generator=generator, dtype=torch.float64) for name in "WV"
    }
    for part in step.values():
        part[..., -1] = 0
    return start, step


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regulariser", noisy.REGULARISERS)
@pytest.mark.parametrize("signs", [True, False])
def test_the_gradient_is_that_of_autograd(loss, regulariser, signs, problem, generator) -> None:
    """[beyond-two-layers, (4.2)], written with matrices as in the paper."""
    X, Y = problem
    Y = Y.softmax(-1)
    start, step = start_and_step(generator)
    settings = NoisySettings(
        signs=signs, sigma_w=0.3, sigma_v=0.2, lambda_w=0.7, lambda_v=0.4, regulariser=regulariser, loss=loss
    )
    noise = draw_noise(start, settings, generator)
    scale = 0.6
    moved = {name: part.clone().requires_grad_() for name, part in step.items()}
    Sigma = torch.diag(noise.sigma[0])
    W = start["W"] + noise.W + Sigma @ moved["W"]
    V = start["V"] + noise.V
    V = torch.cat([V[..., :-1] + moved["V"][..., :-1] @ Sigma, V[..., -1:]], dim=-1)
    mean = LOSSES[loss].values(scale * formula({"W": W, "V": V, "A": start["A"]}, X[:5]), Y[:5]).mean()
    row_norms = (math.sqrt(scale) * moved["W"]).norm(dim=-1)
    power = {"two-four": 4, "frobenius": 2}[regulariser]
    penalty = 0.7 * row_norms.pow(power).sum() + 0.4 * (math.sqrt(scale) * moved["V"]).norm() ** 2
    automatic = torch.autograd.grad(mean + penalty, [moved["W"], moved["V"]])

    rows = as_rows(X[:5], Y[:5], X.dtype)
    found, gradient = noisy_gradient(NoisyProblem(NETWORK, start, rows, settings), step, noise, scale, rows)
    assert_close(found, mean.detach(), rtol=1e-12, atol=1e-12)
    for name, expected in zip("WV", automatic, strict=True):
        expected = expected.clone()
        expected[..., -1] = 0
        assert_close(gradient[name], expected, rtol=1e-10, atol=1e-10)


def test_without_noise_signs_and_decay_it_is_plain_sgd(problem) -> None:
    """The same rows through an explicit loop of autograd."""
    X, Y = problem
    run = train_noisy(NETWORK, X, Y, PLAIN)
    generator = torch.Generator().manual_seed(PLAIN.seed)
    start = draw_parameters(NETWORK, D, K, PLAIN.initialisation, generator=generator, dtype=torch.float64)
    W, V, A = (start[name].clone() for name in "WVA")
    losses = []
    for _ in range(PLAIN.rounds * PLAIN.inner_steps):
        rows = torch.randint(N, (PLAIN.batch,), generator=generator)
        W.requires_grad_()
        V.requires_grad_()
        loss = (formula({"W": W, "V": V, "A": A}, X[rows]) - Y[rows]).square().sum() / (2 * PLAIN.batch)
        slopes = torch.autograd.grad(loss, [W, V])
        losses.append(loss.detach().item())
        with torch.no_grad():
            for weights, slope in zip((W, V), slopes, strict=True):
                slope[..., -1] = 0
                weights -= PLAIN.rate * slope
    assert run.final_lambda == 1
    assert_close(run.weights, {"W": W.detach(), "V": V.detach(), "A": A}, rtol=1e-10, atol=1e-10)
    assert run.losses == pytest.approx([sum(losses[5 * t : 5 * t + 5]) / 5 for t in range(4)], rel=1e-10)
    assert run.moved["W"].distance == pytest.approx(float((W - start["W"]).detach().norm()), rel=1e-10)


def test_the_cross_term_of_the_real_network_vanishes_over_all_signs(problem, generator) -> None:
    """While no neuron changes its sign, the mean over Σ of F is F at the start plus A D_v V' D_w W'x."""
    X, _ = problem
    start, step = start_and_step(generator, size=1e-4)
    sigma = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=M)), dtype=torch.float64)
    no_noise = {name: torch.zeros(len(sigma), *start[name].shape[1:], dtype=torch.float64) for name in "WV"}
    params = perturbed_weights(start, step, StepNoise(no_noise["W"], no_noise["V"], sigma))
    D = frozen_signs(NETWORK, start, X)
    for name, now in frozen_signs(NETWORK, params, X).items():
        assert torch.equal(D[name].expand_as(now), now)
    out = network_outputs(NETWORK, params, X)
    W, V, A = step["W"][0, :, :-1], step["V"][0, :, :-1], start["A"][0]
    quadratic = (A @ (D["second"][0].T * (V @ (D["first"][0].T * (W @ X.T))))).T
    expected = network_outputs(NETWORK, start, X)[0] + quadratic
    assert_close(out.mean(0), expected, rtol=0, atol=1e-14)
    assert float((out - expected).abs().mean()) > 1e3 * float(quadratic.abs().mean())


def test_the_best_draw_is_kept(problem) -> None:
    X, Y = problem
    settings = replace(PLAIN, signs=True, sigma_w=0.3, sigma_v=0.3, num_draws=25)
    run = train_noisy(NETWORK, X, Y, settings)
    assert len(run.draw_losses) == 25
    assert len(set(run.draw_losses)) == 25
    assert run.draw_losses[run.chosen] == min(run.draw_losses)
    loss = (run.outputs(X) - Y).square().sum(1).mean() / 2
    assert float(loss) == pytest.approx(min(run.draw_losses), rel=1e-12)


def test_the_best_draw_is_kept_over_several_pieces(problem, monkeypatch) -> None:
    X, Y = problem
    settings = replace(PLAIN, sigma_v=0.3, num_draws=7)
    whole = train_noisy(NETWORK, X, Y, settings)
    monkeypatch.setattr(noisy, "DRAWN_ENTRIES", 2 * M * (M + 1))
    pieces = train_noisy(NETWORK, X, Y, settings)
    assert len(pieces.draw_losses) == 7
    assert pieces.draw_losses[pieces.chosen] == min(pieces.draw_losses)
    loss = (pieces.outputs(X) - Y).square().sum(1).mean() / 2
    assert float(loss) == pytest.approx(min(pieces.draw_losses), rel=1e-12)
    assert sorted(pieces.draw_losses) == pytest.approx(sorted(whole.draw_losses), rel=0.5)


@pytest.mark.parametrize(("signs", "regulariser"), list(zip([True, False], noisy.REGULARISERS, strict=True)))
def test_it_learns(signs, regulariser, generator) -> None:
    X = unit_rows(60, D, generator=generator)
    Y = (X[:, 0] * X[:, 1])[:, None] * 4
    network = ThreeLayers(60, "hidden", fixed_biases=True)
    settings = NoisySettings(
        rate=0.01, rounds=20, inner_steps=100, batch=4, signs=signs, shrink=1e-3, gradient_noise=1e-3,
        regulariser=regulariser,
    )  # fmt: skip
    run = train_noisy(network, X, Y, settings)
    untrained = float(Y.square().mean()) / 2
    assert not run.diverged
    assert min(run.draw_losses) < 0.35 * untrained
    assert run.losses[-1] < run.losses[0]


def test_lambda_shrinks_at_the_rate_unless_told(problem) -> None:
    X, Y = problem
    assert train_noisy(NETWORK, X, Y, replace(PLAIN, shrink=None)).final_lambda == pytest.approx(0.95**4)
    run = train_noisy(NETWORK, X, Y, replace(PLAIN, shrink=0.5, rate=0.0))
    assert run.final_lambda == 0.5**4
    assert_close(run.outputs(X), network_outputs(NETWORK, run.start, X)[0] / 16)


def test_one_seed_is_one_run(problem) -> None:
    X, Y = problem
    settings = replace(PLAIN, signs=True, sigma_w=0.1, sigma_v=0.1, gradient_noise=0.1, num_draws=3)
    first, again = (train_noisy(NETWORK, X, Y, settings) for _ in range(2))
    other = train_noisy(NETWORK, X, Y, replace(settings, seed=1))
    assert first.losses == again.losses
    assert first.draw_losses == again.draw_losses
    assert all(torch.equal(part, again.weights[name]) for name, part in first.weights.items())
    assert first.losses != other.losses


def test_noise_has_its_law_and_spares_the_biases(generator) -> None:
    start, _ = start_and_step(generator)
    settings = NoisySettings(sigma_w=0.3, sigma_v=0.02)
    noise = draw_noise(start, settings, generator, num_draws=4000)
    for part, deviation in ((noise.W, 0.3), (noise.V, 0.02)):
        assert (part[..., -1] == 0).all()
        entries = part[..., :-1].flatten() / deviation
        assert abs(float(entries.mean())) < 5 / math.sqrt(len(entries))
        assert abs(float(entries.square().mean()) - 1) < 5 * math.sqrt(2 / len(entries))
    assert set(noise.sigma.unique().tolist()) == {-1, 1}
    assert float(noise.sigma.mean(0).abs().max()) < 5 / math.sqrt(4000)
    assert (draw_noise(start, replace(settings, signs=False), generator).sigma == 1).all()


def test_noise_on_the_gradient_has_its_size(problem) -> None:
    """Beside such noise the slopes are nothing, and the weights walk at random."""
    X, Y = problem
    settings = replace(PLAIN, rate=1e-3, gradient_noise=100.0, rounds=10, inner_steps=10)
    run = train_noisy(NETWORK, X, Y, settings)
    expected = 1e-3 * 100 * math.sqrt(100 * M * D)
    assert run.moved["W"].distance == pytest.approx(expected, rel=0.5)
    assert torch.equal(run.weights["W"][..., -1], run.start["W"][..., -1])
    assert torch.equal(run.weights["V"][..., -1], run.start["V"][..., -1])
    assert torch.equal(run.weights["A"], run.start["A"])


@pytest.mark.parametrize("regulariser", noisy.REGULARISERS)
def test_regularisers_hold_the_weights(regulariser, problem) -> None:
    X, Y = problem
    longer = replace(PLAIN, rounds=40, regulariser=regulariser)
    free = train_noisy(NETWORK, X, Y, longer)
    held_w = train_noisy(NETWORK, X, Y, replace(longer, lambda_w=1.0))
    held_v = train_noisy(NETWORK, X, Y, replace(longer, lambda_v=1.0))
    assert held_w.moved["W"].distance_two_four < 0.8 * free.moved["W"].distance_two_four
    assert held_v.moved["V"].distance < 0.8 * free.moved["V"].distance


def test_a_run_that_diverges_says_so(problem) -> None:
    X, Y = problem
    for rate in (1e3, 1e30, 1e300):
        run = train_noisy(NETWORK, X, Y, replace(PLAIN, rate=rate, rounds=50))
        assert run.diverged
        assert len(run.losses) < 50
        assert run.moved == {}


def test_progress_counts_rounds_and_results_are_json(problem) -> None:
    X, Y = problem
    rounds: list[int] = []
    run = train_noisy(NETWORK, X, Y, PLAIN, progress=rounds.append)
    assert rounds == [1, 2, 3, 4]
    told = json.loads(json.dumps(run.to_dict()))
    assert told["width"] == M
    assert told["settings"]["rate"] == 0.05
    assert told["moved"]["W"]["distance_two_four"] == run.moved["W"].distance_two_four


def test_wrong_settings_are_refused(problem) -> None:
    X, Y = problem
    for wrong, complaint in (
        ({"rate": -1.0}, "rate must be finite and not negative, not -1"),
        ({"sigma_v": math.inf}, "sigma_v must be finite"),
        ({"inner_steps": 0}, "inner_steps must be positive, not 0"),
        ({"shrink": 1.0}, "shrink, a share, must be at least 0 and below 1, not 1"),
        ({"rate": 2.0}, "shrink, a share, must be at least 0 and below 1, not 2"),
        ({"loss": "hinge"}, "loss must be one of squared, l1"),
        ({"regulariser": "ridge"}, "regulariser must be one of two-four, frobenius, not 'ridge'"),
    ):
        with pytest.raises(InputError, match=complaint):
            NoisySettings(**wrong)
    for network in (ThreeLayers(M), ThreeLayers(M, "hidden")):
        with pytest.raises(InputError, match="keep A and the biases"):
            train_noisy(network, X, Y, PLAIN)
