"""The verdict says what the tests found, in every case, and never more."""

from dataclasses import replace

import pytest

from widenet.compare.importances import MOST_FEATURES, Importance, Importances, NotMeasured
from widenet.compare.result import CompareResult, Measure
from widenet.compare.significance import FoldRows
from widenet.compare.summary import constant_of, significance_of, summarise_methods
from widenet.compare.trial import FoldOutcome
from widenet.report.compare.sentences import (
    ONE_DIVISION,
    amount_text,
    difference_text,
    error_text,
    how_compared,
    p_text,
    sentences,
)

CLASSES, NUMBERS = Measure.MISCLASSIFIED, Measure.SQUARED
GROUPS = {"networks": "network", "kernels": "kernel", "baselines": "baseline"}
BUMPS = (-0.01, 0.0, 0.01, 0.0)


class Named:
    """Just enough of a method to be summarised."""

    def __init__(self, name, family):
        self.name, self.family = name, family


def around(error, bumps=BUMPS):
    """Errors on the folds with that mean."""
    return [error + bump for bump in bumps]


@pytest.fixture
def made(compared):
    """A comparison of methods by name, each of a family, from the errors on their folds; None failed."""

    def make(methods, constant=0.5, measure=CLASSES, num_rows=1000, folds=4) -> CompareResult:
        rows = FoldRows(3 * num_rows // 4, num_rows // 4, counted=measure is CLASSES, folds=folds)
        trials = {
            name: [
                FoldOutcome(None, None, None, 0.0, f"{name} failed.")
                if error is None
                else FoldOutcome(error, error, {}, 0.0)
                for error in errors
            ]
            for name, (_, errors) in methods.items()
        }
        results = summarise_methods([Named(name, each) for name, (each, _) in methods.items()], trials, rows)
        num_folds = len(next(iter(trials.values())))
        guess = constant_of([constant] * num_folds)
        result = compared()
        return replace(
            result,
            protocol=replace(
                result.protocol, measure=measure, chance=constant, folds=folds, repeats=num_folds // folds
            ),
            methods=results,
            best=None if results[0].error is None else results[0].name,
            constant=guess,
            significance=significance_of(results, guess, rows),
            importances=Importances(),
        )

    return make


@pytest.fixture
def told(made):
    """The sentences on families by name, from the errors on their folds."""

    def tell(constant=0.5, measure=CLASSES, num_rows=1000, folds=4, **families):
        methods = {f"{name}-1": (GROUPS[name], errors) for name, errors in families.items()}
        told = sentences(made(methods, constant, measure, num_rows, folds))
        return told[:-1] if told[-1] == ONE_DIVISION else told

    return tell


@pytest.fixture
def joined(told):
    return lambda *args, **named: " ".join(told(*args, **named))


def test_what_is_shown_comes_with_its_least_size(told):
    found = told(networks=around(0.02), kernels=[0.1] * 4)
    assert found[0].startswith("Yes: networks beat the kernels tried by at least ")
    assert found[0].endswith(" percentage points, with 95% confidence.")
    assert float(found[0].split()[9]) < 8


def test_failing_to_show_is_not_showing_the_opposite(told):
    """Whichever family leads, the end of the interval that is not ruled out is named."""
    for network in (0.095, 0.105):
        first = told(networks=around(network, (-0.02, 0.02, -0.02, 0.02)), kernels=[0.1] * 4)[0]
        assert first.startswith(
            "Not shown: that anything beats kernels here. Networks could be better by up to"
        )
        assert "percentage points with 95% confidence." in first


def test_the_end_that_is_not_ruled_out_is_that_of_the_joint_interval(made):
    families = {"networks": 0.105, "kernels": 0.1, "baselines": 0.11}
    bumps = {"networks": (-0.02, 0.02, -0.02, 0.02), "kernels": (0.0,) * 4, "baselines": (0.03, -0.03) * 2}
    methods = {name: (GROUPS[name], around(error, bumps[name])) for name, error in families.items()}
    result = made(methods)
    for test in result.significance.against_kernels:
        assert test.joint_low < test.low
        assert (
            f"could be better by up to {-100 * test.joint_low:.2f} points".replace(
                " points", " percentage points"
            )
            in sentences(result)[0]
        )


def test_kernels_may_be_shown_to_be_better(told):
    first = told(networks=around(0.3), kernels=[0.1] * 4)[0]
    assert first.startswith("Of the methods tried, kernels are better: they beat networks by at least ")
    first = told(networks=around(0.3), kernels=[0.1] * 4, baselines=around(0.1, (0.02, -0.02) * 2))[0]
    assert first.startswith("Not shown: that anything beats kernels here. Baselines could be better by up to")
    assert "; kernels beat networks by at least " in first


def test_it_never_says_no(joined):
    for network in (0.02, 0.08, 0.1, 0.12, 0.3):
        found = joined(networks=around(network), kernels=[0.1] * 4, baselines=around(0.2))
        assert not found.startswith("No:")
        assert " No:" not in found


def test_two_families_may_beat_kernels(told):
    found = told(networks=around(0.02), kernels=[0.1] * 4, baselines=around(0.03))
    assert "networks beat the kernels tried by at least" in found[0]
    assert "and baselines beat the kernels tried by at least" in found[0]
    assert "have an error of 2.00%, kernels 10.00%, the best constant 50.00%: a difference larger" in found[1]
    assert found[1].endswith("both allowing for 2 tests).")
    assert found[2].startswith("Baselines, chosen without looking")


def test_one_test_has_nothing_to_be_adjusted_for(told):
    assert "allowing" not in told(networks=around(0.02), kernels=[0.1] * 4)[1]


def test_where_nothing_is_better_than_a_constant_there_is_no_winner(told):
    noise = {"networks": around(0.47, (0.03, -0.03) * 2), "kernels": around(0.52, (-0.04, 0.04) * 2)}
    first, second = told(**noise, num_rows=100)
    assert first.startswith(
        "Not shown: that anything was learned here. The best constant has an error of 50.00%"
    )
    assert "networks 47.00% and kernels 52.00%" in first
    assert "but one could be by up to" in first
    assert second == "So no method is a winner here, whatever their order."


def test_a_lead_over_kernels_that_are_worse_than_a_constant_is_no_answer(told):
    """Only baselines have learned; networks are nearer to the constant than kernels."""
    found = told(networks=around(0.55), kernels=[0.7] * 4, baselines=around(0.72))
    assert found[0].startswith("Not shown: that anything was learned")
    found = told(networks=around(0.55), kernels=[0.7] * 4, baselines=around(0.1))
    assert "baselines beat" in found[0]
    assert "networks" not in found[0]


def test_rare_classes_are_not_learned_by_guessing_the_others(told):
    found = told(constant=0.03, networks=[0.03] * 4, kernels=[0.03] * 4)
    assert found[0].startswith(
        "Not shown: that anything was learned here. The best constant has an error of 3.00%"
    )


def test_equal_errors_are_no_difference(told, joined):
    found = told(networks=[0.02, 0.03, 0.01, 0.02], kernels=[0.02, 0.03, 0.01, 0.02])
    assert found[0].startswith(
        "Not shown: that anything beats kernels here. Networks have the same error as kernels on every fold "
        "but could be better by up to"
    )
    assert "the same as kernels on every fold; the best constant has 50.00%" in found[1]
    assert found[2] == "All 2 methods have the same error on every fold, 2.00%."
    for measure in (CLASSES, NUMBERS):
        told_of = joined(networks=[0.0] * 4, kernels=[0.0] * 4, measure=measure)
        assert "difference" not in told_of
        assert "up to 0" not in told_of.replace("up to 0.", "")


def test_one_division_is_told(made):
    families = {"a": ("network", around(0.02)), "b": ("kernel", [0.1] * 4)}
    assert sentences(made(families))[-1] == ONE_DIVISION
    assert ONE_DIVISION not in sentences(made(families, folds=2))


NEAR = [0.02, 0.0, 0.085, 0.06]  # divisions of two folds that disagree: on the whole at the limit


def test_what_other_divisions_could_change_is_open(told):
    for sign, side in ((1, "worse"), (-1, "better")):
        first, second, *_ = told(
            networks=[0.1 + sign * each for each in NEAR], kernels=[0.1] * 4, num_rows=400, folds=2
        )
        assert first.startswith(
            f"Open: whether networks and kernels differ. Over 2 divisions of the rows into folds, networks "
            f"are {side} than kernels by 4.1"
        )
        assert first.endswith("that other divisions could put it on either side.")
        assert "a difference at the limit of what chance would explain" in second


def test_whether_anything_was_learned_can_be_open_too(told):
    first, second = told(kernels=[0.5 - each for each in NEAR], num_rows=400, folds=2)
    assert first.startswith(
        "Open: whether anything was learned here. Over 2 divisions of the rows into folds, kernels are "
        "better than the best constant by 4.1"
    )
    assert second == "So no method is a winner here, whatever their order."


def test_what_is_settled_is_told_beside_what_is_open(told):
    found = told(
        networks=[0.1 + each for each in NEAR], kernels=[0.1] * 4, baselines=[0.01] * 4, num_rows=400, folds=2
    )
    assert found[0].startswith("Yes: baselines beat the kernels tried by at least")
    assert "at the limit of what chance would explain" in found[1]


def test_the_best_and_those_that_may_be_as_good(told, made):
    assert told(networks=around(0.02), kernels=[0.1] * 4)[-1] == (
        "The smallest of 2 errors is that of networks-1, 2.00%; every other method is shown not to be "
        "the best."
    )
    assert told(networks=around(0.099), kernels=[0.1] * 4)[-1].endswith(
        "; kernels-1 may be as good or better."
    )
    methods = {name: ("kernel", around(0.1 + j / 1e4)) for j, name in enumerate("acdefg")}
    found = sentences(made({**methods, "b": ("kernel", around(0.3, (0.0, 0.005, 0.0, 0.005)))}))[:-1]
    assert (
        "of the 6 other methods, 5 may be as good or better (c, d, e, f and others), and 1 is shown not to "
        "be the best." in found[-1]
    )


def test_squared_errors_have_no_percent(told):
    found = told(networks=around(0.08), kernels=[0.1] * 4, measure=NUMBERS)
    assert "%" not in " ".join(found).replace("95%", "")
    assert "in squared error" in found[0]
    assert "points" not in " ".join(found)


def test_without_kernels_or_with_only_kernels(told):
    assert "Only kernels" in told(kernels=around(0.1))[0]
    assert "No kernel was compared" in told(networks=around(0.1))[0]


@pytest.mark.parametrize(
    ("left", "failed", "start"),
    [
        ("networks", "kernels", "Every kernel failed"),
        ("kernels", "networks", "Every method but the kernels failed"),
    ],
)
def test_a_family_that_failed_is_not_one_that_was_left_out(left, failed, start, told):
    found = told(**{left: around(0.1), failed: [0.1, None, 0.1, 0.1]})
    assert found[0].startswith(start)
    assert found[-1] == f"1 of 2 methods failed and took no part: {failed}-1."


@pytest.mark.parametrize(("counts", "is_rare"), [((98, 2), True), ((60, 40), False), ((45, 45, 10), True)])
def test_rare_classes_are_told(made, counts, is_rare):
    result = made({"a": ("network", around(0.02)), "b": ("kernel", around(0.1))})
    data = replace(result.data, classes=tuple("xyz"[: len(counts)]), class_counts=counts)
    best = replace(result.methods[0], balanced_error=0.25, auc=0.876)
    constant = replace(result.constant, balanced_error=0.5)
    found = sentences(replace(result, data=data, methods=(best, *result.methods[1:]), constant=constant))
    rare = [each for each in found if each.startswith("Only ")]
    assert len(rare) == is_rare
    if is_rare:
        assert f"of class '{'xyz'[counts.index(min(counts))]}'" in rare[0]
        assert "misclassifies 25.00% of a class (the best constant 50.00%), and the area under its" in rare[0]
        assert "0.876" in rare[0]


def test_importances_are_told_in_one_sentence(made):
    result = made({"a": ("network", around(0.02)), "b": ("kernel", around(0.1))})
    features = (Importance("age", 0.12, 0.02), Importance("size", 0.03, 0.01), Importance("id", 0.001, 0.01))
    told = sentences(replace(result, importances=Importances("a", 5, features)))[3]
    assert told.startswith(
        "Of 3 features, a relies most on 'age' (12.00 percentage points) and 'size' (3.00 percentage points)"
    )
    assert "'id'" not in told
    none = sentences(replace(result, importances=Importances("a", 5, features[2:])))[3]
    assert none.startswith("No single feature is clearly needed by a")
    many = Importances(not_measured=NotMeasured.TOO_MANY_FEATURES)
    assert f"there are more than {MOST_FEATURES}" in sentences(replace(result, importances=many))[3]
    images = Importances(not_measured=NotMeasured.IMAGES)
    assert sentences(replace(result, importances=images)) == sentences(result)


def test_copies_are_told(made):
    result = made({"a": ("network", around(0.02)), "b": ("kernel", around(0.1))})
    result = replace(result, data=replace(result.data, n=200))
    one, many = (replace(result, protocol=replace(result.protocol, repeated_rows=num)) for num in (1, 70))
    assert sentences(one)[:-1] == sentences(many)[1:] == sentences(result)
    assert sentences(one)[-1].startswith("1 of the 200 rows repeats the inputs of another. If it is a copy")
    assert sentences(many)[0].startswith(
        "70 of the 200 rows repeat the inputs of another. If they are copies"
    )


def test_numbers():
    assert error_text(0.01234, CLASSES) == "1.23%"
    assert error_text(1.2345, NUMBERS) == "1.23"
    assert difference_text(-0.01, CLASSES) == "−1.00"
    assert difference_text(0.5, NUMBERS) == "+0.5"
    assert amount_text(-0.0123, CLASSES) == "1.23 percentage points"
    assert amount_text(-0.0123, NUMBERS) == "0.0123 in squared error"
    assert p_text(1e-9) == "p < 0.0001"


def test_how_it_was_compared(result):
    first, constant, *measures, networks = how_compared(result)
    assert bool(measures) == (result.protocol.measure is CLASSES)
    assert "divided into 4 folds, and" in first
    assert "the 75 training rows and was judged on the other 25" in first
    guess = "most frequent class" if result.protocol.measure is CLASSES else "mean"
    assert constant.startswith(f"The best constant, always the {guess}, has an error of")
    assert networks == "Networks have 256 neurons in each hidden layer and were trained for 80 epochs."
    twice = replace(result, protocol=replace(result.protocol, repeats=2), methods=result.methods[:2])
    assert len(how_compared(twice)) == 2 + len(measures)
    assert "4 folds, 2 times over, and" in how_compared(twice)[0]
