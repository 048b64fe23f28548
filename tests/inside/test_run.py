import json
import math

import mpmath
import numpy as np
import pytest

from widenet.base.errors import InputError
from widenet.base.progress import Progress
from widenet.data import Dataset, load
from widenet.inside import forecast, measured, run as module
from widenet.inside.answers import ANSWERS, all_answers
from widenet.inside.measured import MeasuredData
from widenet.inside.result import InsideResult
from widenet.inside.run import run_inside
from widenet.inside.settings import InsideSettings
from widenet.report.inside import record, sentences
from widenet.report.inside.sentences import answer_verdict
from widenet.study.forecast import Forecast
from widenet.study.speed import Speed
from widenet.theory.mild_memorisation.descent import C_PGD, theorem4
from widenet.theory.mild_memorisation.three_layers import theorem5, theorem6


@pytest.fixture
def binary(table) -> Dataset:
    X = np.random.default_rng(0).normal(size=(60, 12))
    return table(X, np.where(X[:, 0] > 0, "up", "down"))


def known(**changes) -> MeasuredData:
    """Two orthogonal rows, of which everything is known."""
    values = {
        "n": 2,
        "d": 4,
        "num_outputs": 1,
        "num_repeated": 0,
        "num_opposite": 0,
        "num_measured": 2,
        "lambda_min": 0.5,
        "lambda_floor": 0.5,
        "lambda_max": 0.5,
        "sigma": 1.0,
        "sigma_floor": 1.0,
        "power": 1,
        "power_sigma": 1.0,
        "power_sigma_floor": 1.0,
        "smallest_norm": 1.0,
        "largest_norm": 1.0,
        "largest_label": 1.0,
        "start_loss": 0.125,
        "label_scale": 1.0,
        "quadratic": 4.0,
        "quadratic_upper": 4.0,
        "cube_columns": 0,
    }
    return MeasuredData(**(values | changes))


def result_of(data: MeasuredData, answers) -> InsideResult:
    return InsideResult(data="toy", setting=InsideSettings(100), measured=data, answers=answers)


def answer(answers, place, paper="fine-grained"):
    return next(each for each in answers if (each.paper, each.place) == (paper, place))


def test_small_problems_are_inside_and_a_smaller_width_is_not():
    """Theorem 3.1 requires 2⁶/(½⁴ ½³) = 8,192 neurons and η ≤ ½/4."""
    enough = all_answers(known(), InsideSettings(8192, 0.125, 1.0, None, 0.1, 0.5))
    assert answer(enough, "Theorem 3.1").inside is True
    fewer = answer(all_answers(known(), InsideSettings(4096, 0.125, 1.0, None, 0.1, 0.5)), "Theorem 3.1")
    assert fewer.inside is False
    assert answer_verdict(fewer) == "outside, short by a factor of 2"
    assert "width m = 4,096 ≥ C_m·n⁶/(λ₀⁴κ²δ³) = 8,192: does not hold" in fewer.demands[1].sentence


def test_what_is_not_given_stays_open():
    answers = all_answers(known(), InsideSettings(8192, None, None, None, 0.1, 0.5))
    assert answer(answers, "Theorem 3.1").inside is None
    assert "step η ≤ C_η·λ₀/n² = 0.125 is required." in answer(answers, "Theorem 3.1").demands[2].sentence
    two_layers = answer(answers, "Theorem 4", "mild-memorisation")
    assert two_layers.inside is None
    assert [demand.holds for demand in two_layers.demands] == [True, True, True, None, None]


def test_labels_that_were_scaled_are_told():
    answers = all_answers(known(label_scale=2.5), InsideSettings(8192, None, None, None, 0.1, 0.5))
    assert "Labels were divided by 2.5, to be at most 1 as in the paper." in answers[0].notes


def test_a_kappa_that_was_not_given_is_not_said_to_hold():
    answers = all_answers(known(), InsideSettings(8192, 0.125, None, None, 0.1, 0.5))
    for place in ("Theorem 3.1", "Lemma 5.3"):
        start = answer(answers, place).demands[0]
        assert start.sentence == "initialisation κ ≤ 1 is required."
        assert answer(answers, place).inside is not True
    assert answer(answers, "Theorem 3.1").demands[1].holds  # the width for κ = 1, which requires least


def test_every_theorem_answers_once_with_numbers(binary):
    result = run_inside(binary, InsideSettings(width=10_000, eta=1e-3, kappa=1e-2, steps=1000))
    places = [(each.paper, each.place) for each in result.answers]
    assert len(set(places)) == len(places) == 15
    assert {paper for paper, _ in places} == {
        "fine-grained",
        "resnet-beyond-kernels",
        "beyond-two-layers",
        "mild-memorisation",
    }
    assert answer(result.answers, "Theorem 3.1").inside is False
    assert any("astronomical" in sentence for sentence in sentences(result))
    found = json.loads(json.dumps(record(result), allow_nan=False))
    assert found["schema"] == "widenet/inside/1"
    assert found["answers"][0]["demands"][1]["log10_short"] > 6
    assert found["measured"]["lambda_min"] == result.measured.lambda_min


def test_needs_grow_with_the_rows_as_the_theorems_say():
    few, many = (
        answer(all_answers(known(n=n), InsideSettings(100, 1e-3, 0.01, 10, 0.1, 0.1)), "Theorem 4.1")
        for n in (10, 1000)
    )
    assert many.demands[1].log10_short - few.demands[1].log10_short == pytest.approx(14)


def test_what_rounding_hides_is_not_decided():
    hidden = {"lambda_min": 0.0, "lambda_floor": 0.0, "sigma": 0.0, "sigma_floor": 0.0}
    answers = all_answers(known(**hidden), InsideSettings(100, 0.1, 0.1, 5, 0.1, 0.1))
    for found in (answer(answers, "Theorem 3.1"), answer(answers, "Theorem 4", "mild-memorisation")):
        assert found.inside is None
        assert answer_verdict(found).startswith("not decided")
        assert any("Rounding hides" in note for note in found.notes)


def test_what_is_computed_but_not_proven_is_not_inside():
    setting = InsideSettings(8192, 0.125, 1.0, None, 0.1, 0.5)
    for floor in (0.0, 0.4):
        found = answer(all_answers(known(lambda_floor=floor), setting), "Theorem 3.1")
        assert found.inside is None
        assert found.assumes[0].startswith("λ₀ is 0.5, as computed")
    assert not answer(
        all_answers(known(lambda_floor=0.0), InsideSettings(10, 1.0, 1.0, None, 0.1, 0.5)), "Theorem 3.1"
    ).assumes


def enough(data: MeasuredData, c: float = C_PGD) -> InsideSettings:
    """Just the step and the number of steps for Theorem 4."""
    found = theorem4(data.n, data.d, 100, 1.0, 1.0, data.sigma, data.start_loss, 0.1, 0.1, c)
    return InsideSettings(100, found.terms["η"] * (1 - 1e-9), None, int(found.value * (1 + 1e-6)), 0.1, 0.1)


def test_a_sigma_that_is_computed_but_not_proven_is_not_inside():
    data = known()
    assert answer(all_answers(data, enough(data)), "Theorem 4", "mild-memorisation").inside is True
    part = answer(all_answers(known(sigma_floor=0.9), enough(data)), "Theorem 4", "mild-memorisation")
    assert part.inside is None
    assert part.assumes == ("σ is 1, as computed; only 0.9 is proven.",)
    fewer = InsideSettings(100, None, None, 10, 0.1, 0.1)
    assert not answer(all_answers(known(sigma_floor=0.9), fewer), "Theorem 4", "mild-memorisation").assumes


def test_theorem_6_rests_on_what_is_proven():
    found = theorem6(2, 4, 8, 1, 1.0, 0.1, 0.1)
    setting = InsideSettings(100, found.terms["η"], None, int(found.value * (1 + 1e-9)), 0.1, 0.1)
    for floor, verdict in ((1.0, True), (0.9, None)):
        each = answer(all_answers(known(power_sigma_floor=floor), setting), "Theorem 6", "mild-memorisation")
        assert each.inside is verdict


def test_a_smaller_step_takes_more_steps():
    """η = c/ℓ/10 is Algorithm 1's at c/10."""
    data = known(n=20, num_measured=20, d=40)
    theorems = {
        "Theorem 4": lambda c: theorem4(20, 40, 200, 1.0, 1.0, 1.0, 0.125, 0.1, 0.1, c),
        "Theorem 5": lambda c: theorem5(20, 40, 1, 1e-4, 0.1, 0.1, c=c),
        "Theorem 6": lambda c: theorem6(20, 40, 80, 1, 1.0, 0.1, 0.1, c=c),
    }
    for place, at in theorems.items():
        setting = InsideSettings(200, at(C_PGD).terms["η"] / 10, None, 5, 0.1, 0.1)
        steps, step = answer(all_answers(data, setting), place, "mild-memorisation").demands[-2:]
        assert mpmath.log10(steps.need) == pytest.approx(at(C_PGD / 10).log10, abs=1e-9)
        assert step.holds
    few, many = (
        answer(
            all_answers(known(), InsideSettings(9, eta, None, 5, 0.1, 0.1)),
            "Theorem 1",
            "resnet-beyond-kernels",
        )
        for eta in (0.1, 0.001)
    )
    assert float(few.demands[1].need) == pytest.approx(2e4**2 / 0.1**2)
    assert float(many.demands[1].need) == pytest.approx(2e4**2 / (0.001 * 0.1))


def test_a_very_large_loss_breaks_theorem_4():
    data = known(n=20, num_measured=20, d=40)
    answers = all_answers(data, InsideSettings(200, None, None, None, 1e200, 0.1))
    for place in ("Theorem 4", "Theorem 5", "Theorem 6"):
        found = answer(answers, place, "mild-memorisation")
        assert found.inside is False
        assert found.demands[-1].sentence.startswith("rise of g by a perturbation")


def test_readings_that_are_ours_are_told():
    data = known()
    answers = all_answers(data, InsideSettings(100, None, None, None, 0.1, 0.1))
    for place in ("Theorem 4", "Theorem 5", "Theorem 6"):
        assert any(
            "c = 0.1 is our choice" in note for note in answer(answers, place, "mild-memorisation").notes
        )
    assert "and c of Algorithm 1 as 0.1" in sentences(result_of(data, answers))[-1]
    assert "Claim C.6" in answer(answers, "Theorem 1", "resnet-beyond-kernels").notes[-1]


def test_rows_that_were_scaled_are_told():
    scaled = "Rows were scaled to norm 1, as in the paper."
    for changes, told in (({}, False), ({"largest_norm": 2.0}, True), ({"smallest_norm": 0.9}, True)):
        answers = all_answers(known(**changes), InsideSettings(100, None, None, None, 0.1, 0.1))
        places = {each.place for each in answers if scaled in each.notes}
        expected = {each.place for each in answers if each.paper == "fine-grained"}
        assert places == (expected if told else set())


def test_huge_rows_are_answered(table):
    X = np.random.default_rng(0).normal(size=(20, 8)) * 1e100
    result = run_inside(table(X, np.arange(20.0) % 7, "raw"), InsideSettings(width=100, eta=1e-3, steps=10))
    assert 1e195 < result.measured.sigma_floor <= result.measured.sigma < 1e202
    json.dumps(record(result), allow_nan=False)


def test_more_rows_than_forms_are_outside_for_certain():
    data = known(n=11, num_measured=11, sigma=0.0, sigma_floor=0.0)
    found = answer(
        all_answers(data, InsideSettings(100, 0.1, 0.1, 5, 0.1, 0.1)), "Theorem 4", "mild-memorisation"
    )
    assert found.inside is False
    assert [demand.holds for demand in found.demands] == [False, True, False]


def test_opposite_rows_memorise_as_repeated_ones():
    answers = all_answers(known(num_opposite=1), InsideSettings(8192, 0.125, 1.0, None, 0.1, 0.5))
    assert answer(answers, "Theorem 3.1").inside is True
    for place in ("Theorem 4", "Theorem 6"):
        found = answer(answers, place, "mild-memorisation")
        assert found.inside is False
        assert found.demands[0].sentence == "number of rows x with a row −x = 1 ≤ 0: does not hold."


def test_theorem_6_takes_the_power_that_was_measured():
    data = known(n=30, num_measured=30, sigma=0.0, sigma_floor=0.0, power=2, power_sigma=0.3)
    found = answer(
        all_answers(data, InsideSettings(100, None, None, None, 0.1, 0.1)), "Theorem 6", "mild-memorisation"
    )
    sentences = [demand.sentence for demand in found.demands]
    assert "number of samples n = 30 ≤ D_d^{2p} = 35: holds." in sentences  # C(7, 4)
    assert "smallest singular value σ of [x^{⊗4}] = 0.3 > 0: holds." in sentences
    assert "trained neurons r = 100 ≥ 2k + 2 = 82: holds." in sentences  # k = 4·C(5, 2)
    assert found.inside is None


def test_the_step_is_held_against_every_theorem_that_has_one():
    answers = all_answers(known(), InsideSettings(8192, 0.3, 1.0, None, 0.1, 0.5))
    resnet = answer(answers, "Theorem 1", "resnet-beyond-kernels").demands[2]
    assert (resnet.of, resnet.holds, float(resnet.need)) == ("step η_w", False, 0.1)
    for place in ("Theorem 4", "Theorem 6"):
        step = answer(answers, place, "mild-memorisation").demands[-1]
        assert (step.of, step.formula, step.holds) == ("step η", "c/ℓ", False)
        assert 0 < step.need < 0.3


def test_the_resnets_width_is_finite_whatever_the_risk():
    for epsilon, width in ((1e-6, 100), (0.1, 10**50), (10.0, 2)):
        found = answer(
            all_answers(known(), InsideSettings(width, 0.1, 0.1, 5, epsilon, 0.1)),
            "Theorem 1",
            "resnet-beyond-kernels",
        )
        assert 10**35 < found.demands[0].need < 10**36  # (2·10⁴)^8.23
        assert found.demands[0].holds is (width > 10**36)


def test_repeated_rows_are_outside_whatever_the_others_have():
    setting = InsideSettings(10**6, 0.1, 1.0, None, 0.1, 0.5)
    rate = answer(all_answers(known(n=3, num_repeated=1), setting), "Theorem 3.1")
    assert rate.inside is False
    assert rate.demands[0].sentence == "number of repeated rows = 1 ≤ 0: does not hold."


def test_a_part_of_the_rows_proves_nothing_to_be_enough():
    setting = InsideSettings(10**7, 0.01, 1.0, None, 0.1, 0.5)
    part, whole = (
        answer(all_answers(known(n=3, num_measured=measured), setting), "Theorem 3.1") for measured in (2, 3)
    )
    assert (part.inside, whole.inside) == (None, True)


def on_cube(place: str, **changes):
    setting = InsideSettings(changes.pop("width", 100), 0.1, 0.1, 5, 0.1, 0.1)
    data = known(**({"n": 9, "d": 60, "num_outputs": 3, "cube_columns": 40} | changes))
    return answer(all_answers(data, setting), place, "resnet-beyond-kernels")


def test_the_cube_is_asked_for_by_its_theorems():
    """C(40, 3) = 9,880, of which a thousandth is 9."""
    assert on_cube("Theorem 2").inside is None
    assert on_cube("Theorem 2").assumes[0].startswith("The labels are those of a function of the class (7.1)")
    assert on_cube("Theorem 2", n=10).inside is False
    assert on_cube("Theorem 2", cube_columns=2).inside is False
    assert on_cube("Theorem 2", num_outputs=1).inside is False
    assert on_cube("Theorem 3", width=9).inside is None
    assert on_cube("Theorem 3", width=10).inside is False
    few = on_cube("Corollary 7.1")
    assert few.inside is False
    assert float(few.demands[-1].need) == 9 * 60 * 8.0**8
    assert on_cube("Corollary 7.1", n=10**10).inside is None


def linear(place: str, data: MeasuredData, *setting):
    return answer(all_answers(data, InsideSettings(*setting)), place, "beyond-two-layers")


def test_two_layers_against_the_best_linear_function():
    """C_s(1, 1) = 10⁴ and C_ε(1, 1) = 2; the theorem is for ε below 10⁻⁴/k, and is held there."""
    found = linear("Theorem 1", known(num_outputs=2), 10**5, None, None, None, 0.1, 0.05)
    epsilon = 5e-5
    width, samples, step, steps = found.demands
    descent = (2**2.5 * 1e8 / epsilon**2 + 2 * 2 / epsilon) * 2**6 * 1e16 / epsilon**3
    assert float(width.need) == pytest.approx(descent**2)
    assert float(samples.need) == float(steps.need) == pytest.approx(1e8 * 8 / epsilon**2)
    assert float(step.need) == pytest.approx(1 / (epsilon * 2 * 1e5))
    assert (found.inside, step.holds, steps.holds) == (False, None, None)
    finer = linear("Theorem 1", known(num_outputs=2), 10**5, None, None, None, 1e-6, 0.05)
    assert float(finer.demands[1].need) == pytest.approx(1e8 * 8 / 1e-12)
    slow = linear("Theorem 1", known(num_outputs=2), 10**5, float(step.need) / 10, None, 5, 0.1, 0.05)
    assert float(slow.demands[3].need) == pytest.approx(10 * float(steps.need))
    assert (slow.demands[2].holds, slow.demands[3].holds) == (True, False)
    endless = linear("Theorem 1", known(), 10**400, 1e-300, None, 5, 5e-324, 0.05)
    assert (endless.demands[0].holds, endless.demands[2].holds) == (False, True)
    json.dumps(endless.to_dict(), allow_nan=False)


def test_two_layers_with_enough_of_everything_are_not_decided():
    """What the loss and the initial weights are, data do not tell."""
    found = linear("Theorem 1", known(n=10**17), 10**89, 1e-90, None, 10**25, 0.1, 0.05)
    assert [demand.holds for demand in found.demands] == [True, False, True, True]  # as η is small
    found = linear("Theorem 1", known(n=10**17), 10**89, 1e-85, None, 10**17, 0.1, 0.05)
    assert [demand.holds for demand in found.demands] == [True] * 4
    assert found.inside is None
    assert any("N(0, 1/m)" in told for told in found.assumes)
    assert answer_verdict(found).startswith("not decided")


def test_three_layers_against_the_best_linear_function():
    """Φ = 1 and φ = z: ε = ε0/(C*·C_s(z)²), C_0 = 2·C*(1 + √log(1/ε)), M = (C_0/ε)^1500."""
    data, setting = known(num_outputs=1), (100, None, None, None, 0.5, 0.05)
    epsilon = 0.01 / (1e4 * (1e4 * 2**1.75) ** 2)
    C_0 = 2 * 1e4 * (1 + math.sqrt(math.log(1 / epsilon)))
    log_width = 1500 * math.log10(C_0 / epsilon)
    second, third = (linear(place, data, *setting) for place in ("Theorem 2", "Theorem 3"))
    for found in (second, third):
        assert float(mpmath.log10(found.demands[0].need)) == pytest.approx(log_width)
        assert found.inside is False
        assert "held at ε0 = 0.01" in found.notes[1]
    assert float(second.demands[1].need) == pytest.approx((C_0 / 0.01) ** 2)
    assert float(mpmath.log10(third.demands[1].need)) == pytest.approx(log_width + 3)
    finer = linear("Theorem 2", data, 100, None, None, None, 1e-3, 0.05)
    assert float(finer.demands[1].need) > 100 * float(second.demands[1].need)
    enough = linear("Theorem 2", known(n=10**15), 10**40_000, None, None, None, 0.5, 0.05)
    assert [demand.holds for demand in enough.demands] == [True, True]
    assert enough.inside is None
    assert any("polynomials in m" in told for told in enough.assumes)


def test_summary_tells_of_repeated_rows_and_parts():
    data = known(n=100, num_repeated=10, num_measured=50)
    answers = all_answers(data, InsideSettings(100, 0.1, 0.1, 5, 0.1, 0.1))
    told = " ".join(sentences(result_of(data, answers)))
    assert "10 rows repeat others" in told
    assert "Eigenvalues are those of 50 of the rows" in told
    by_distance = sorted((each for each in answers if each.log10_short), key=lambda each: each.log10_short)
    for size, each in (("smallest", by_distance[0]), ("largest", by_distance[-1])):
        assert f"The {size} gap is that of {each.paper}, {each.place}: " in told


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"eta": -1.0}, "`eta` is -1.0, but must be finite and above 0"),
        ({"width": 0}, "`width` is 0, but must be at least 1"),
        ({"delta": 1.5}, "`delta` is 1.5, but must be between 0 and 1"),
        ({"epsilon": 0.0}, "`epsilon` is 0.0"),
        ({"kappa": float("inf")}, "`kappa` is inf"),
        ({"steps": 0}, "`steps` is 0"),
    ],
)
def test_impossible_settings_get_a_sentence(binary, change, complaint):
    with pytest.raises(InputError, match=complaint):
        run_inside(binary, InsideSettings(**({"width": 10} | change)))


@pytest.mark.slow
def test_digits_are_answered_honestly():
    result = run_inside(load("digits"), InsideSettings(width=10_000, eta=1e-3, kappa=1e-2, steps=1000))
    rate = answer(result.answers, "Theorem 3.1")
    assert rate.inside is False
    assert max(demand.log10_short or 0 for demand in rate.demands) > 20
    assert "It covers one output" in rate.notes[0]


def test_the_record_has_all_its_keys(binary):
    result = run_inside(binary, InsideSettings(100))
    found = record(result)
    assert list(found) == [
        "schema",
        "version",
        "data",
        "setting",
        "measured",
        "answers",
        "summary",
        "verdict",
    ]
    assert found["data"] == "table.npz"
    assert found["setting"] == {
        "width": 100,
        "eta": None,
        "kappa": None,
        "steps": None,
        "epsilon": 0.1,
        "delta": 0.05,
        "seed": 0,
    }
    assert found["verdict"] == found["summary"] == list(sentences(result))
    assert {each["verdict"] for each in found["answers"]} == set(map(answer_verdict, result.answers))
    assert repr(result).startswith("InsideResult(data=table.npz, width=100, inside=")


def test_every_paper_of_the_registry_answers_for_itself():
    for paper, answers in ANSWERS.items():
        assert {each.paper for each in answers(known(), InsideSettings(100))} == {paper}


def test_the_forecast_counts_at_most_so_many_rows_in_the_third_power(monkeypatch):
    monkeypatch.setattr(forecast, "measure_speed", lambda: Speed(single=2e9, double=1e9, bytes=1e18))
    monkeypatch.setattr(forecast, "require_memory", lambda *parts: None)
    few, many, more = (forecast.forecast_inside(n, 10) for n in (1000, measured.MOST_ROWS, 10**6))
    assert many.seconds / few.seconds == pytest.approx(1000, rel=0.15)
    assert more.seconds == pytest.approx(many.seconds, rel=0.01)
    assert few.memory_bytes < many.memory_bytes < more.memory_bytes


class Notes(Progress):
    def __init__(self) -> None:
        self.facts: list[object] = []

    def note(self, fact: object) -> None:
        self.facts.append(fact)


def test_the_forecast_is_noted_and_a_long_run_must_be_allowed(binary, monkeypatch):
    monkeypatch.setattr(module, "forecast_inside", lambda n, d: Forecast(7200.0, 10))
    notes = Notes()
    with pytest.raises(InputError, match=r"about 2\.0 hours.*`allow_long=True`"):
        run_inside(binary, InsideSettings(10), progress=notes)
    assert notes.facts == [Forecast(7200.0, 10)]
    assert run_inside(binary, InsideSettings(10), allow_long=True).answers


def test_what_does_not_fit_is_refused_before_memory_is_taken(binary, monkeypatch):
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 1000)
    monkeypatch.setattr(module, "measure_data", pytest.fail)
    with pytest.raises(InputError, match="Measuring 60 rows and 12 columns needs about"):
        run_inside(binary, InsideSettings(10))
