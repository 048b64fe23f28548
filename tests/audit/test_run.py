import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch

import widenet
from widenet.audit import forecast, run, train, work
from widenet.audit.findings import Estimate, GramPlan, Held
from widenet.audit.run import run_audit
from widenet.audit.settings import AuditSettings
from widenet.base.errors import InputError, NotConvergedError
from widenet.base.progress import Progress
from widenet.data import load, subset
from widenet.kernels import gram_matrix, kernel_by_name
from widenet.report.audit import page, sentences
from widenet.report.audit.review import review_data
from widenet.report.audit.theorists import theorists
from widenet.report.audit.verdicts import verdicts
from widenet.study.forecast import Forecast

KEYS = {
    "data": {"n", "d", "classes", "task", "duplicates", "conflicts"},
    "complexity": {"value", "lower", "upper", "random", "shuffled", "shuffled_std", "p_value"},
    "dependence": {"p_value"},
    "spectrum": {"eigenvalue_max", "alignment"},
    "curve": {"eta", "eta_max", "steps", "loss", "random_loss", "steps_to"},
    "bound": {"value", "terms", "vacuous"},
    "loo": {"error", "standard_error", "misclassified", "constant"},
    "learning_curve": {"n", "error", "misclassified"},
    "chosen": {"kernel", "ridge", "loo", "learning_curve"},
    "noise": {"estimate", "low", "high", "level", "decided"},
    "forecast": {"memory_bytes", "seconds"},
}


def gram_of(dataset, name="relu2-hidden"):
    return gram_matrix(kernel_by_name(name), dataset.X)


def exact_complexity(dataset, H):
    return math.sqrt(2 * float((dataset.Y * torch.linalg.solve(H, dataset.Y)).sum()) / dataset.n)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_numbers_equal_dense_linear_algebra(kind, request):
    dataset = request.getfixturevalue(kind)
    result = run_audit(dataset)
    H = gram_of(dataset)
    eigenvalues, vectors = torch.linalg.eigh(H)
    found = result.complexity
    assert found.lower <= exact_complexity(dataset, H) <= found.upper
    assert found.upper / found.lower - 1 < 1e-5
    assert math.isclose(result.spectrum.eigenvalue_max, float(eigenvalues[-1]), rel_tol=1e-9)
    assert result.spectrum.eigenvalue_min_certified <= float(eigenvalues[0])
    energy = (vectors.T @ dataset.Y).square().sum(1)
    for step, loss in list(zip(result.curve.steps, result.curve.loss, strict=True))[::10]:
        exact = float(((1 - result.curve.eta * eigenvalues) ** (2 * step) * energy).sum()) / 2
        assert math.isclose(loss, exact, rel_tol=0.011)
    held_out = torch.stack([_refit_without(H, dataset.Y, i) for i in range(dataset.n)])
    assert math.isclose(result.loo.error, float((held_out - dataset.Y).square().sum(1).mean()), rel_tol=1e-6)


def _refit_without(H, Y, i, rest=None, ridge=0.0):
    """What the rows `rest`, by default all but i, predict for row i."""
    rest = torch.arange(len(Y)) != i if rest is None else rest
    A = H[rest][:, rest] + ridge * torch.eye(int(rest.sum()), dtype=H.dtype)
    return H[i, rest] @ torch.linalg.solve(A, Y[rest])


@pytest.mark.parametrize("dense_rows", [0, 1000])
def test_rows_with_the_same_inputs_are_left_out_together(arrays, monkeypatch, dense_rows):
    """Each row predicted by a fit without it and without its twins, which would tell its answer."""
    monkeypatch.setattr(forecast, "DENSE_ROWS", dense_rows)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    place = np.concatenate([np.arange(80), rng.integers(80, size=40)])
    dataset = arrays(X[place], np.array(["a", "b", "c"])[rng.integers(3, size=80)][place])
    result = run_audit(dataset)
    others = torch.as_tensor(place[:, None] != place)
    for kernel, ridge, loo in (
        ("relu2-hidden", 1e-9, result.loo),
        (result.chosen.kernel, result.chosen.ridge, result.chosen.loo),
    ):
        H = gram_of(dataset, kernel)
        held_out = torch.stack([_refit_without(H, dataset.Y, i, others[i], ridge) for i in range(120)])
        wrong = float((held_out.argmax(1) != dataset.Y.argmax(1)).double().mean())
        assert abs(loo.misclassified - wrong) <= (0.01 if dense_rows else 0.1)
        assert loo.constant == 1 - dataset.labels.bincount().max() / 120


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.98, 0.02), (0.9, 0.07, 0.03)])
def test_labels_that_do_not_depend_on_the_inputs_are_told_so(arrays, shares):
    rng = np.random.default_rng(0)
    labels = np.repeat([f"class {k}" for k in range(len(shares))], [round(300 * share) for share in shares])
    result = run_audit(arrays(rng.normal(size=(300, 8)), labels))
    noise, _, dependence, expected, *more = sentences(result)
    assert "cannot be told" in noise
    assert dependence.startswith(("Nothing shows", "It is not clear"))
    assert expected.startswith("No gain over always answering the most frequent class is shown")
    assert not any("more data helps." in told for told in more)
    labels, learnable, more_data = (card.headline for card in verdicts(result))
    assert labels == "Wrong labels cannot be counted here"
    assert learnable == "No gain over guessing is shown"
    assert more_data == "Cannot be told"


@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_shuffled_labels_are_as_complex_as_shuffles_of_them(kind, request, generator):
    dataset = request.getfixturevalue(kind)
    found = run_audit(dataset).complexity
    inverse = torch.linalg.inv(gram_of(dataset))
    orders = (torch.randperm(dataset.n, generator=generator) for _ in range(2000))
    drawn = np.array([float((Y * (inverse @ Y)).sum()) for Y in map(dataset.Y.__getitem__, orders)])
    expected = math.sqrt(2 * drawn.mean() / dataset.n)
    assert abs(found.shuffled - expected) < 4 * found.shuffled_error + 0.01 * expected
    spread = np.sqrt(2 * drawn / dataset.n).std()
    assert math.isclose(found.shuffled_std, spread, rel_tol=0.15)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_the_promised_keys_are_there(kind, request):
    record = run_audit(request.getfixturevalue(kind)).to_dict()
    others = {"schema", "version", "kernel", "labels_file", "seconds", "contradicting"}
    assert {*others, *KEYS} <= record.keys()
    assert record["complexity"]["random"] == record["complexity"]["shuffled"]
    for part, keys in KEYS.items():
        assert keys <= record[part].keys()


def test_tiles_give_what_the_dense_matrix_gives(multiclass, monkeypatch):
    dense = run_audit(multiclass)
    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    tiled = run_audit(multiclass)
    assert dense.gram.held is Held.DENSE
    assert tiled.gram.held is Held.PACKED
    assert math.isclose(tiled.complexity.value, dense.complexity.value, rel_tol=1e-6)
    assert tiled.loo.method is Estimate.ESTIMATED
    assert abs(tiled.loo.error / dense.loo.error - 1) < 0.25


@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize(  # in float32, and never in float32
    "margin", [work.SINGLE_MARGIN, pytest.param(math.inf, marks=pytest.mark.slow)]
)
def test_bounds_by_tiles_are_certified_too(kind, margin, request, monkeypatch):
    """They hold what is proved of the whole matrix, and are about as narrow as they promise to be."""
    dataset = request.getfixturevalue(kind)
    proved = run_audit(dataset).complexity
    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    monkeypatch.setattr(work, "SINGLE_MARGIN", margin)
    found = run_audit(dataset)
    assert found.complexity.certified
    assert found.complexity.lower <= proved.lower
    assert proved.upper <= found.complexity.upper
    assert found.complexity.upper / found.complexity.lower - 1 < 2e-6
    for column, exact in zip(found.complexity.columns, proved.columns, strict=True):
        assert column.lower <= exact.lower
        assert exact.upper <= column.upper


@pytest.mark.parametrize("dense_rows", [14_000, 0])
def test_bounds_hold_where_targets_of_a_point_cancel(table, monkeypatch, dense_rows):
    """Rounding of ȳ is all that is left of it. H∞ of orthogonal rows is I/2, so that yᵀH⁻¹y = 2‖ȳ‖²."""
    monkeypatch.setattr(forecast, "DENSE_ROWS", dense_rows)
    place, y = np.repeat(np.arange(3), 200), np.random.default_rng(0).normal(size=600)
    for i in range(3):
        y[place == i] -= y[place == i].mean()
    dataset = table(np.eye(3)[place], y)
    exact = Fraction(0)
    for i in range(3):
        own = [Fraction(value) for value in dataset.Y[torch.from_numpy(place == i), 0].tolist()]
        exact += 2 * (sum(own) / len(own)) ** 2
    found = run_audit(dataset).complexity
    assert found.certified
    assert Fraction(found.lower) ** 2 * 300 <= exact <= Fraction(found.upper) ** 2 * 300


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_target_of_all_rows_is_refused(regression, value):
    with pytest.raises(InputError, match=r"All 100 rows of .* have the same target"):
        run_audit(replace(regression, Y=torch.full_like(regression.Y, value)))


def test_labels_that_no_input_tells_apart_by_tiles(arrays, monkeypatch):
    """Every point has both labels equally often, so that nothing is left to fit."""
    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 4)), 2, axis=0)
    found = run_audit(arrays(X, np.array(["a", "b"] * 40))).complexity
    assert (found.value, found.lower, found.upper) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("points", [[[1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0], [-1.0]]])
def test_few_points_by_tiles(arrays, monkeypatch, points):
    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    result = run_audit(arrays(np.array(points * 30), np.array(["a", "b", "b"] * (10 * len(points)))))
    assert result.data.n == 30 * len(points)
    assert result.chosen.loo.error >= 0


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_targets_of_any_size_by_tiles(regression, monkeypatch, scale):
    proved = run_audit(regression).complexity
    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    found = run_audit(replace(regression, Y=scale * regression.Y)).complexity
    assert found.certified
    assert found.lower <= scale * proved.upper
    assert scale * proved.lower <= found.upper
    assert found.upper / found.lower - 1 < 2e-6


@pytest.mark.slow
def test_other_kernels_and_other_norms_are_not_certified_by_tiles(multiclass, monkeypatch):
    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    other = run_audit(multiclass, AuditSettings(kernel="relu3-all"))
    scaled = replace(multiclass, X=multiclass.X * (1 + 1e-9))
    for result in (other, run_audit(scaled)):
        assert result.complexity.value is not None
        assert not result.complexity.certified
        assert any("bounded, up to rounding" in sentence for sentence in theorists(result))


@pytest.mark.parametrize("dense_rows", [0, 1000])
def test_repeated_rows_descend_as_the_full_gram_matrix_does(arrays, monkeypatch, dense_rows):
    monkeypatch.setattr(forecast, "DENSE_ROWS", dense_rows)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))
    X = np.concatenate([X, X[:10], 2 * X[:3]])  # parallel rows are the same point
    y = np.where(X[:, 0] > 0, "+", "-")
    y[60] = "-" if y[0] == "+" else "+"
    dataset = arrays(X, y)
    result = run_audit(dataset)
    assert [set(group) for group in result.soundness.conflicts] == [{1, 61, 71}]
    assert len(result.soundness.duplicates) == 10
    eigenvalues, vectors = torch.linalg.eigh(gram_of(dataset))
    energy = (vectors.T @ dataset.Y).square().sum(1)
    for step, loss in list(zip(result.curve.steps, result.curve.loss, strict=True))[::10]:
        exact = float(((1 - result.curve.eta * eigenvalues) ** (2 * step) * energy).sum()) / 2
        assert math.isclose(loss, exact, rel_tol=0.011)
    assert result.complexity.value is not None
    assert not result.bound.applies
    assert (
        result.curve.random_loss[-1] >= 13 / 2
    )  # 13 of 73 rows repeat one whose random label they contradict


def test_a_trained_network_follows_its_prediction(binary, monkeypatch):
    monkeypatch.setattr(train, "NUM_STEPS", 60)
    trained = run_audit(binary, AuditSettings(train=True, width=2**15)).curve.trained
    assert (trained.width, trained.steps[-1]) == (2**15, 60)
    assert np.allclose(trained.loss, trained.predicted, rtol=0.1)
    assert math.isclose(trained.distance, trained.predicted_distance, rel_tol=0.1)


def test_the_same_seed_gives_the_same_result(binary):
    first, second = run_audit(binary).to_dict(), run_audit(binary).to_dict()
    for record in (first, second):
        del record["seconds"], record["forecast"]
    assert first == second


def test_wrong_settings_are_refused(binary):
    with pytest.raises(InputError, match=r"`eta` is -1\.0, but must be finite and above 0"):
        AuditSettings(eta=-1.0)
    with pytest.raises(InputError, match="`train` trains the network of relu2-hidden"):
        AuditSettings(kernel="relu3-all", train=True)
    with pytest.raises(InputError, match="add `train=True`"):
        AuditSettings(width=64)
    with pytest.raises(InputError, match="must be even"):
        AuditSettings(train=True, width=65)
    with pytest.raises(InputError, match="relu2-hidden"):
        run_audit(binary, AuditSettings(kernel="relu2-hiden"))


def test_a_long_audit_needs_leave(binary, monkeypatch):
    monkeypatch.setattr(
        run, "forecast_audit", lambda *_, **__: (Forecast(7200.0, 1), GramPlan(Held.DENSE, 0))
    )
    with pytest.raises(InputError, match=r"about 2\.0 hours: audit a sample with `rows`, or allow it"):
        run_audit(binary)
    assert run_audit(binary, allow_long=True).forecast.seconds == 7200.0


def test_the_result_is_short_to_look_at(multiclass):
    result = run_audit(multiclass)
    assert repr(result).startswith("AuditResult(data=small.npz, n=120, kernel=relu2-hidden, complexity=")
    assert len(repr(result)) < 200
    assert result._repr_html_().startswith("<table><caption>AuditResult</caption><tr><th>data</th>")


@pytest.mark.slow
def test_paper_values_of_the_complexity(data_dir):
    """All 10,000 rows give .3801522 and 3.8604462 by a dense float64 solve; a tenth of them stands in."""
    for name in ("mnist-2", "cifar10-2"):
        dataset = subset(load(name), torch.arange(1000))
        result = run_audit(dataset)
        exact = exact_complexity(dataset, gram_of(dataset))
        assert result.complexity.lower <= exact <= result.complexity.upper
        assert math.isclose(result.complexity.value, exact, rel_tol=1e-6)


@pytest.mark.parametrize("kernel", ["polynomial", "relu2-last", "erf2-all", "resnet3-all", "laplacian"])
def test_other_kernels_and_singular_ones(binary, kernel):
    """A polynomial of degree 3 on 6 columns has rank 84, below the 120 rows: nothing is certified then."""
    result = run_audit(binary, AuditSettings(kernel=kernel))
    assert not result.bound.applies
    assert math.isfinite(result.loo.error)
    assert np.isfinite(result.curve.loss).all()
    if kernel == "polynomial":
        assert result.complexity.value is None
        assert result.bound.value is None
    else:
        assert math.isclose(
            result.complexity.value, exact_complexity(binary, gram_of(binary, kernel)), rel_tol=1e-4
        )


def test_the_worst_case_is_the_last_eigenvector(binary):
    result = run_audit(binary)
    smallest = float(torch.linalg.eigvalsh(gram_of(binary))[0])
    assert math.isclose(result.spectrum.eigenvalue_min, smallest, rel_tol=0.05)


def test_tiny_data_is_audited(arrays):
    result = run_audit(arrays(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array(["a", "b", "a"])))
    assert result.data.n == 3
    assert result.complexity.value is not None


def test_an_unconverged_solve_is_said_and_not_shown(binary, monkeypatch):
    def fail(*_arguments, **_options):
        raise NotConvergedError("no")

    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    monkeypatch.setattr(work, "estimated_leave_one_out", fail)
    with pytest.raises(NotConvergedError, match="a sample with `rows`"):
        run_audit(binary)


def test_several_targets_are_judged_together():
    dataset = load("resnet-cube:n=120", prepare="unit")
    result = run_audit(dataset)
    assert [column.name for column in result.complexity.columns] == [f"target {c + 1}" for c in range(15)]
    assert not result.bound.applies
    assert result.loo.baseline == pytest.approx(float(dataset.Y.var(0, correction=0).sum()))
    energy = float(dataset.Y.square().sum())
    assert result.curve.loss[0] == pytest.approx(energy / 2)
    assert all(len(suspect.suggested.split(", ")) == 15 for suspect in result.ranking)


def test_rows_of_another_norm_are_refused():
    with pytest.raises(InputError, match="norm 1"):
        run_audit(load("resnet-cube:n=60"))


def test_suspicious_rows_come_with_their_nearest_rows_and_cells(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 3))
    labels = np.where(X[:, 0] > 0, "up", "down")
    labels[:5] = np.where(X[:5, 0] > 0, "down", "up")
    rows = [f"{a:.3f},{b:.3f},{c:.3f},{label}" for (a, b, c), label in zip(X, labels, strict=True)]
    path = tmp_path / "flipped.csv"
    path.write_text("\n".join(["a,b,c,way", *rows]))
    result = run_audit(load(path))
    assert {1, 2, 3, 4, 5} & {each.row for each in result.suspicious}
    assert all(each.given != each.suggested for each in result.suspicious)
    assert set(result.nearest) == {each.row for each in result.suspicious}
    assert all(len(near) == 2 and row not in near for row, near in result.nearest.items())
    assert result.cells.loc[3].tolist() == rows[2].split(",")
    assert (result.data.target, result.data.target_scale) == ("way", 1.0)
    assert not {"cells", "nearest"} & result.to_dict().keys()


def test_training_is_part_of_the_forecast_and_tells_its_progress(multiclass, monkeypatch):
    monkeypatch.setattr(train, "NUM_STEPS", 5)
    told = []

    class Listener(Progress):
        def __call__(self, stage, done=None, total=None, detail=""):
            told.append((stage, done, total))

    run_audit(multiclass, AuditSettings(train=True, width=64), progress=Listener())
    steps = [(done, total) for stage, done, total in told if stage == "training a network of width 64"]
    assert steps == [(step, 15) for step in range(1, 16)]  # five for each of three classes
    kernel = kernel_by_name("relu2-hidden")
    with_network, without = (
        forecast.forecast_audit(500, 50, 3, kernel, trained_width=width)[0].seconds for width in (2**22, 0)
    )
    assert with_network > 10 * without


def test_a_sample_is_the_same_however_the_rows_are_sorted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    frame["y"] = np.where(frame["a"] + 0.5 * rng.normal(size=90) > 1, "rare", "common")
    sorted_by_b = frame.sort_values("b")
    first, second = (widenet.audit(each, target="y", rows=40) for each in (frame, sorted_by_b))
    chosen, again = (
        each.iloc[result.labels.index].sort_values("b").to_numpy().tolist()
        for each, result in ((frame, first), (sorted_by_b, second))
    )
    assert chosen == again
    assert (first.data.n, first.data.drawn_from, first.to_dict()["data"]["drawn_from"]) == (40, 90, 90)
    assert (frame["y"].iloc[first.labels.index] == first.labels["given"].to_numpy()).all()
    share = (first.labels["given"] == "rare").mean()
    assert abs(share - (frame["y"] == "rare").mean()) < 1.5 / 40
    assert sentences(first)[0] == (
        "40 of 90 rows were drawn at random; all that is said of rows is about these."
    )
    assert "40 of 90 rows ·" in page(first)
    assert len(review_data(first)["table"]) == 91  # what people download has all rows


def test_a_sample_in_which_nothing_can_be_learned_is_refused():
    X = np.random.default_rng(0).normal(size=(60, 3))
    amounts = np.where(np.arange(60) < 57, 0.0, np.arange(60))
    with pytest.raises(InputError, match="All 3 rows that were drawn have the same target"):
        widenet.audit(X, amounts, rows=3, task="regression", seed=1)
    with pytest.raises(InputError, match="`rows` is 8, but arrays has 20 classes"):
        widenet.audit(X, np.arange(60) % 20, rows=8, task="classification")


def test_groups_of_a_sample_are_told_in_the_order_of_the_file():
    points = np.random.default_rng(0).normal(size=(12, 3))
    X, y = np.tile(points, (3, 1)), np.tile(points[:, 0] > 0, 3)
    groups = widenet.audit(X, y, rows=24).soundness.duplicates
    assert list(groups) == sorted(groups)


def test_where_all_rows_are_audited_nothing_is_said_of_a_sample(binary):
    result = run_audit(binary, AuditSettings(rows=binary.n))
    assert result.data.drawn_from is None
    assert not any("drawn" in each for each in sentences(result))
