"""What is said where landmarks stand for all rows, on results made to break it."""

from dataclasses import replace

import pytest

from widenet.report.audit import page, screen
from widenet.report.audit.sentences import answers, dependence, expected, foretold, learnable, sentences
from widenet.report.audit.theorists import theorists
from widenet.report.audit.verdicts import labels_verdict, learnable_verdict, more_verdict, verdicts


def changed(result, **errors):
    """The result with other errors of the regression on landmarks."""
    return replace(result, whole=replace(result.whole, loo=replace(result.whole.loo, **errors)))


def test_headlines(whole_of):
    assert [card.headline for card in verdicts(whole_of("binary"))] == [
        "About 6 of 120 labels look wrong",
        "A wide network will err on 1% to 6%",
        "Doubling the rows: 5% → 2.5%",
    ]
    assert [card.headline for card in verdicts(whole_of("regression"))[1:]] == [
        "A wide network will be off by 1.21 to 2.8",
        "Doubling the rows: 1.57 → 1.11",
    ]


def test_all_rows_are_counted_and_the_sample_is_named(whole_of, task, screen_of):
    result = whole_of(task)
    first, *_ = sentences(result)
    word = "Targets" if task == "regression" else "Labels"
    assert first == (
        f"{word} and errors are of all 120 rows, estimated by a regression on 20 of them; all else that is "
        "predicted is from 60 rows drawn at random."
    )
    told = " ".join((*sentences(result), *(sentence for answer in answers(result) for sentence in answer)))
    assert "of 60 rows" not in told
    assert "There are 120 rows" in told
    assert "descent on the 60 rows that were drawn" in told
    assert theorists(result)[0] == "This is about the 60 rows that were drawn."
    assert "of all 120 rows" in " ".join(screen_of(screen, result).split())
    assert "120 rows ·" in page(result)


def test_where_the_range_comes_from_is_said(whole_of):
    told = learnable(whole_of("binary"))
    assert told[1].endswith(
        "will err on 1% to 6% of unseen rows; always answering the most frequent class errs on 50%."
    )
    assert told[2] == (
        "The upper end of this range is the error of a regression on 20 landmarks and two standard errors; "
        "how far below it the kernel itself may be is judged by its learning curve, extrapolated from 60 "
        "rows."
    )
    narrower = (
        "With 60 rows alone the kernel itself errs on 2.5% ± 0.3%; more landmarks would narrow the range."
    )
    assert narrower in told
    assert narrower in learnable_verdict(whole_of("binary")).beside
    close = learnable(changed(whole_of("binary"), misclassified=0.02))
    assert "With 60 rows alone the kernel itself errs on 2.5% ± 0.3%." in close


def test_equal_ends_are_one_number(whole_of):
    result = whole_of("binary")
    same = replace(result, whole=replace(result.whole, low=0.0601, high=0.0603))
    assert learnable_verdict(same).headline == "A wide network will err on about 6%"


def test_no_gain_is_that_of_landmarks(whole_of):
    result = whole_of("binary")
    chance = replace(result.dependence, p_value=0.2, p_value_by_row=0.2, rows=60)
    none = changed(replace(result, dependence=chance), misclassified=0.49, misclassified_standard_error=0.02)
    assert learnable_verdict(none).headline == "No gain over guessing is shown"
    assert learnable_verdict(none).beside == (
        "Always guessing the largest class errs on 50%, a regression on 20 landmarks on 49% ± 2%.",
        "Nothing shows that these labels depend on the inputs (p = 0.2, against shuffles of them, on 60 of "
        "the rows).",
    )
    assert "with each row left out, a regression on 20 landmarks of relu5-all errs on 49% ± 2%." in expected(
        none
    )
    assert not any("range" in told for told in learnable(none))
    assert more_verdict(none).headline == "Cannot be told"


def test_a_gain_that_only_all_rows_show_is_one(whole_of):
    result = whole_of("binary")
    unsure = replace(result, dependence=replace(result.dependence, p_value=0.2, p_value_by_row=0.2, rows=60))
    assert learnable_verdict(unsure).headline == "A wide network will err on 1% to 6%"
    assert dependence(unsure).endswith("on 60 of the rows).")
    alike = replace(unsure, dependence=replace(unsure.dependence, p_value_by_row=1e-9))
    assert "share their labels (p < 0.001, against shuffles of them, on 60 of the rows)" in dependence(alike)


def test_a_gain_that_landmarks_are_too_few_for_is_one(whole_of):
    result = changed(whole_of("binary"), misclassified=0.49, misclassified_standard_error=0.01)
    result = replace(result, whole=replace(result.whole, high=0.51))
    assert learnable_verdict(result).headline == "A wide network will err on 1% to 51%"
    assert "more landmarks would narrow the range" in learnable_verdict(result).beside[1]


def test_rows_may_be_ranked_by_landmarks(whole_of):
    result = whole_of("binary")
    sample = replace(result.chosen, loo=replace(result.chosen.loo, constant=0.02))
    rare = changed(replace(result, chosen=sample), constant=0.02, auc=0.93, auc_standard_error=0.02)
    assert learnable_verdict(rare).headline == "A wide network will rank rows, if not tell them apart"
    assert learnable_verdict(rare).beside[0] == (
        "Of pairs of rows, one of each class, a regression on 20 landmarks ranks 93% rightly; guessing ranks "
        "half so."
    )


def test_twice_the_rows_are_twice_all_of_them(whole_of):
    result = whole_of("binary")
    assert more_verdict(result).beside[0].startswith("95% interval with 240 rows, extrapolated from 60: ")
    (told,) = foretold(result)
    assert told.startswith("With twice the rows (240), it would err on 2.5% (95% interval ")
    assert ", extrapolated from 60 rows: " in told


def test_a_curve_that_landmarks_contradict_tells_nothing(whole_of):
    result = whole_of("binary")
    less = replace(result, whole=replace(result.whole, high=0.04))
    assert more_verdict(less).headline == "Cannot be told"
    assert more_verdict(less).beside == (
        "With all rows the learning curve, extrapolated from 60, is at 5%, but landmarks show less, so it "
        "does not tell what more rows would bring.",
    )
    assert foretold(less) == []


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_landmarks_may_miss_a_pattern(whole_of, result_of, task):
    for result, who in ((whole_of(task), "the landmarks miss"), (result_of(task), "the network misses")):
        quiet = replace(result, noise=replace(result.noise, estimate=0.0)) if task == "regression" else result
        assert who in " ".join(labels_verdict(quiet).beside)
