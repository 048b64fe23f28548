from dataclasses import replace

import pytest

from widenet.report.audit.sentences import answers, descent, generalise, learnable, sentences, sound, wrong


def test_verdict_is_short(task, result_of):
    told = sentences(result_of(task))
    assert 3 <= len(told) <= 5
    assert all(sentence.endswith(".") for sentence in told)


def test_regression_has_targets_not_labels(result_of):
    told = " ".join(sentence for answer in answers(result_of("regression")) for sentence in answer)
    assert "label" not in told
    assert "class" not in told
    assert "targets' variance is noise" in told


@pytest.mark.parametrize(
    ("value", "meaning"),
    [(0.5, "closely"), (2.0, "in part"), (2.8, "only weakly"), (3.2, "no easier to fit than chance")],
)
def test_complexity_beside_chance(result_of, value, meaning):
    result = result_of("binary")
    complexity = replace(result.complexity, value=value)
    assert meaning in learnable(replace(result, complexity=complexity))[0]


def test_certified_bounds_that_agree_are_said_once(result_of):
    result = result_of("binary")
    assert "lie between 0.812345 and 0.812346" in learnable(result)[1]
    complexity = replace(result.complexity, upper=result.complexity.lower)
    assert "certified to be 0.812345 to six digits" in learnable(replace(result, complexity=complexity))[1]


def test_contradictions_come_first(result_of):
    result = result_of("multiclass")
    found = replace(result.soundness, duplicates=((3, 9), (4, 5)), conflicts=((3, 9),), opposites=((1, 2),))
    troubled = replace(result, soundness=found)
    assert "1 group of identical rows has conflicting labels" in sound(troubled)[1]
    assert "(rows 3 and 9)" in sound(troubled)[1]
    assert "2 groups of rows each map to a single point (rows 3 and 9, among others)" in sound(troubled)[2]
    assert "1 pair of rows is exactly opposite (rows 1 and 2)" in sound(troubled)[3]
    assert sound(troubled)[1] in sentences(troubled)
    assert len(sentences(troubled)) <= 5


def test_a_step_that_is_too_large(result_of):
    result = result_of("binary")
    curve = replace(result.curve, eta=result.curve.eta_max * 1.01)
    assert "diverges" in descent(replace(result, curve=curve))[0]


def test_steps_that_are_never_enough(result_of):
    result = result_of("binary")
    steps = tuple(replace(target, labels=None, random=None) for target in result.curve.steps_to)
    told = descent(replace(result, curve=replace(result.curve, steps_to=steps)))[0]
    assert told == (
        "Gradient descent never brings the loss to a tenth of its initial value; "
        "random labels never get there."
    )


def test_twice_the_rows(result_of):
    told = generalise(result_of("binary"))[1]
    assert told == "With twice the rows (120), 5% would be misclassified (0% to 6.5%): more data helps."


def test_no_promise_where_the_interval_allows_none(result_of):
    result = result_of("regression")
    flat = (0.1,) * 5
    curve = replace(result.learning_curve, error=flat, error_low=flat, error_high=flat)
    assert "more data may not help" in generalise(replace(result, learning_curve=curve))[1]


def test_the_worst_row_may_be_right(result_of):
    result = result_of("binary")
    assert "The most suspicious is row 1: given cat, while the other rows suggest dog" in wrong(result)[1]
    agreed = replace(result.labels[0], suggested="cat")
    assert (
        "row 1, given cat, and even there the other rows agree" in wrong(replace(result, labels=(agreed,)))[1]
    )
    assert len(wrong(replace(result, labels=()))) == 1


def test_noise_in_rows(result_of):
    assert "5% of the labels are wrong (2% to 9%, or 1 to 5 rows)" in wrong(result_of("binary"))[0]
