"""Paths of large linear models against eigendecompositions, explicit features and small steps."""

import pytest
import torch

from widenet.base.errors import InputError
from widenet.kernels import cross_matrix, gram_matrix, kernel_by_name
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.names import network_by_name
from widenet.networks.network import network_outputs, with_ones
from widenet.networks.tangent import jacobian
from widenet.testing import unit_rows
from widenet.training import paths
from widenet.training.linear import factorise, flow_predictions, flow_residuals, ridge_coefficients
from widenet.training.paths import flow_path, last_features, linear_paths, ridge_path

RIDGES = (1e-3, 0.1, 3.0)
TIMES = (0.0, 0.02, 0.5, 20.0)
NAMES = ["2layer-all", "3layer-hidden", "3resnet-hidden", "3resnet-all"]
LAST = ["2layer-last", "3layer-last", "3resnet-last", "3resnet-general-last"]


@pytest.fixture(params=[1, 3], ids=["one column", "three columns"])
def problem(request, generator):
    """Gram matrix (150, 150), cross matrix (20, 150) and targets."""
    X, Z = unit_rows(150, 4, generator=generator), unit_rows(20, 4, generator=generator)
    kernel = kernel_by_name("relu2-all")
    Y = torch.randn(150, request.param, generator=generator, dtype=torch.float64)
    return gram_matrix(kernel, X), cross_matrix(kernel, Z, X), Y


@pytest.fixture
def rows(generator):
    """Inputs (30, 5), targets (30, 2), and two sets that were held out, of 11 and 6 rows."""
    X = torch.randn(47, 5, generator=generator, dtype=torch.float64)
    Y = torch.stack([X[:, 0] * X[:, 1], X[:, 2].tanh() + 1], dim=1)
    return X[:30], Y[:30], [(X[30:41], Y[30:41]), (X[41:], Y[41:])]


def drawn(name, d=5, k=2, width=14):
    network = network_by_name(name, width)
    generator = torch.Generator().manual_seed(3)
    return network, draw_parameters(network, d, k, Initialisation("layers"), generator=generator)


def mean_square(rest):
    return float(rest.square().sum(-1).mean())


def test_ridges_are_those_of_the_eigendecomposition(problem):
    K, _, Y = problem
    ridges, before = torch.tensor(RIDGES, dtype=torch.float64), K.clone()
    expected = ridge_coefficients(factorise(K), Y, ridges)
    torch.testing.assert_close(ridge_path(K, Y, ridges), expected, rtol=1e-9, atol=1e-9)
    assert torch.equal(K, before)


def test_flow_is_that_of_the_eigendecomposition(problem):
    K, cross, Y = problem
    times = torch.tensor([0.0, 1e-3, 0.1, 1.0, 30.0, 1000.0], dtype=torch.float64)
    flow, factors = flow_path(K, Y, times), factorise(K)
    assert flow.converged
    assert flow.num_products < 150
    expected = flow_predictions(factors, cross, Y, times)
    torch.testing.assert_close(cross @ flow.coefficients, expected, rtol=1e-8, atol=1e-8)
    expected = flow_residuals(factors, Y, times)
    torch.testing.assert_close(Y - K @ flow.coefficients, expected, rtol=1e-8, atol=1e-8)


def test_the_error_of_a_short_space_is_bounded_and_flagged(generator):
    X = unit_rows(120, 4, generator=generator)
    K = gram_matrix(kernel_by_name("relu2-all"), X)
    times = torch.tensor([0.1, 1.0, 10.0, 100.0], dtype=torch.float64)
    factors = factorise(K)
    for column in range(5):
        y = torch.randn(120, 1, generator=generator, dtype=torch.float64)
        exact = flow_predictions(factors, torch.eye(120, dtype=K.dtype), y, times)  # the coefficients
        for max_products in (4, 8, 16, 32):
            flow = flow_path(K, y, times, max_products=max_products)
            gap = flow.coefficients - exact
            energy = [(each.mT @ K @ each)[:, 0, 0].clamp(min=0).sqrt() for each in (gap, flow.coefficients)]
            actual = float((energy[0] / energy[1]).max())
            assert actual <= flow.error * (1 + 1e-6) + 1e-9, (column, max_products)
            assert flow.error < 100 * actual + 1e-9
            assert not flow.converged
            assert flow.num_products == max_products


def test_ridges_in_a_space_are_those_of_a_factorisation_within_their_bound(generator):
    X = unit_rows(120, 4, generator=generator)
    K, y = gram_matrix(kernel_by_name("relu2-all"), X), torch.randn(120, 1, generator=generator).double()
    ridges = torch.tensor([1e-6, 1e-3, 0.1, 3.0], dtype=torch.float64)
    exact = ridge_path(K, y, ridges)
    energy = [float((each.T @ K @ each).sqrt()) for each in exact]
    for max_products in (4, 16, 48):
        space = flow_path(K, y, torch.tensor([1.0]).double(), tolerance=0.0, max_products=max_products).space
        for ridge, alpha, size in zip(ridges, exact, energy, strict=True):
            u, bound = space.ridge(ridge[None])
            gap = space.basis @ u[0] - alpha
            actual = float((gap.T @ K @ gap).clamp(min=0).sqrt()) / size
            assert actual <= bound * (1 + 1e-6) + 1e-9
            assert float(ridge) < 1e-3 or bound < 100 * actual + 1e-9


def test_ridges_below_rounding_are_not_read_off_a_space(generator):
    """A space that is exhausted leaves no residual, but K has been rounded."""
    features = torch.randn(50, 10, generator=generator).double()
    K, y = features @ features.T, torch.randn(50, 1, generator=generator).double()
    space = flow_path(K, y, torch.tensor([1.0]).double()).space
    assert space.ridge(torch.tensor([1.0]).double())[1] < paths.TOLERANCE
    with pytest.raises(InputError, match="not positive definite to rounding"):
        ridge_path(K, y, torch.tensor([1e-16]).double(), space)


def test_only_ridges_that_a_space_has_are_read_off_it(problem, monkeypatch):
    K, _, Y = problem
    space = flow_path(K, Y, torch.tensor([0.5], dtype=torch.float64)).space
    ridges = torch.tensor([1e-6, 1e-3, 0.1, 3.0, 100.0], dtype=torch.float64)
    is_known = [space.ridge(ridge[None])[1] <= paths.TOLERANCE for ridge in ridges]
    assert True in is_known
    assert False in is_known
    solved = []
    monkeypatch.setattr(paths, "_solved", lambda K, Y, ridge, factor: solved.append(ridge) or 0 * Y)
    found = ridge_path(K, Y, ridges, space)
    assert solved == [float(ridge) for ridge, known in zip(ridges, is_known, strict=True) if not known]
    monkeypatch.undo()
    expected = ridge_coefficients(factorise(K), Y, ridges)
    for known, mine, theirs in zip(is_known, found, expected, strict=True):
        if known:
            torch.testing.assert_close(K @ mine, K @ theirs, rtol=1e-7, atol=1e-7)


def test_nothing_to_fit_stays_nothing():
    times, K = torch.tensor([1.0, 2.0], dtype=torch.float64), torch.eye(3, dtype=torch.float64)
    assert not flow_path(K, torch.zeros(3, 2).double(), times).coefficients.any()
    y = torch.ones(3, 1, dtype=torch.float64)
    assert torch.equal(flow_path(0 * K, y, times).coefficients[1], 2 * y)


def test_wrong_ridges_and_times_are_refused():
    K, y = torch.ones(3, 3, dtype=torch.float64), torch.ones(3, 1, dtype=torch.float64)
    with pytest.raises(InputError, match="positive"):
        ridge_path(K, y, torch.tensor([0.0]))
    with pytest.raises(InputError, match="negative"):
        flow_path(K, y, torch.tensor([-1.0]))
    with pytest.raises(InputError, match=r"ridge 1\.0e-20 this 3 x 3 .* use ridges from 2e-15 on"):
        ridge_path(K, y, torch.tensor([1e-20], dtype=torch.float64))


@pytest.mark.parametrize("name", NAMES)
def test_the_ridge_of_the_ntk_is_that_on_the_movement(name, rows, monkeypatch):
    """Δ minimises ‖Y − f⁽⁰⁾ − JΔ‖² + ρ‖Δ‖²: least squares with rows √ρ I below J."""
    monkeypatch.setattr(paths, "PIECE_ENTRIES", 500)
    network, start = drawn(name)
    X, Y, held_out = rows
    found = linear_paths(network, start, X, Y, held_out, RIDGES, [1.0])
    double = {part: values.double() for part, values in start.items()}
    for place, ridge in enumerate(RIDGES):
        J = jacobian(network, double, X).flatten(0, 1)
        rest = (Y - network_outputs(network, double, X)[0]).flatten()
        rows_below = ridge**0.5 * torch.eye(J.shape[1], dtype=torch.float64)
        system = torch.cat([J, rows_below]), torch.cat([rest, rest.new_zeros(J.shape[1])])[:, None]
        step = torch.linalg.lstsq(*system).solution
        for (inputs, targets), errors in zip(
            [(X, Y), *held_out], [found.ridge.train, *found.ridge.held_out], strict=True
        ):
            moved = (jacobian(network, double, inputs) @ step)[..., 0]
            expected = mean_square(targets - network_outputs(network, double, inputs)[0] - moved)
            assert errors[place] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", ["2layer-hidden", "3resnet-all"])
def test_the_flow_of_the_ntk_is_the_limit_of_small_steps(name, rows):
    network, start = drawn(name)
    X, Y, held_out = rows
    found = linear_paths(network, start, X, Y, held_out, [1.0], TIMES)
    assert found.converged
    double = {part: values.double() for part, values in start.items()}
    at_start = [network_outputs(network, double, each)[0] for each in (X, held_out[0][0])]
    J, J_held_out = (jacobian(network, double, each).flatten(0, 1) for each in (X, held_out[0][0]))
    step, rate = J.new_zeros(J.shape[1]), 2e-5
    for number in range(round(0.5 / rate) + 1):
        if number in (0, round(0.02 / rate), round(0.5 / rate)):
            place = TIMES.index(round(number * rate, 10))
            outs = at_start[0] + (J @ step).view(30, 2), at_start[1] + (J_held_out @ step).view(11, 2)
            assert found.flow.train[place] == pytest.approx(mean_square(Y - outs[0]), rel=5e-3)
            expected = mean_square(held_out[0][1] - outs[1])
            assert found.flow.held_out[0][place] == pytest.approx(expected, rel=5e-3)
        step = step + rate * ((Y - at_start[0]).flatten() - J @ step) @ J


@pytest.mark.parametrize("name", LAST)
def test_the_conjugate_kernel_is_regression_on_the_hidden_values(name, rows, monkeypatch):
    monkeypatch.setattr(paths, "PIECE_ENTRIES", 100)
    network, start = drawn(name)
    X, Y, held_out = rows
    found = linear_paths(network, start, X, Y, held_out, RIDGES, TIMES)
    double = {part: values.double() for part, values in start.items()}
    H = last_features(network, double, X)
    eigenvalues, vectors = torch.linalg.eigh(H.T @ H)
    eigenvalues = eigenvalues.clamp(min=0)
    sets = [(X, Y), *held_out]
    for path, filters in (
        (found.ridge, [1 / (eigenvalues + ridge) for ridge in RIDGES]),
        (found.flow, [-torch.expm1(-time * eigenvalues) / eigenvalues.clamp(min=1e-300) for time in TIMES]),
    ):
        for place, weights in enumerate(filters):
            A = vectors @ (weights[:, None] * (vectors.T @ (H.T @ Y)))
            for (inputs, targets), errors in zip(sets, [path.train, *path.held_out], strict=True):
                expected = mean_square(targets - last_features(network, double, inputs) @ A)
                assert errors[place] == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", LAST)
def test_outputs_are_the_last_layer_times_the_features(name, rows):
    network, start = drawn(name)
    X = rows[0].float()
    out = network_outputs(network, start, X)[0]
    torch.testing.assert_close(last_features(network, start, X) @ start["A"][0].T, out)


def test_features_of_the_resnet_keep_the_inner_layer(rows):
    """H = σ(W(x, 1)) + σ(V(A⁽⁰⁾σ(W(x, 1)), 1))."""
    network, start = drawn("3resnet-last")
    X = rows[0].float()
    first = torch.relu(with_ones(X) @ start["W"][0].T)
    second = torch.relu(with_ones(first @ start["A"][0].T) @ start["V"][0].T)
    torch.testing.assert_close(last_features(network, start, X), first + second)


def test_weight_decay_on_the_movement_is_the_ridge_n_times_as_large(generator):
    """Gradient descent on the mean loss of the linear model with λ/2 ‖Δ‖² ends where the ridge nλ is."""
    network, start = drawn("2layer-hidden", width=400)
    X, Z = unit_rows(12, 5, generator=generator), unit_rows(7, 5, generator=generator)
    Y, decay, n = X[:, :2] * 2, 0.05, 12
    found = linear_paths(network, start, X, Y, [(Z, Z[:, :2] * 2)], [n * decay], [1.0])
    double = {part: values.double() for part, values in start.items()}
    J, at_start = jacobian(network, double, X).flatten(0, 1), network_outputs(network, double, X)[0]
    step = J.new_zeros(J.shape[1])
    rate = 1.0 / float(torch.linalg.matrix_norm(J, ord=2) ** 2 / n + decay)
    for _ in range(4000):
        step = step - rate * (((J @ step) - (Y - at_start).flatten()) @ J / n + decay * step)
    expected = mean_square(Y - at_start - (J @ step).view(n, 2))
    assert found.ridge.train[0] == pytest.approx(expected, rel=1e-6)
