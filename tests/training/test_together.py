"""Networks trained together against naive loops with autograd, and against each other."""

from dataclasses import replace

import pytest
import torch

from widenet.base.errors import InputError
from widenet.kernels import gram_matrix, kernel_by_name
from widenet.networks.fully_connected import ThreeLayers
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.names import network_by_name
from widenet.networks.network import network_outputs, with_ones
from widenet.networks.two_layer import FineGrainedNet
from widenet.training.descent import descend
from widenet.training.losses import LOSSES
from widenet.training.rows import as_rows
from widenet.training.run import TrainingRun
from widenet.training.settings import TrainingSettings
from widenet.training.together import share_batches, train_together, weights_together

NAMES = ["2layer-all", "3layer-hidden", "3resnet-all", "3resnet-hidden", "3resnet-general-all"]
FAST = TrainingSettings(rate=0.02, decay=0.01, batch=16, epochs=4)
PARTS = (slice(40), slice(40, 57), slice(57, 70))  # of the rows: to train on, held out, to test on


def problem(generator, n=70, d=6, k=3):
    X = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return X, torch.tanh(X[:, :k] * X[:, 1 : k + 1])


def naive_run(network, X, Y, settings):
    """The same training by autograd and torch.optim, in float64."""
    generator = torch.Generator().manual_seed(settings.seed)
    drawn = draw_parameters(
        network,
        X.shape[1],
        Y.shape[1],
        settings.initialisation,
        generator=generator,
        dtype=torch.float64,
    )
    params = {name: part.requires_grad_(name in network.moved) for name, part in drawn.items()}
    rate_v = settings.rate if settings.rate_v is None else settings.rate_v
    groups = [
        {"params": [params[name]], "lr": rate_v if name in "VU" else settings.rate} for name in network.moved
    ]
    optimiser = (
        torch.optim.SGD(groups, momentum=settings.momentum, weight_decay=settings.decay)
        if settings.optimiser == "sgd"
        else torch.optim.Adam(groups, weight_decay=settings.decay)
    )
    first_rates = [group["lr"] for group in optimiser.param_groups]
    for epoch in range(settings.epochs):
        for group, rate in zip(optimiser.param_groups, first_rates, strict=True):
            group["lr"] = rate * settings.rate_factor(epoch)
        order = torch.arange(len(X))
        if settings.sampling == "replacement":
            order = torch.randint(len(X), (len(X),), generator=generator)
        elif settings.batch is not None:
            order = torch.randperm(len(X), generator=generator)
        for rows in order.split(settings.batch or len(X)):
            optimiser.zero_grad()
            out = naive_outputs(network, params, X[rows])
            rows_of_weights = params["W"][0, :, :-1]
            penalty = settings.decay_two_four * rows_of_weights.norm(dim=1).pow(4).sum()
            (LOSSES[settings.loss].values(out, Y[rows]).mean() + penalty).backward()
            optimiser.step()
    return {name: part.detach() for name, part in params.items()}


def naive_outputs(network, params, X):
    """Outputs (1, b, k) from the formulas, differentiable."""
    one = X.new_ones(len(X), 1)
    first = torch.relu(torch.cat([X, one], 1) @ params["W"][0].T)
    A = params["A"][0]
    if network.name.startswith("2layer"):
        out = first @ A.T
    elif network.name.startswith("3layer"):
        out = torch.relu(torch.cat([first, one], 1) @ params["V"][0].T) @ A.T
    elif network.name.startswith("3resnet-general"):
        out = (first + torch.relu(torch.cat([first, one], 1) @ params["U"][0].T)) @ A.T
    else:
        out1 = first @ A.T
        out = out1 + torch.relu(torch.cat([out1, one], 1) @ params["V"][0].T) @ A.T
    return out[None]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "settings",
    [
        FAST,
        replace(FAST, rate_v=0.005, momentum=0.0, batch=1, epochs=1, sampling="replacement"),
        replace(FAST, batch=None, decay=0.0, drops=(0.25, 0.75)),
        replace(FAST, optimiser="adam", rate=0.003, loss="huber"),
        replace(FAST, loss="cross-entropy"),
        replace(FAST, loss="l1"),
        replace(FAST, decay_two_four=0.5),
        replace(FAST, optimiser="adam", rate=0.003, decay=0.0, decay_two_four=0.5),
    ],
    ids=["sgd", "one sample", "full batch", "adam", "cross-entropy", "l1", "two-four", "two-four adam"],
)
def test_training_is_that_of_autograd_and_torch_optim(name, settings, generator):
    X, Y = problem(generator)
    if settings.loss == "cross-entropy":
        Y = torch.softmax(3 * Y, 1)
    network = network_by_name(name, 12)
    run = train_together(network, as_rows(X, Y, torch.float64), [settings], keep_weights=True)[0]
    for part, expected in naive_run(network, X, Y, settings).items():
        torch.testing.assert_close(run.weights[part], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [50, 100])
def test_settings_together_equal_the_same_one_by_one(name, width, generator):
    X, Y = problem(generator)
    rows = as_rows(X, Y, torch.float32)
    grid = [replace(FAST, rate=rate, decay=decay) for rate in (0.01, 0.05, 0.1) for decay in (0, 0.01)]
    network = network_by_name(name, width)
    together = train_together(network, rows, grid, test=rows, keep_weights=True)
    for settings, run in zip(grid, together, strict=True):
        alone = train_together(network, rows, [settings], test=rows, keep_weights=True)[0]
        assert alone.train_loss == pytest.approx(run.train_loss, rel=1e-6)
        for part, weights in alone.weights.items():
            torch.testing.assert_close(run.weights[part], weights, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("architecture", ["2layer", "3layer", "3resnet", "3resnet-general"])
@pytest.mark.parametrize(("width", "k"), [(7, 1), (20, 3), (50, 1), (50, 3), (100, 5)])
def test_a_diverging_setting_leaves_its_neighbours_bit_for_bit(architecture, width, k, generator):
    X, Y = problem(generator, k=k)
    rows, network = as_rows(X, Y, torch.float32), network_by_name(f"{architecture}-all", width)
    tame = [replace(FAST, rate=rate, epochs=30) for rate in (0.01, 0.02, 0.05)]
    wild = replace(tame[0], rate=1e4)
    alone = train_together(network, rows, tame, keep_weights=True)
    first, diverged, *others = train_together(network, rows, [tame[0], wild, *tame[1:]], keep_weights=True)
    by_itself = train_together(network, rows, tame[:1], fewest=2, keep_weights=True)
    assert torch.equal(by_itself[0].weights["W"], first.weights["W"])
    assert diverged.diverged
    assert diverged.weights is None
    assert diverged.best_test_error == float("inf")
    for run, expected in zip([first, *others], alone, strict=True):
        assert not run.diverged
        assert run.train_loss == expected.train_loss
        assert all(torch.equal(run.weights[part], expected.weights[part]) for part in run.weights)


def test_copies_may_differ_in_the_two_four_penalty(generator):
    """Bit for bit: a copy without it is that of a group without it, and one that diverges disturbs none."""
    rows, network = as_rows(*problem(generator), torch.float32), network_by_name("3layer-hidden", 50)
    plain, penalised, wild = (replace(FAST, epochs=30, decay_two_four=each) for each in (0.0, 0.3, 1e6))
    runs = train_together(network, rows, [plain, wild, penalised, plain], keep_weights=True)
    alone = [train_together(network, rows, 2 * [each], keep_weights=True)[0] for each in (plain, penalised)]
    assert [run.diverged for run in runs] == [False, True, False, False]
    for run, expected in zip([runs[0], runs[2], runs[3]], [alone[0], alone[1], alone[0]], strict=True):
        assert run.train_loss == expected.train_loss
        assert all(torch.equal(run.weights[part], expected.weights[part]) for part in run.weights)
    assert alone[1].moved["W"].two_four < alone[0].moved["W"].two_four


def test_all_settings_may_diverge(generator):
    rows = as_rows(*problem(generator), torch.float32)
    wild = [replace(FAST, rate=1e6), replace(FAST, rate=1e7)]
    runs = train_together(network_by_name("2layer-all", 20), rows, wild)
    assert all(run.diverged for run in runs)
    assert all(len(run.epochs) < 3 for run in runs)


def test_full_batch_descent_is_that_of_the_two_layer_network(generator):
    """The hidden layer of width m with outputs a/√m and no bias is the network of `training.descent`."""
    X, Y = problem(generator, k=1)
    settings = TrainingSettings(rate=0.5, momentum=0, batch=None, epochs=20, drops=())
    network = network_by_name("2layer-hidden", 40)
    run = train_together(network, as_rows(X, Y, torch.float64), [settings], keep_weights=True)[0]
    start = draw_parameters(
        network,
        X.shape[1],
        1,
        settings.initialisation,
        generator=torch.Generator().manual_seed(0),
        dtype=torch.float64,
    )
    with_ones = torch.cat([X, torch.ones(len(X), 1, dtype=torch.float64)], 1)
    params = FineGrainedNet(W=start["W"][0], a=start["A"][0, 0] * 40**0.5)
    expected = descend(params, with_ones, Y[:, 0], eta=settings.rate / len(X), num_steps=20)
    torch.testing.assert_close(run.weights["W"][0], expected.params.W)


def test_diagnostics_are_those_of_the_weights(generator):
    X, Y = problem(generator)
    network = network_by_name("3layer-all", 15)
    rows = as_rows(X, Y, torch.float64)
    run = train_together(network, rows, [FAST], test=rows, keep_weights=True)[0]
    out = run.outputs(X)
    assert run.test_error[-1] == pytest.approx(float((out - Y).square().sum(1).mean()))
    assert run.train_error == pytest.approx(run.test_error)
    assert run.train_loss[-1] == pytest.approx(run.train_error[-1] / 2)
    assert run.test_misclassified[-1] == pytest.approx(float((out.argmax(1) != Y.argmax(1)).double().mean()))
    generator = torch.Generator().manual_seed(FAST.seed)
    start = draw_parameters(network, 6, 3, FAST.initialisation, generator=generator, dtype=torch.float64)
    V, V0 = run.weights["V"][0], start["V"][0]
    assert run.moved["V"].frobenius == pytest.approx(float(V.norm()))
    assert run.moved["V"].two_four == pytest.approx(float(V.square().sum(1).square().sum() ** 0.25))
    assert run.moved["V"].distance_spectral == pytest.approx(float(torch.linalg.svdvals(V - V0)[0]))
    ones = torch.ones(len(X), 1, dtype=torch.float64)
    signs = [(torch.cat([X, ones], 1) @ W.T > 0) for W in (run.weights["W"][0], start["W"][0])]
    assert run.sign_changes["first"] == pytest.approx(float((signs[0] != signs[1]).double().mean()))
    assert torch.equal(network_outputs(network, run.weights, X)[0], out)
    hidden = torch.cat([torch.relu(torch.cat([X, ones], 1) @ run.weights["W"][0].T), ones], 1)
    signs = [(hidden @ each.T > 0) for each in (V, V0)]
    changed = float((signs[0] != signs[1]).double().mean())
    assert run.sign_changes["second, W moved"] == pytest.approx(changed)


def test_validation_rows_are_looked_at_and_change_nothing_else(generator):
    X, Y = problem(generator)
    rows, held_out, tested = (as_rows(X[part], Y[part], torch.float64) for part in PARTS)
    network = network_by_name("3resnet-all", 12)
    plain, both, alone = (
        train_together(network, rows, [FAST], keep_weights=True, **sets)[0]
        for sets in (
            {"test": tested},
            {"test": tested, "validation": held_out},
            {"validation": held_out},
        )
    )
    assert plain.validation_error is None
    assert alone.test_error is None
    assert both.validation_error == alone.validation_error
    assert len(both.validation_error) == len(both.epochs)
    out = both.outputs(X[PARTS[1]])
    assert both.validation_error[-1] == pytest.approx(float((out - Y[PARTS[1]]).square().sum(1).mean()))
    same = ("epochs", "train_loss", "train_error", "test_error", "test_misclassified", "moved")
    assert all(getattr(plain, name) == getattr(both, name) for name in same)
    assert all(torch.equal(plain.weights[part], both.weights[part]) for part in plain.weights)
    assert TrainingRun.from_dict(both.to_dict()).validation_error == both.validation_error


def test_settings_that_differ_in_rates_and_decay_alone_share_their_batches():
    assert share_batches(FAST, replace(FAST, rate=9, rate_v=1, decay=2, decay_two_four=3))
    assert not share_batches(FAST, replace(FAST, seed=1))
    assert not share_batches(FAST, replace(FAST, momentum=0.5))


def test_fixed_biases_stay_and_refuse_decay(generator):
    X, Y = problem(generator)
    rows, network = as_rows(X, Y, torch.float64), ThreeLayers(9, "hidden", fixed_biases=True)
    run = train_together(network, rows, [replace(FAST, decay=0)], keep_weights=True)[0]
    start = draw_parameters(
        network, 6, 3, FAST.initialisation, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    for name in ("W", "V"):
        assert torch.equal(run.weights[name][..., -1], start[name][..., -1])
        assert not torch.equal(run.weights[name], start[name])
    with pytest.raises(InputError, match="stay fixed"):
        train_together(network, rows, [FAST])


def test_full_batch_descent_falls_at_the_rate_of_theorem_3_1(generator):
    """‖y − u(k)‖² ≤ (1 − ηλ₀/2)ᵏ ‖y − u(0)‖² of a wide net, λ₀ = λ_min(H∞) [fine-grained, theorem 3.1]."""
    X = torch.nn.functional.normalize(torch.randn(20, 10, generator=generator, dtype=torch.float64), dim=1)
    y = torch.sign(torch.randn(20, 1, generator=generator, dtype=torch.float64))
    H = gram_matrix(kernel_by_name("relu2-hidden"), with_ones(X) / 2**0.5) * 2  # of the rows (x, 1)
    eigenvalues = torch.linalg.eigvalsh(H)
    eta = 1 / float(eigenvalues[-1])
    network = network_by_name("2layer-hidden", 4096)
    settings = TrainingSettings(
        rate=eta * len(X),
        momentum=0,
        batch=None,
        epochs=40,
        drops=(),
        initialisation=Initialisation("resnet", sigma_w=1.0),
    )
    run = train_together(network, as_rows(X, y, torch.float64), [settings])[0]
    epochs = torch.tensor(run.epochs, dtype=torch.float64)
    bound = (1 - eta * float(eigenvalues[0]) / 2) ** epochs * run.train_error[0]
    assert len(run.epochs) == 41
    assert (torch.tensor(run.train_error, dtype=torch.float64) <= bound * (1 + 1e-12)).all()


def test_cross_entropy_needs_shares(generator):
    X, Y = problem(generator)
    for targets in (Y, Y[:, :1], Y.sign()):
        with pytest.raises(InputError, match="shares that sum to 1"):
            train_together(
                network_by_name("2layer-all", 4),
                as_rows(X, targets, torch.float64),
                [replace(FAST, loss="cross-entropy")],
            )


@pytest.mark.parametrize("name", NAMES[:3])
def test_weights_alone_are_those_of_a_run_that_is_measured(name, generator):
    X, Y = problem(generator)
    rows, network = as_rows(X, Y, torch.float32), network_by_name(name, 12)
    grid = [replace(FAST, rate=rate) for rate in (0.02, 1e4, 0.01)]
    runs = train_together(network, rows, grid, fewest=2, keep_weights=True)
    for run, weights in zip(runs, weights_together(network, rows, grid), strict=True):
        assert run.diverged == (weights is None)
        if weights is not None:
            assert all(torch.equal(weights[part], run.weights[part]) for part in run.weights)
    assert weights_together(network, rows, [replace(FAST, rate=1e6)]) == [None]
