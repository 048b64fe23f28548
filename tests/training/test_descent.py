import math

import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.data import load
from widenet.kernels.names import kernel_by_name
from widenet.networks.two_layer import (
    FineGrainedNet,
    activations,
    draw_fine_grained,
    fine_grained_gradient,
    fine_grained_outputs,
    finite_gram,
)
from widenet.predict.curve import descent_loss
from widenet.runs import Store, Trial, kept
from widenet.runs.kept import KeptState
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import SpectralMeasure, gauss_measure, lanczos
from widenet.training import descent
from widenet.training.descent import DescentRun, UnseenRows, descend, row_space


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(3)


@pytest.fixture(name="X")
def rank_deficient_inputs(generator) -> torch.Tensor:
    """Unit rows of rank 11 in 24 coordinates: some unused, some copies, some combinations of others."""
    X = torch.zeros(30, 24, dtype=torch.float64)
    X[:, 2:13] = torch.randn(30, 11, generator=generator, dtype=torch.float64)
    X[:, 15] = X[:, 2]
    X[:, 16] = X[:, 3] - 2 * X[:, 12]
    return X / X.norm(dim=1, keepdim=True)


@pytest.fixture
def y(generator) -> torch.Tensor:
    return torch.randn(30, generator=generator, dtype=torch.float64)


def plain_descent(params: FineGrainedNet, X, y, eta: float, num_steps: int) -> list[FineGrainedNet]:
    """The recursion as the paper writes it, one network for every step."""
    networks = [params]
    for _ in range(num_steps):
        last = networks[-1]
        networks.append(FineGrainedNet(W=last.W - eta * fine_grained_gradient(last, X, y), a=last.a))
    return networks


def linear_residuals(H, residual, eta: float, num_steps: int) -> torch.Tensor:
    """Residuals y − u(k) of u(k+1) = u(k) + ηH(y − u(k)), by the recursion itself, shape (k + 1, n)."""
    residuals = [residual]
    for _ in range(num_steps):
        residuals.append(residuals[-1] - eta * (H @ residuals[-1]))
    return torch.stack(residuals)


def linear_norms(H, residual, eta: float, num_steps: int) -> torch.Tensor:
    """‖y − u(k)‖ of the same recursion, shape (k + 1,)."""
    return linear_residuals(H, residual, eta, num_steps).norm(dim=1)


def closed_form_gram(X) -> torch.Tensor:
    cosines = (X @ X.T).clamp(-1, 1).fill_diagonal_(1)
    return cosines * (math.pi - torch.arccos(cosines)) / (2 * math.pi)


def _divide(monkeypatch, block_neurons):
    """Let tiles have so many neurons."""
    monkeypatch.setattr(descent, "BLOCK_ENTRIES", 0)
    monkeypatch.setattr(descent, "BLOCK_NEURONS", block_neurons)


@pytest.mark.parametrize("block_neurons", [7, descent.BLOCK_NEURONS])
def test_descent_is_the_plain_recursion(monkeypatch, generator, X, y, block_neurons):
    _divide(monkeypatch, block_neurons)
    params = draw_fine_grained(50, 24, 0.1, generator=generator)
    networks = plain_descent(params, X, y, eta=0.1, num_steps=40)
    run = descend(params, X, y, eta=0.1, num_steps=40)

    norms = torch.stack([(y - fine_grained_outputs(network, X)).norm() for network in networks])
    distances = torch.stack([(network.W - params.W).norm() for network in networks])
    assert_close(run.residual_norms, norms, rtol=1e-10, atol=0)
    assert_close(run.distances, distances, rtol=1e-10, atol=0)
    assert_close(run.params.W, networks[-1].W, rtol=1e-10, atol=1e-12)
    assert_close(run.neuron_movement, (networks[-1].W - params.W).norm(dim=1), rtol=1e-10, atol=1e-12)
    changed = activations(networks[-1], X) != activations(params, X)
    assert changed.any()
    assert run.sign_changes == pytest.approx(changed.double().mean().item())
    assert not run.diverged


def test_float32_follows_float64(X, y):
    single, double = (
        descend(
            draw_fine_grained(200, 24, 0.5, generator=torch.Generator().manual_seed(0), dtype=dtype),
            X,
            y,
            eta=0.1,
            num_steps=100,
        )
        for dtype in (torch.float32, torch.float64)
    )
    assert single.params.W.dtype == torch.float32
    assert_close(single.residual_norms, double.residual_norms, rtol=1e-5, atol=0)
    assert_close(single.distances, double.distances, rtol=1e-5, atol=0)


def test_descent_at_huge_kappa_is_linear_with_the_initial_gram(generator, X, y):
    """No sign ever changes when κ is huge, so that Theorem 4.1 holds exactly with H(0) in place of H∞."""
    params = draw_fine_grained(400, 24, 1e6, generator=generator, antisymmetric=True)
    H = finite_gram(params, X)
    eta = 1 / torch.linalg.eigvalsh(H)[-1].item()
    run = descend(params, X, y, eta=eta, num_steps=200)
    assert run.sign_changes == 0
    assert_close(run.residual_norms, linear_norms(H, y, eta, 200), rtol=1e-7, atol=1e-7)


def test_divergence_is_flagged_and_ends_the_run(generator, X, y):
    params = draw_fine_grained(400, 24, 1.0, generator=generator, antisymmetric=True)
    eta_max = 2 / torch.linalg.eigvalsh(finite_gram(params, X))[-1].item()
    run = descend(params, X, y, eta=20 * eta_max, num_steps=500)
    assert run.diverged
    assert len(run.residual_norms) == len(run.distances) < 20
    assert run.residual_norms[:-1].max() <= descent.DIVERGED * run.residual_norms[0]


def test_an_overflow_is_flagged_too(generator, X, y):
    params = draw_fine_grained(20, 24, 1.0, generator=generator, dtype=torch.float32)
    assert descend(params, X, y, eta=1e39, num_steps=3).diverged


def test_progress_is_told_after_each_step(generator, X, y):
    told: list[int] = []
    descend(
        draw_fine_grained(20, 24, 0.1, generator=generator), X, y, eta=0.1, num_steps=4, progress=told.append
    )
    assert told == [1, 2, 3, 4]


@pytest.fixture
def unseen(generator) -> UnseenRows:
    """Rows that use coordinates which the training rows do not."""
    X = torch.randn(17, 24, generator=generator, dtype=torch.float64)
    return UnseenRows(X / X.norm(dim=1, keepdim=True), torch.randn(17, generator=generator).sign().double())


@pytest.mark.parametrize("block_neurons", [4, descent.BLOCK_NEURONS])
def test_records_are_those_of_the_plain_recursion(monkeypatch, generator, X, y, unseen, block_neurons):
    _divide(monkeypatch, block_neurons)
    params = draw_fine_grained(50, 24, 0.3, generator=generator)
    networks = plain_descent(params, X, y, eta=0.1, num_steps=40)
    records = descend(params, X, y, eta=0.1, num_steps=40, num_records=8, unseen=unseen).records

    steps = records.steps.int().tolist()
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (0, 40)
    assert 6 <= len(steps) <= 9
    for at, step in enumerate(steps):
        u = fine_grained_outputs(networks[step], unseen.X)
        assert float(records.l1_errors[at]) == pytest.approx(float((unseen.y - u).abs().mean()), rel=1e-10)
        assert float(records.misclassified[at]) == sum((u.sign() != unseen.y).tolist()) / 17
        changed = activations(networks[step], X) != activations(params, X)
        assert float(records.sign_changes[at]) == pytest.approx(float(changed.double().mean()))
    assert len(records.misclassified.unique()) > 1
    assert len(records.sign_changes.unique()) > 3


def test_records_change_nothing_else(X, y, unseen):
    params = draw_fine_grained(40, 24, 0.3, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
    plain, seen, judged = (
        descend(params, X, y, eta=0.1, num_steps=30, **options)
        for options in ({}, {"num_records": 5}, {"num_records": 5, "unseen": unseen})
    )
    assert plain.records is None
    assert (seen.records.l1_errors, seen.records.misclassified) == (None, None)
    assert torch.equal(seen.records.sign_changes, judged.records.sign_changes)
    assert seen.records.sign_changes[-1] == plain.sign_changes
    assert_same_run(plain, seen)
    assert_same_run(plain, judged)


def test_the_step_of_a_divergence_is_recorded(generator, X, y):
    params = draw_fine_grained(400, 24, 1.0, generator=generator, antisymmetric=True)
    eta_max = 2 / torch.linalg.eigvalsh(finite_gram(params, X))[-1].item()
    run = descend(params, X, y, eta=20 * eta_max, num_steps=10**6, num_records=3)
    assert run.diverged
    assert run.records.steps[-1] == len(run.residual_norms) - 1


def assert_same_run(run: DescentRun, other: DescentRun) -> None:
    """Bit for bit."""
    for name in ("residual_norms", "distances", "neuron_movement"):
        assert torch.equal(getattr(run, name), getattr(other, name))
    assert torch.equal(run.params.W, other.params.W)
    assert (run.sign_changes, run.diverged) == (other.sign_changes, other.diverged)


class KilledError(Exception):
    """Stands for the end of a process."""


def kill_at(last: int):
    def progress(step: int) -> None:
        if step == last:
            raise KilledError

    return progress


@pytest.mark.parametrize("steps", [[1], [7, 8], [20]])
def test_a_killed_run_ends_as_one_that_was_not(tmp_path, monkeypatch, X, y, unseen, steps):
    """What was kept after the step before the kill is gone on from; the step itself is taken again."""
    monkeypatch.setattr(kept, "EVERY", 0.0)
    params = draw_fine_grained(60, 24, 0.3, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
    options = {"eta": 0.1, "num_steps": 20, "num_records": 9, "unseen": unseen}
    whole = descend(params, X, y, **options)
    trial, told = Trial({"seed": 0}, code="1", data="d"), []
    with Store(tmp_path / "runs.store") as store:
        for step in steps:
            with pytest.raises(KilledError):
                descend(params, X, y, **options, kept=KeptState(store, trial), progress=kill_at(step))
            assert store.num_unfinished() == (step > 1)
        for _ in range(2):  # the second finds the end, and has no step to take
            run = descend(params, X, y, **options, kept=KeptState(store, trial), progress=told.append)
            assert_same_run(run, whole)
            for name in ("steps", "sign_changes", "l1_errors", "misclassified"):
                assert torch.equal(getattr(run.records, name), getattr(whole.records, name))
        assert store.num_unfinished() == 0
    assert told == list(range(steps[-1], 21))


def test_targets_of_several_columns_are_refused(generator, X, y):
    with pytest.raises(InputError, match=r"y must have shape \(30,\), not \(30, 1\)"):
        descend(draw_fine_grained(20, 24, 0.1, generator=generator), X, y[:, None], eta=0.1, num_steps=1)


def test_row_space_holds_the_rows(X):
    basis = row_space(X)
    assert basis.shape == (24, 16)
    assert_close(basis.T @ basis, torch.eye(16, dtype=torch.float64), rtol=0, atol=1e-12)
    assert_close(X @ basis @ basis.T, X, rtol=0, atol=1e-12)


def test_row_space_of_few_rows_has_no_more_directions_than_rows(X):
    assert row_space(X[:3]).shape == (24, 3)


@pytest.fixture(name="mnist")
def first_zeros_and_ones(data_dir) -> tuple[torch.Tensor, torch.Tensor]:
    dataset = load("mnist-2")
    return dataset.X[:1000], dataset.Y[:1000, 0]


def labelled(y, labels: str) -> torch.Tensor:
    """The true labels, or random signs in their place."""
    if labels == "true":
        return y
    generator = torch.Generator().manual_seed(1)
    return 2.0 * torch.randint(2, y.shape, generator=generator).to(y.dtype) - 1.0


def label_measure(X, y) -> SpectralMeasure:
    H = DenseGram(kernel_by_name("relu2-hidden").tile(X, X))
    return gauss_measure(lanczos(H, y[:, None], num_steps=60))


@pytest.mark.slow
@pytest.mark.parametrize("labels", ["true", "random"])
def test_prediction_against_reality(mnist, labels):
    """The paper's setting at n = 1,000; its small κ costs up to 11% (docs/prediction-and-reality.md).

    `widenet reproduce fine-grained/fig1a` goes further.
    """
    X, y = mnist[0], labelled(mnist[1], labels)
    measure = label_measure(X, y)
    eta = 1 / measure.nodes[-1].item()
    generator = torch.Generator().manual_seed(0)
    params = draw_fine_grained(10_000, X.shape[1], 1e-2, generator=generator, dtype=torch.float32)
    run = descend(params, X, y, eta=eta, num_steps=50)

    steps = torch.arange(51, dtype=torch.float64)
    predicted = (2 * descent_loss(measure, eta, steps)).sqrt()
    assert not run.diverged
    assert ((run.residual_norms - predicted).abs() / predicted).max() < 0.14
    assert predicted[50] < {"true": 0.17, "random": 0.96}[labels] * predicted[0]


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "kappa"), [("true", 1.0), ("random", 10.0)])
def test_deviation_falls_as_the_root_of_the_width(mnist, labels, kappa):
    """‖u(k) − ũ(k)‖ from u(0) = 0 is O(m^{-1/2}) [fine-grained, Appendix C]: 16 times m leaves a quarter."""
    X, y = mnist[0][:100], labelled(mnist[1][:100], labels)
    H = closed_form_gram(X)
    eta = 1 / torch.linalg.eigvalsh(H)[-1].item()
    predicted = y - linear_residuals(H, y, eta, 100)[-1]

    def gap(width: int, seed: int) -> float:
        generator = torch.Generator().manual_seed(seed)
        params = draw_fine_grained(
            width, X.shape[1], kappa, generator=generator, antisymmetric=True, dtype=torch.float32
        )
        run = descend(params, X, y, eta=eta, num_steps=100)
        return ((fine_grained_outputs(run.params, X.to(torch.float32)) - predicted).norm() / y.norm()).item()

    narrow, wide = (sum(gap(width, seed) for seed in range(4)) for width in (250, 4_000))
    assert 3 < narrow / wide < 5


@pytest.mark.parametrize("labels", ["true", "random"])
def test_small_kappa_is_what_deviates(mnist, labels):
    """At the same width, raising κ takes the changes of sign away and with them most of the deviation."""
    X, y = mnist[0][:100], labelled(mnist[1][:100], labels)
    H = closed_form_gram(X)
    eta = 1 / torch.linalg.eigvalsh(H)[-1].item()
    predicted = linear_norms(H, y, eta, 100)

    def run(kappa: float) -> DescentRun:
        generator = torch.Generator().manual_seed(0)
        params = draw_fine_grained(
            4_000, X.shape[1], kappa, generator=generator, antisymmetric=True, dtype=torch.float32
        )
        return descend(params, X, y, eta=eta, num_steps=100)

    small, large = run(1e-2), run(10.0)
    deviations = [((r.residual_norms - predicted).abs() / predicted).max().item() for r in (small, large)]
    assert small.sign_changes > 0.2
    assert large.sign_changes < 0.01
    assert deviations[0] > 0.2
    assert deviations[1] < 0.06
