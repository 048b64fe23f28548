import json

import numpy as np
import pytest

from widenet.data import Dataset, load
from widenet.errors import InputError
from widenet.theory.answers import Setting, all_answers
from widenet.theory.inside import inside, summarise
from widenet.theory.measured import Measured


@pytest.fixture
def table(tmp_path):
    """A data set of rows X and targets y, from a file."""

    def make(X, y) -> Dataset:
        path = tmp_path / "table.npz"
        np.savez(path, X=np.asarray(X, dtype=float), y=np.asarray(y))
        return load(str(path), prepare="unit")

    return make


@pytest.fixture
def binary(table) -> Dataset:
    X = np.random.default_rng(0).normal(size=(60, 12))
    return table(X, np.where(X[:, 0] > 0, "up", "down"))


def known(**changes) -> Measured:
    """Two orthogonal rows, of which everything is known."""
    values = {
        "n": 2,
        "d": 4,
        "num_outputs": 1,
        "num_repeated": 0,
        "num_measured": 2,
        "lambda_min": 0.5,
        "lambda_floor": 0.5,
        "lambda_max": 0.5,
        "sigma": 1.0,
        "sigma_floor": 1.0,
        "smallest_norm": 1.0,
        "largest_norm": 1.0,
        "largest_label": 1.0,
        "start_loss": 0.125,
        "quadratic": 4.0,
        "quadratic_upper": 4.0,
        "on_cube": False,
    }
    return Measured(**(values | changes))


def answer(answers, place, paper="fine-grained"):
    return next(each for each in answers if (each.paper, each.place) == (paper, place))


def test_small_problems_are_inside_and_a_smaller_width_is_not():
    """Theorem 3.1 asks for 2⁶/(½⁴ ½³) = 8,192 neurons and η ≤ ½/4."""
    enough = all_answers(known(), Setting(8192, 0.125, 1.0, None, 0.1, 0.5))
    assert answer(enough, "Theorem 3.1").inside is True
    fewer = answer(all_answers(known(), Setting(4096, 0.125, 1.0, None, 0.1, 0.5)), "Theorem 3.1")
    assert fewer.inside is False
    assert fewer.verdict == "outside, short by a factor of 2"
    assert "width m = 4,096 ≥ C_m·n⁶/(λ₀⁴κ²δ³) = 8,192: does not hold" in fewer.demands[1].sentence


def test_what_is_not_given_stays_open():
    answers = all_answers(known(), Setting(8192, None, None, None, 0.1, 0.5))
    assert answer(answers, "Theorem 3.1").inside is None
    assert "step η ≤ C_η·λ₀/n² = 0.125 is asked for." in answer(answers, "Theorem 3.1").demands[2].sentence
    two_layers = answer(answers, "Theorem 4", "mild-memorisation")
    assert two_layers.inside is None
    assert [demand.holds for demand in two_layers.demands] == [True, True, True, None]


def test_every_theorem_answers_once_with_numbers(binary):
    result = inside(binary, width=10_000, eta=1e-3, kappa=1e-2, steps=1000)
    places = [(each.paper, each.place) for each in result.answers]
    assert len(set(places)) == len(places) == 12
    assert {paper for paper, _ in places} == {"fine-grained", "resnet-beyond-kernels", "mild-memorisation"}
    assert answer(result.answers, "Theorem 3.1").inside is False
    assert any("astronomical" in sentence for sentence in result.summary)
    record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert record["schema"] == "widenet/inside/1"
    assert record["answers"][0]["demands"][1]["log10_short"] > 6
    assert record["measured"]["lambda_min"] == result.measured.lambda_min


def test_needs_grow_with_the_rows_as_the_theorems_say():
    few, many = (
        answer(all_answers(known(n=n), Setting(100, 1e-3, 0.01, 10, 0.1, 0.1)), "Theorem 4.1")
        for n in (10, 1000)
    )
    assert many.demands[1].log10_short - few.demands[1].log10_short == pytest.approx(14)


def test_a_singular_matrix_is_outside_without_a_number():
    answers = all_answers(
        known(lambda_min=0.0, lambda_floor=0.0, sigma=0.0), Setting(100, 0.1, 0.1, 5, 0.1, 0.1)
    )
    assert answer(answers, "Theorem 3.1").inside is False
    assert answer(answers, "Theorem 3.1").verdict == "outside"
    assert answer(answers, "Theorem 4", "mild-memorisation").inside is False


def test_repeated_rows_are_outside_whatever_the_others_have():
    setting = Setting(10**6, 0.1, 1.0, None, 0.1, 0.5)
    rate = answer(all_answers(known(n=3, num_repeated=1), setting), "Theorem 3.1")
    assert rate.inside is False
    assert rate.demands[0].sentence == "number of repeated rows = 1 ≤ 0: does not hold."


def test_a_part_of_the_rows_proves_nothing_to_be_enough():
    setting = Setting(10**7, 0.01, 1.0, None, 0.1, 0.5)
    part, whole = (
        answer(all_answers(known(n=3, num_measured=measured), setting), "Theorem 3.1") for measured in (2, 3)
    )
    assert (part.inside, whole.inside) == (None, True)


def test_the_cube_is_asked_for_by_its_theorems():
    setting = Setting(100, 0.1, 0.1, 5, 0.1, 0.1)
    on, off = (
        answer(all_answers(known(on_cube=on), setting), "Theorem 2", "resnet-beyond-kernels")
        for on in (True, False)
    )
    assert (on.inside, off.inside) == (None, False)
    assert on.assumes == ("The labels are those of a function of the class (7.1).",)


def test_summary_tells_of_repeated_rows_and_parts():
    data = known(n=100, num_repeated=10, num_measured=50)
    answers = all_answers(data, Setting(100, 0.1, 0.1, 5, 0.1, 0.1))
    told = " ".join(summarise(data, answers))
    assert "10 rows repeat others" in told
    assert "Eigenvalues are those of 50 of the rows" in told
    by_distance = sorted((each for each in answers if each.log10_short), key=lambda each: each.log10_short)
    for words, each in (("Least", by_distance[0]), ("Most", by_distance[-1])):
        assert f"{words} is missing for {each.paper}, {each.place}: " in told


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"eta": -1.0}, "eta=-1.0 is impossible"),
        ({"width": 0}, "width=0 is impossible"),
        ({"delta": 1.5}, "delta=1.5 do not fit"),
    ],
)
def test_impossible_settings_get_a_sentence(binary, change, complaint):
    with pytest.raises(InputError, match=complaint):
        inside(binary, **({"width": 10} | change))


def test_digits_are_answered_honestly():
    result = inside(load("digits"), width=10_000, eta=1e-3, kappa=1e-2, steps=1000)
    rate = answer(result.answers, "Theorem 3.1")
    assert rate.inside is False
    assert max(demand.log10_short or 0 for demand in rate.demands) > 20
    assert "It is about one output" in rate.notes[0]
