"""Audits of a sample with the labels of all rows, against the kernel of all of them where that fits."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import widenet
from widenet.audit import forecast, run
from widenet.audit.findings import Estimate, LeaveOneOutSummary
from widenet.audit.forecast import forecast_landmarks
from widenet.audit.generalise import loo_summary
from widenet.audit.run import run_audit
from widenet.audit.settings import SAMPLE_ROWS, AuditSettings
from widenet.audit.whole import error_range
from widenet.base.errors import InputError
from widenet.base.progress import Progress
from widenet.data.duplicates import find_duplicates
from widenet.kernels import gram_matrix, kernel_by_name
from widenet.predict.learning_curve import LearningCurve
from widenet.predict.loo import by_row, leave_one_out
from widenet.report.audit import page, record, sentences
from widenet.report.audit.verdicts import verdicts
from widenet.runs import Store, checkpoints
from widenet.study.forecast import Forecast
from widenet.study.speed import Speed

pytestmark = pytest.mark.xdist_group("whole")  # audits are made once for several tests
N, SAMPLE, LANDMARKS = 900, 250, 80
SETTINGS = AuditSettings(rows=SAMPLE, landmarks=LANDMARKS)
KINDS = ("two classes", "three classes", "numbers", "a rare class", "labels of chance", "repeated rows")


def made(kind, seed=0):
    """Inputs (N, 5), and targets of a kind."""
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(N, 5)), rng.normal(size=(N, 3))
    if kind == "repeated rows":
        X = X[rng.integers(N // 4, size=N)]
    targets = {
        "two classes": np.where(X[:, 0] * X[:, 1] + 0.4 * noise[:, 0] > 0, "a", "b"),
        "three classes": np.array(["a", "b", "c"])[(X[:, :3] + 0.5 * noise).argmax(1)],
        "numbers": X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.3 * noise[:, 0],
        "a rare class": np.where(X[:, 0] + X[:, 1] + 0.5 * noise[:, 0] > 2.7, "rare", "common"),
        "labels of chance": np.where(noise[:, 0] > 0, "a", "b"),
    }
    return X, targets[kind if kind in targets else "two classes"]


@pytest.fixture(scope="module")
def audits():
    """The audit of each kind by landmarks, made once, with its data."""
    kept = {}

    def audit(kind):
        if kind not in kept:
            dataset = widenet.load(*made(kind), prepare="unit")
            kept[kind] = dataset, run_audit(dataset, SETTINGS)
        return kept[kind]

    return audit


def exact_error(dataset, result):
    """The leave-one-out error of the chosen kernel itself, with all rows."""
    points, ridge = find_duplicates(dataset).points, result.chosen.ridge
    weights = points.counts.sqrt()[:, None]
    K = weights * gram_matrix(kernel_by_name(result.chosen.kernel), dataset.X[points.first]) * weights.T
    loo = by_row(leave_one_out(K, weights * points.means(dataset.Y), ridge), points, ridge)
    return loo_summary(dataset, points, loo).told[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_range_holds_the_error_of_the_kernel_with_all_rows(audits, kind):
    dataset, result = audits(kind)
    whole = result.whole
    assert whole.low < exact_error(dataset, result) < whole.high
    error, deviation = whole.loo.told
    assert whole.high == pytest.approx(error + 2 * deviation)
    assert (whole.n, whole.num_sampled, whole.num_landmarks) == (N, SAMPLE, LANDMARKS)
    assert whole.loo.method is Estimate.CLOSED_FORM
    assert 0 < whole.missed < 1


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_all_and_the_rest_is_of_the_sample(audits, kind):
    dataset, result = audits(kind)
    assert result.data.n == N
    assert result.data.drawn_from is None
    assert sorted(each.row for each in result.ranking) == list(range(1, N + 1))
    assert all(result.ranking[i].score >= result.ranking[i + 1].score for i in range(N - 1))
    words = {each.row: each.given for each in result.ranking}
    assert [words[row] for row in dataset.rows.tolist()] == list(dataset.given)
    assert sum(result.data.class_counts) == (0 if kind == "numbers" else N)
    assert result.chosen.loo.rows == result.loo.rows == SAMPLE
    curve = result.chosen.learning_curve
    assert curve.n[sum(curve.measured) - 1] == SAMPLE
    assert {N, 2 * N} <= set(curve.n)
    assert result.soundness.duplicates == find_duplicates(dataset).groups
    near = [row for rows in result.nearest.values() for row in rows]
    assert len(result.nearest) == min(100, len(result.suspicious))
    assert set(near) <= set(words)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_names_its_rows(audits, kind):
    _, result = audits(kind)
    word = "Targets" if kind == "numbers" else "Labels"
    told = record(result)["verdict"]
    assert told[0] == (
        f"{word} and errors are of all 900 rows, estimated by a regression on 80 of them; all else that is "
        "predicted is from 250 rows drawn at random."
    )
    labels, learnable, more = verdicts(result)
    assert f"of {SAMPLE}" not in " ".join((labels.headline, *labels.beside))
    if kind == "labels of chance":
        assert learnable.headline == "No gain over guessing is shown"
        assert "a regression on 80 landmarks on " in learnable.beside[0]
        assert more.headline == "Cannot be told"
    elif kind != "a rare class":
        assert " to " in learnable.headline
        assert more.headline.startswith("Doubling") == ("1,800 rows, extrapolated from 250" in more.beside[0])
    html = page(result)
    assert "900 rows ·" in html
    assert "How all rows are judged by landmarks" in html


def test_flipped_labels_are_found_among_all_rows():
    X, _ = made("two classes")
    clean = np.where(X[:, 0] > 0, "a", "b")
    flipped = np.random.default_rng(1).permutation(N)[:45]
    y = clean.copy()
    y[flipped] = np.where(clean[flipped] == "a", "b", "a")
    result = widenet.audit(X, y, rows=SAMPLE, landmarks=LANDMARKS)
    found = result.labels.index[:45]
    assert len(set(found) & set(flipped)) >= 30  # of which the sample has a third
    assert result.noise.low < 0.05 < result.noise.high


def test_the_same_however_rows_are_sorted():
    X, y = made("three classes", seed=3)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    sorted_by_b = frame.sort_values("b")
    first, second = (
        widenet.audit(each, target="y", rows=SAMPLE, landmarks=LANDMARKS) for each in (frame, sorted_by_b)
    )
    assert first.whole.loo.error == pytest.approx(second.whole.loo.error, rel=1e-9)
    assert first.whole.low == pytest.approx(second.whole.low, rel=1e-6)
    assert first.whole.missed == pytest.approx(second.whole.missed, rel=1e-9)
    worst = (each.iloc[found.labels.index[:20]] for each, found in ((frame, first), (sorted_by_b, second)))
    assert next(worst).to_numpy().tolist() == next(worst).to_numpy().tolist()


def test_the_same_seed_gives_the_same_result_and_another_one_other_landmarks(audits):
    dataset, result = audits("numbers")
    again, other = (run_audit(dataset, replace(SETTINGS, seed=seed)) for seed in (0, 2))
    assert again.whole == result.whole
    assert again.ranking == result.ranking
    assert other.chosen.kernel == result.chosen.kernel  # so that only other landmarks miss another share
    assert other.whole.missed != result.whole.missed


def test_few_rows_are_audited_exactly_and_that_is_said(binary):
    result, exact = (run_audit(binary, AuditSettings(landmarks=landmarks)) for landmarks in (50, None))
    assert result.whole is None
    assert result.ranking == exact.ranking
    assert sentences(result)[:-1] == sentences(exact)[:-1]
    note = "No landmarks are needed for 120 rows: all of them were audited exactly."
    assert result.data.provenance == (*exact.data.provenance, note)


def test_the_sample_has_a_size_of_its_own(binary, monkeypatch):
    monkeypatch.setattr(run, "SAMPLE_ROWS", 60)
    whole = run_audit(binary, AuditSettings(landmarks=1000)).whole
    assert (whole.num_sampled, whole.num_landmarks, whole.n) == (60, 120, 120)
    assert SAMPLE_ROWS < forecast.DENSE_ROWS  # so that its kernel is held whole


def test_refusals(binary, monkeypatch):
    with pytest.raises(InputError, match="`landmarks` is 1, but must be at least 2"):
        AuditSettings(landmarks=1)
    with pytest.raises(
        InputError, match=r"To judge 10,000,000 rows .* GiB can be used: take fewer `landmarks`"
    ):
        forecast_landmarks(10**7, 50, 2, 2000, usable=2**33)
    with pytest.raises(InputError, match=r"30,000 landmarks takes 44\.0 GiB"):
        forecast_landmarks(10**5, 50, 2, 30_000, usable=2**33)
    monkeypatch.setattr(run, "forecast_landmarks", lambda *_, **__: Forecast(9000.0, 1))
    with pytest.raises(InputError, match=r"about 2\.5 hours: take fewer `landmarks`, or allow it"):
        run_audit(binary, AuditSettings(rows=60, landmarks=20))


def test_a_forecast_grows_with_rows_and_the_square_of_landmarks(monkeypatch):
    monkeypatch.setattr(forecast, "measure_speed", lambda device: Speed(1e10, 1e10, 1e10))
    monkeypatch.setattr(forecast, "entry_rate", lambda kernel, device: 1e8)
    sizes = (10**5, 4000), (10**6, 4000), (10**5, 16_000)
    small, rows, landmarks = (forecast_landmarks(n, 20, 1, m, usable=2**36) for n, m in sizes)
    assert 9 < rows.seconds / small.seconds < 10
    assert 14 < landmarks.seconds / small.seconds < 18
    assert rows.memory_bytes - small.memory_bytes > 9e5 * 8 * 21


def test_what_landmarks_found_is_kept(binary, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "SHORT", 0.0)
    settings, noted = AuditSettings(rows=60, landmarks=20), []

    class Listens(Progress):
        def note(self, fact):
            noted.append(str(fact))

    with Store(tmp_path / "store") as store:
        with monkeypatch.context() as patched:
            patched.setattr(run, "audit_labels", None)  # it ends where landmarks are done
            with pytest.raises(TypeError):
                run_audit(binary, settings, store=store)
        resumed = run_audit(binary, settings, store=store, progress=Listens())
        assert any("20 landmarks" in fact for fact in noted)
        noted.clear()
        run_audit(binary, replace(settings, landmarks=30), store=store, progress=Listens())
        assert not any("landmarks" in fact for fact in noted)
    assert resumed.whole == run_audit(binary, settings).whole


@pytest.mark.parametrize(("curve_low", "expected"), [(0.05, 0.05), (0.19, 0.18), (0.9, 0.18)])
def test_the_lower_end_never_exceeds_what_landmarks_may_err(curve_low, expected):
    loo = LeaveOneOutSummary(0.5, 0.1, 0.0, 0.2, 0.01, 800, Estimate.CLOSED_FORM, 0.5, 1.0)
    sizes, ends = (100, 400, 800), (0.3, 0.25, curve_low)
    curve = LearningCurve(sizes, (True, False, False), ends, ends, ends, ends, ends, ends)
    assert error_range(loo, curve) == pytest.approx((expected, 0.22))


@pytest.mark.slow
def test_on_another_device_it_is_that_of_the_cpu(audits, toy):
    dataset, result = audits("repeated rows")
    there = run_audit(dataset, replace(SETTINGS, device="toy"))
    assert there.whole == result.whole
    assert there.ranking == result.ranking
