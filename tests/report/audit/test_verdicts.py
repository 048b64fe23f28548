"""The three cards on data made to break their words."""

from dataclasses import replace

from widenet.report.audit.sentences import foretold
from widenet.report.audit.verdicts import labels_verdict, learnable_verdict, more_verdict, verdicts


def test_titles_and_headlines(result_of):
    assert [(card.title, card.headline) for card in verdicts(result_of("binary"))] == [
        ("Labels", "About 3 of 60 labels look wrong"),
        ("Learnable", "A wide network will err on about 2.5%"),
        ("More data", "Doubling the rows: 10% → 5%"),
    ]
    assert [(card.title, card.headline) for card in verdicts(result_of("regression"))] == [
        ("Targets", "23 of 60 targets are far off"),
        ("Learnable", "A wide network will be off by about 2.21"),
        ("More data", "Doubling the rows: 2.21 → 1.57"),
    ]


def test_wrong_labels_are_counted_only_where_they_are_known(result_of):
    result = result_of("binary")

    def headline(**changes):
        return labels_verdict(replace(result, noise=replace(result.noise, **changes))).headline

    assert headline(estimate=0.0, low=0.0) == "No wrong labels detected"
    assert headline(estimate=0.3, decided=False) == "Wrong labels cannot be counted here"


def test_what_may_look_like_a_wrong_label_is_said(result_of):
    told = " ".join(labels_verdict(result_of("binary")).beside)
    assert "1 to 5 rows (95% interval), unless the network misses a pattern" in told
    assert "At 4 of 60 rows" in told


def test_no_target_is_far_off(result_of):
    result = result_of("regression")
    near = replace(result, ranking=tuple(replace(each, score=2.9) for each in result.ranking))
    assert labels_verdict(near).headline == "No target is far off"
    one = replace(result, ranking=(result.ranking[0],))
    assert labels_verdict(one).headline == "1 of 60 targets is far off"
    assert "1 row is further from what the other rows predict than three" in labels_verdict(one).beside[0]


def test_nothing_is_promised_without_a_gain(result_of):
    result = result_of("binary")
    chance = replace(result, dependence=replace(result.dependence, p_value=0.2, p_value_by_row=0.2))
    assert learnable_verdict(chance).headline == "No gain over guessing is shown"
    assert more_verdict(chance).headline == "Cannot be told"
    unknown = replace(result, chosen=replace(result.chosen, loo=replace(result.chosen.loo, error=None)))
    assert learnable_verdict(unknown).headline == "The error is not known"


def test_rare_classes_may_depend_on_the_inputs_without_a_gain(result_of):
    result = result_of("binary")
    rare = replace(result, chosen=replace(result.chosen, loo=replace(result.chosen.loo, constant=0.02)))
    assert learnable_verdict(rare).headline == "No gain over guessing is shown"
    assert learnable_verdict(rare).beside == (
        "Always guessing the largest class errs on 2%, a wide network on 2.5% ± 0.3%.",
        "These labels depend on the inputs (p < 0.001, against shuffles of them).",
    )
    assert "learned" not in more_verdict(rare).beside[0]


def test_rows_of_a_rare_class_may_be_ranked_where_the_error_shows_no_gain(result_of):
    result = result_of("binary")
    loo = replace(result.chosen.loo, constant=0.02, auc=0.93, auc_standard_error=0.02)
    rare = replace(result, chosen=replace(result.chosen, loo=loo))
    assert learnable_verdict(rare).headline == "A wide network will rank rows, if not tell them apart"
    assert learnable_verdict(rare).beside == (
        "Of pairs of rows, one of each class, it ranks 93% rightly; guessing ranks half so.",
        "Always guessing the largest class errs on 2%, a wide network on 2.5% ± 0.3%.",
    )
    unsure = replace(rare, chosen=replace(rare.chosen, loo=replace(loo, auc_standard_error=0.2)))
    assert learnable_verdict(unsure).headline == "No gain over guessing is shown"
    clear = replace(rare, chosen=replace(rare.chosen, loo=replace(loo, constant=0.4)))
    assert learnable_verdict(clear).headline == "A wide network will err on about 2.5%"


def test_more_rows_are_not_said_to_raise_the_error(result_of):
    result = result_of("regression")
    curve = result.chosen.learning_curve
    raised = tuple(
        error if known else 3 * error for error, known in zip(curve.error, curve.measured, strict=True)
    )
    outlying = replace(curve, error=raised, error_high=tuple(5 * error for error in curve.error))
    changed = replace(result, chosen=replace(result.chosen, learning_curve=outlying))
    assert more_verdict(changed).headline == "No gain from more rows is shown"
    (told,) = more_verdict(changed).beside
    assert told.startswith(
        "The error is 2.21 today. 95% interval with 120 rows: 1.4 to 3.5. More data is not"
    )
    (told,) = foretold(changed)
    assert "it would be off by 1.4 to 3.5 (95% interval): whether more data helps much is not" in told


def test_too_few_rows_for_a_curve(result_of):
    result = result_of("binary")
    curve = replace(result.chosen.learning_curve, n=(), measured=())
    few = replace(result, chosen=replace(result.chosen, learning_curve=curve))
    assert more_verdict(few).headline == "Too few rows to tell"
