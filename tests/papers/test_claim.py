"""Claims held against curves: numbers, spread, both epochs."""

from widenet.papers.claim import Claim, judged_claim
from widenet.papers.curve import Curve, Point, check_above, check_below
from widenet.papers.verdict import Verdict


def curve(best, last):
    return {"net": Curve("net", (Point(1.0, best, last),))}


CLAIM = Claim(
    "Below 1.", "somewhere", lambda bound, found: [check_below("error", found["net"].at(1), "", bound)]
)


def test_a_claim_has_its_numbers_and_their_spread():
    found = judged_claim(CLAIM, 1.0, curve((0.2, 0.4), (0.3, 0.5)))
    assert found.verdict is found.best_epoch is found.last_epoch is Verdict.HELD
    assert found.measured[0].best == (0.2, 0.4)
    assert found.measured[0].last == (0.3, 0.5)
    assert found.measured[0].bounds_best == (1.0, 1.0)
    assert found.measured[0].than == "1"
    assert found.spread == ((0.2, 0.4),)


def test_where_epochs_differ_both_are_told():
    found = judged_claim(CLAIM, 1.0, curve((0.2, 0.4), (2.0, 2.0)))
    assert found.best_epoch is Verdict.HELD
    assert found.last_epoch is Verdict.NOT_HELD
    assert found.verdict is Verdict.NOT_DECIDED


def test_points_are_compared_seed_by_seed():
    claim = Claim(
        "a above b",
        "somewhere",
        lambda settings, found: [check_above("a", found["a"].at(1), "b", found["b"].at(1))],
    )
    curves = {
        "a": Curve("a", (Point(1.0, (2.0, 20.0), (2.0, 20.0)),)),
        "b": Curve("b", (Point(1.0, (1.0, 10.0), (1.0, 10.0)),)),
    }
    assert judged_claim(claim, None, curves).verdict is Verdict.HELD  # though 2 < 10


def test_a_bound_is_told_once():
    plain = judged_claim(CLAIM, 1.0, curve((0.2, 0.4), (0.2, 0.4))).measured[0]
    assert plain.is_told
    beside = Claim(
        "a", "b", lambda _, found: [check_below("x", found["net"].at(1), "y/20", found["net"].at(1))]
    )
    assert not judged_claim(beside, None, curve((3.0, 3.0), (3.0, 3.0))).measured[0].is_told
