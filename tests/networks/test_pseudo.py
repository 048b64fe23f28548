import itertools

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.network import Network, Parameters, network_outputs, with_ones
from widenet.networks.pseudo import Linearised, Pseudo, cross_term, distances, frozen_signs, with_signs
from widenet.networks.resnet import ResNet
from widenet.networks.tangent import jacobian
from widenet.testing import unit_rows

D, K, M = 4, 3, 7
REAL = [
    kind(M, trained) for kind in (TwoLayers, ThreeLayers, ResNet) for trained in ("all", "hidden", "last")
]
# Whether b₁ and b₂ enter [beyond-two-layers, section 6.3].
BIASES = {"biased": (1, 1), "semi-biased": (1, 0), "bias-free": (0, 0)}
FIXED = [TwoLayers(M, "hidden", fixed_biases=True), ThreeLayers(M, "all", fixed_biases=True)]
every_network = pytest.mark.parametrize(
    "network", REAL + FIXED, ids=[each.name for each in REAL] + [f"{each.name}-fixed" for each in FIXED]
)


def flat(params: Parameters, names: tuple[str, ...]) -> Tensor:
    """The parameters of each copy in one row, shape (s, P)."""
    return torch.cat([params[name].flatten(1) for name in names], dim=1)


def near(params: Parameters, names: tuple[str, ...], s: int, generator: torch.Generator) -> Parameters:
    """Copies, s of them, each a Gaussian step away in the named parameters."""
    moved = {}
    for name, part in params.items():
        step = torch.randn(s, *part.shape[1:], generator=generator, dtype=part.dtype)
        moved[name] = part + step if name in names else part.expand(s, -1, -1)
    return moved


def pseudo_formula(kind: type, D1: Tensor, D2: Tensor, biases: tuple[float, float], p: Parameters, X: Tensor):
    """The pseudo networks as the papers write them, with biases apart and rows as columns of X.T."""
    c1, c2 = biases
    W, b1, A = p["W"][..., :-1], p["W"][..., -1:], p["A"]
    first = D1.mT * (W @ X.T + c1 * b1)
    if kind is TwoLayers:
        return (A @ first).mT
    V, b2 = p["V"][..., :-1], p["V"][..., -1:]
    below = A @ first if kind is ResNet else first
    out = A @ (D2.mT * (V @ below + c2 * b2))
    return (out + below if kind is ResNet else out).mT


@every_network
def test_at_the_frozen_weights_it_is_the_real_network(network, draw, generator) -> None:
    start, X = draw(network, D, K, 1), unit_rows(6, D, generator=generator)
    tape = network.tape(start, 6)
    out = network.forward(start, with_ones(X), tape)
    for model in (Pseudo(network, start), Linearised(network, start)):
        seen = model.tape(start, 6)
        assert_close(model.forward(start, with_ones(X), seen), out, rtol=1e-12, atol=1e-12)
        for name in model.hidden:
            assert_close(seen[name], tape[name][..., :M], rtol=1e-12, atol=1e-12)


@every_network
def test_signs_are_those_of_the_values_before_the_relu(network, draw, generator) -> None:
    params, X = draw(network, D, K, 2), unit_rows(6, D, generator=generator)
    signs = frozen_signs(network, params, X)
    first = with_ones(X) @ params["W"].mT
    assert torch.equal(signs["first"], (first >= 0).double())
    if not isinstance(network, TwoLayers):
        below = first.relu() @ params["A"].mT if isinstance(network, ResNet) else first.relu()
        assert torch.equal(signs["second"], (with_ones(below) @ params["V"].mT >= 0).double())


@every_network
@pytest.mark.parametrize("biases", BIASES)
def test_pseudo_outputs_and_gradients_are_those_of_the_formula(network, biases, draw, generator) -> None:
    start, X = draw(network, D, K, 1), unit_rows(6, D, generator=generator)
    params = near(start, tuple(start), 4, generator)
    signs = frozen_signs(network, start, X)
    leaves = {name: part.clone().requires_grad_() for name, part in params.items()}
    expected = pseudo_formula(type(network), signs["first"], signs.get("second"), BIASES[biases], leaves, X)
    model = Pseudo(network, start, biases)
    assert_close(network_outputs(model, params, X), expected.detach(), rtol=1e-12, atol=1e-12)
    check_gradients(model, params, X, expected, leaves, generator)


@every_network
def test_linearised_outputs_and_gradients_are_those_of_the_jacobian(network, draw, generator) -> None:
    start, X = draw(network, D, K, 1), unit_rows(6, D, generator=generator)
    params = near(start, network.moved, 4, generator)
    if getattr(network, "fixed_biases", False):
        for name in ("W", "V"):
            if name in params:
                params[name][..., -1] = start[name][..., -1]
    leaves = {name: part.clone().requires_grad_() for name, part in params.items()}
    steps = flat(leaves, network.moved) - flat(start, network.moved)
    expected = network_outputs(network, start, X) + torch.einsum(
        "nkp,sp->snk", jacobian(network, start, X), steps
    )
    model = Linearised(network, start)
    assert_close(network_outputs(model, params, X), expected.detach(), rtol=1e-12, atol=1e-12)
    check_gradients(model, params, X, expected, leaves, generator)


def check_gradients(
    model: Network, params: Parameters, X: Tensor, out: Tensor, leaves: Parameters, generator: torch.Generator
) -> None:
    """Compare the backward pass with autograd through `out`, with momentum."""
    slopes = torch.randn(out.shape, generator=generator, dtype=out.dtype)
    earlier = {
        name: torch.randn(params[name].shape, generator=generator, dtype=out.dtype) for name in model.moved
    }
    automatic = torch.autograd.grad(
        (out * slopes).sum(), [leaves[name] for name in model.moved], allow_unused=True
    )
    sums = {name: part.clone() for name, part in earlier.items()}
    tape = model.tape(params, len(X))
    model.forward(params, with_ones(X), tape)
    model.backward(params, with_ones(X), tape, slopes, sums, 0.9)
    for name, gradient in zip(model.moved, automatic, strict=True):
        expected = gradient + 0.9 * earlier[name]
        if getattr(model.network, "fixed_biases", False) and name in ("W", "V"):
            expected[..., -1] = 0
        assert_close(
            sums[name], expected, rtol=1e-10, atol=1e-10, msg=lambda text, name=name: f"{name}: {text}"
        )


@every_network
def test_rows_of_each_copy(network, draw, generator) -> None:
    start, X = draw(network, D, K, 1), unit_rows(6, D, generator=generator)
    params = near(start, network.moved, 6, generator)
    for model in (Pseudo(network, start), Linearised(network, start)):
        together = network_outputs(model, params, X)
        apart = network_outputs(model, params, X[:, None])
        assert_close(apart[:, 0], together.diagonal(dim1=0, dim2=1).mT, rtol=1e-12, atol=1e-12)


def test_linearised_is_remark_6_1(draw, generator) -> None:
    """Without biases it is f(θ₀) + A D_v V' D_w W₀x + A D_v V₀ D_w W'x."""
    network = ThreeLayers(M, "hidden")
    start, X = draw(network, D, K, 1), unit_rows(6, D, generator=generator)
    for name in ("W", "V"):
        start[name][..., -1] = 0
    params = near(start, network.moved, 1, generator)
    step = {name: params[name] - start[name] for name in network.moved}
    for part in step.values():
        part[..., -1] = 0
    params = {**params, **{name: start[name] + step[name] for name in step}}
    model = Pseudo(network, start, "bias-free")
    terms = (
        network_outputs(model, {"W": W, "V": V, "A": start["A"]}, X)
        for W, V in ((start["W"], step["V"]), (step["W"], start["V"]))
    )
    assert_close(
        network_outputs(Linearised(network, start), params, X),
        network_outputs(network, start, X) + sum(terms),
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.parametrize(
    "network", [ThreeLayers(40, "hidden"), ResNet(40, "hidden"), TwoLayers(40, "hidden")]
)
def test_the_real_network_leaves_them_at_their_orders(network, draw, generator) -> None:
    """While no sign changes the pseudo network is exact, and the linearised one errs at second order."""
    start, X = draw(network, D, K, 1), unit_rows(20, D, generator=generator)
    far = near(start, network.moved, 1, generator)
    errors = []
    for size in (1e-6, 2e-6):
        params = {name: start[name] + size * (far[name] - start[name]) for name in start}
        assert all(
            torch.equal(signs, frozen_signs(network, start, X)[name])
            for name, signs in frozen_signs(network, params, X).items()
        )
        errors.append(distances(network, start, params, X))
    assert float(errors[1]["pseudo"]) < 1e-14
    if isinstance(network, TwoLayers):
        assert float(errors[1]["linearised"]) < 1e-14
    else:
        assert float(errors[1]["linearised"] / errors[0]["linearised"]) == pytest.approx(4, rel=0.01)
    far_away = distances(network, start, far, X)
    assert float(far_away["pseudo"]) > 0.01


def test_distances_are_root_mean_squares(draw, generator) -> None:
    network = ResNet(M)
    start, X = draw(network, D, K, 1), unit_rows(6, D, generator=generator)
    params = near(start, network.moved, 3, generator)
    found = distances(network, start, params, X)["pseudo"]
    gap = network_outputs(network, params, X) - network_outputs(Pseudo(network, start), params, X)
    expected = [(sum(float(row.norm()) ** 2 for row in copy) / 6) ** 0.5 for copy in gap]
    assert_close(found, torch.tensor(expected, dtype=torch.float64))


def all_signs(m: int) -> Tensor:
    return torch.tensor(list(itertools.product([-1.0, 1.0], repeat=m)), dtype=torch.float64)


def three_layers_and_step(m: int, draw, generator: torch.Generator):
    """A network, weights to freeze signs at, weights, and a step without biases; X."""
    network = ThreeLayers(m, "hidden", fixed_biases=True)
    start = draw(network, D, K, 1)
    params = near(start, network.moved, 1, generator)
    step = {
        name: torch.randn(start[name].shape, generator=generator, dtype=torch.float64) for name in ("W", "V")
    }
    for part in step.values():
        part[..., -1] = 0
    return network, start, params, step, unit_rows(5, D, generator=generator)


def test_signs_multiply_rows_of_w_and_columns_of_v(draw, generator) -> None:
    *_, step, _ = three_layers_and_step(M, draw, generator)
    sigma = all_signs(M)[[5, 77]]
    signed = with_signs(step, sigma)
    for copy, diagonal in enumerate(sigma):
        assert torch.equal(signed["W"][copy], torch.diag(diagonal) @ step["W"][0])
        assert torch.equal(signed["V"][copy, :, :-1], step["V"][0, :, :-1] @ torch.diag(diagonal))


def test_the_cross_term_vanishes_over_all_signs(draw, generator) -> None:
    """[beyond-two-layers, lemma 6.5]: E_Σ g' = 0, though no g' is; what is left does not depend on Σ."""
    network, start, params, step, X = three_layers_and_step(8, draw, generator)
    sigma = all_signs(8)
    cross = cross_term(network, start, params, step, sigma, X)
    assert float(cross.abs().mean()) > 0.1
    assert_close(cross.mean(0), torch.zeros(5, K, dtype=torch.float64), rtol=0, atol=1e-14)

    signs = frozen_signs(network, start, X)
    A, V, W = params["A"][0], step["V"][0, :, :-1], step["W"][0, :, :-1]
    quadratic = (A @ (signs["second"][0].T * (V @ (signs["first"][0].T * (W @ X.T))))).T
    bias_free = network_outputs(
        Pseudo(network, start, "bias-free"),
        {**with_signs(step, sigma), "A": params["A"].expand(256, -1, -1)},
        X,
    )
    assert_close(bias_free, quadratic.expand(256, -1, -1), rtol=1e-12, atol=1e-12)


def test_the_cross_term_is_linear_in_the_signs(draw, generator) -> None:
    network, start, params, step, X = three_layers_and_step(30, draw, generator)
    sigma = 2.0 * torch.randint(2, (4000, 30), generator=generator).double() - 1
    cross = cross_term(network, start, params, step, sigma, X)
    assert_close(cross_term(network, start, params, step, -sigma, X), -cross, rtol=1e-10, atol=1e-10)
    error = cross.std(0) / 4000**0.5
    assert bool((cross.mean(0).abs() < 5 * error).all())
    assert float(error.max()) < 0.2
