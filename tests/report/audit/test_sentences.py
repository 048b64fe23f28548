from dataclasses import replace

import pytest

from widenet.audit.findings import Estimate
from widenet.audit.settings import DEFAULT_KERNEL
from widenet.data.outlying import Outlying
from widenet.report.audit.sentences import answers, descent, learnable, sentences, sound, theorists, wrong


def test_verdict_is_short(task, result_of):
    told = sentences(result_of(task))
    assert 4 <= len(told) <= 6
    assert all(sentence.endswith(".") for sentence in told)


def test_regression_has_targets_not_labels(result_of):
    told = " ".join(sentence for answer in answers(result_of("regression")) for sentence in answer)
    assert "label" not in told
    assert "class" not in told
    assert "targets' variance is noise" in told


@pytest.mark.parametrize(
    ("p_value", "told"),
    [
        (1e-12, "These labels depend on the inputs (p < 0.001"),
        (0.0009, "These labels depend on the inputs (p < 0.001"),
        (0.02, "It is not clear whether these labels depend on the inputs (p = 0.02"),
        (0.34, "Nothing shows that these labels depend on the inputs (p = 0.34"),
        (1.0, "Nothing shows that these labels depend on the inputs (p = 1"),
    ],
)
def test_dependence_is_claimed_where_shuffles_rule_chance_out(result_of, p_value, told):
    result = result_of("binary")
    dependence = replace(result.dependence, p_value=p_value, p_value_by_row=p_value)
    assert learnable(replace(result, dependence=dependence))[0] == f"{told}, against shuffles of them)."


def test_an_estimate_is_called_one(task, result_of):
    result = result_of(task)
    assert not any("estimated" in sentence for sentence in (learnable(result)[-1], *theorists(result)))
    loo, judged = (
        replace(each, method=Estimate.ESTIMATED, error_bar=0.123) for each in (result.loo, result.chosen.loo)
    )
    result = replace(result, loo=loo, chosen=replace(result.chosen, loo=judged))
    assert learnable(result)[-1].startswith("The prediction for each row from the others was estimated; ")
    told = next(sentence for sentence in theorists(result) if "without a ridge" in sentence)
    estimated = "; an estimate)" if task == "regression" else "; estimated, the squared error to ± 0.123)"
    assert estimated in told


def test_why_an_error_is_not_known(task, result_of):
    result = result_of(task)
    loo, judged = (
        replace(each, method=Estimate.TOO_ROUGH, error=None, misclassified=None)
        for each in (result.loo, result.chosen.loo)
    )
    result = replace(result, loo=loo, chosen=replace(result.chosen, loo=judged))
    told = [each for each in (*learnable(result), *theorists(result)) if "is not known, because" in each]
    assert len(told) == 2
    assert all(each.endswith(" estimate is too rough to be told.") for each in told)


def test_agreement_of_rows_with_the_same_inputs_is_not_more_than_that(result_of):
    result = result_of("binary")
    dependence = replace(result.dependence, p_value=0.3)
    assert learnable(replace(result, dependence=dependence))[0] == (
        "Rows with the same inputs share their labels (p < 0.001, against shuffles of them), but nothing "
        "shows that this carries over to other inputs."
    )


def test_a_part_of_the_rows_is_said_to_be_one(result_of):
    result = result_of("binary")
    told = learnable(replace(result, dependence=replace(result.dependence, rows=40)))[0]
    assert told.endswith("(p < 0.001, against shuffles of them, on 40 of the rows).")


def test_complexity_stands_beside_that_of_shuffled_labels(result_of):
    result = result_of("binary")
    assert theorists(result)[0] == (
        "The complexity is 0.812; of shuffled labels it is 3.25 ± 0.05 (p < 0.001)."
    )
    unknown = replace(result.complexity, value=None, upper=None, shuffled=None, shuffled_std=None)
    told = theorists(replace(result, complexity=unknown))
    assert told[0] == "Among shuffled labels the complexity has p < 0.001."
    assert told[1].startswith("The complexity is at least 0.812344, up to rounding; no more is known")


def test_certified_is_said_where_it_is_earned(result_of):
    result = result_of("binary")
    told = theorists(result)[1]
    assert told == "The complexity lies between 0.812344 and 0.812347 (certified, rounding included)."
    complexity = replace(result.complexity, upper=result.complexity.lower, certified=False)
    told = theorists(replace(result, complexity=complexity))[1]
    assert told == "The complexity is 0.812345 to six digits (bounded, up to rounding)."


def test_contradictions_come_first(result_of):
    result = result_of("multiclass")
    found = replace(result.soundness, duplicates=((3, 9), (4, 5)), conflicts=((3, 9),), opposites=((1, 2),))
    troubled = replace(result, soundness=found)
    assert "1 group of identical rows has conflicting labels" in sound(troubled)[1]
    assert "(rows 3 and 9)" in sound(troubled)[1]
    assert (
        "2 groups of rows each have the same inputs, as they were prepared (rows 3 and 9, "
        in sound(troubled)[2]
    )
    assert "1 pair of rows is exactly opposite (rows 1 and 2)" in sound(troubled)[3]
    assert sound(troubled)[1] in sentences(troubled)
    assert "2 rows have the inputs of another, as they were prepared" in learnable(troubled)[3]


def test_targets_that_drown_the_others_are_told_first(result_of):
    result = result_of("regression")
    one = replace(result, soundness=replace(result.soundness, outlying=Outlying((18,), 0.9996)))
    assert sentences(one)[0] == (
        "Row 18 alone has 99.9% of the variance of the targets, so that errors are mostly about it and "
        "rows near it may only look wrong. If it is wrong, correct or drop it and audit again; if not, a "
        "logarithm or ranks may be easier to learn."
    )
    two = replace(result, soundness=replace(result.soundness, outlying=Outlying((70, 7), 0.75)))
    assert sentences(two)[0].startswith("Rows 70 and 7 have 75% of the variance of the targets between them")


def test_rows_without_a_target_are_counted(result_of):
    result = result_of("binary")
    gaps = replace(result, data=replace(result.data, without_target=3))
    assert "3 rows without a target were left out." in sound(gaps)[0]


def test_who_descends_is_said_once(result_of):
    result = replace(result_of("binary"), kernel=DEFAULT_KERNEL)
    told = " ".join(sentence for answer in answers(result) for sentence in answer)
    assert told.count("infinitely wide") == 1
    assert descent(result)[0] == (
        "In an infinitely wide two-layer network whose hidden layer is trained by full-batch descent, the "
        "loss falls to a tenth of its initial value after 123 steps; with shuffled labels, after 4,567."
    )


def test_a_step_that_is_too_large(result_of):
    result = result_of("binary")
    curve = replace(result.curve, eta=result.curve.eta_max * 1.01)
    assert "diverges" in descent(replace(result, curve=curve))[0]


def test_steps_that_are_not_enough(result_of):
    result = result_of("binary")
    steps = tuple(replace(target, labels=None, random=None) for target in result.curve.steps_to)
    told = descent(replace(result, curve=replace(result.curve, steps_to=steps)))[0]
    within = "does not fall to a tenth of its initial value within 10,000 steps"
    assert told.endswith(f"{within}; with shuffled labels, not within 10,000.")


def test_the_error_stands_beside_that_of_the_best_constant(result_of):
    result = result_of("binary")
    network = "wide network (relu5-all with a ridge, chosen for this data)"
    assert learnable(result)[1] == (
        f"A {network} will err on about 2.5% ± 0.3% of unseen rows; always answering the most frequent class "
        "errs on 50%."
    )
    # Squared errors of 0.1 ± 0.02 and 1 in units of 7: 7√0.1, 7 · 0.02/(2√0.1), and 7.
    assert learnable(result_of("regression"))[1] == (
        f"A {network} will be off by about 2.21 ± 0.221 (root mean square) on unseen rows; always predicting "
        "the mean is off by 7."
    )


def test_no_gain_is_told_where_none_is_shown(result_of):
    result = result_of("binary")
    rare = replace(result, chosen=replace(result.chosen, loo=replace(result.chosen.loo, constant=0.02)))
    chance = replace(result, dependence=replace(result.dependence, p_value=0.2, p_value_by_row=0.2))
    for told, constant in ((learnable(rare), "2%"), (learnable(chance), "50%")):
        assert told[1] == (
            f"No gain over always answering the most frequent class is shown, which errs on {constant}: with "
            "each row left out, a wide network (relu5-all with a ridge, chosen for this data) errs on "
            "2.5% ± 0.3%."
        )
        assert "twice the rows" not in " ".join(told)
    alike = replace(rare, soundness=replace(rare.soundness, duplicates=((1, 2),)))
    assert "with rows of the same inputs left out together, a wide network" in learnable(alike)[1]


def test_twice_the_rows(result_of):
    told = learnable(result_of("binary"))[2]
    assert told == "With twice the rows (120), it would err on 5% (95% interval 0% to 6.5%): more data helps."


def test_no_promise_where_the_interval_allows_none(result_of):
    result = result_of("regression")
    curve = result.chosen.learning_curve
    for changes in ({"low": -0.01}, {"value": 0.05}, {"over_constant": -0.02}):
        changed = replace(curve, gain=replace(curve.gain, **changes))
        told = learnable(replace(result, chosen=replace(result.chosen, learning_curve=changed)))[2]
        assert "whether more data helps much is not shown" in told
    wide = replace(curve, error_high=tuple(3 * error for error in curve.error))
    told = learnable(replace(result, chosen=replace(result.chosen, learning_curve=wide)))[2]
    assert "whether more data helps much is not shown" in told


def test_the_worst_row_may_be_right(result_of):
    result = result_of("binary")
    assert (
        "Of these, the most suspicious is row 1: given cat, while the other rows suggest dog"
        in wrong(result)[2]
    )
    agreed = replace(result.ranking[0], suggested="cat")
    told = wrong(replace(result, ranking=(agreed,), contradicting=0))
    assert told[1] == "The other rows predict the label of every row."
    assert len(told) == 2  # no row is called suspicious


def test_noise_is_told_as_far_as_it_is_known(result_of):
    result = result_of("binary")

    def told(**changes):
        return wrong(replace(result, noise=replace(result.noise, **changes)))[0]

    assert told() == (
        "An estimated 5% of the labels are wrong (95% interval 2% to 9%, 1 to 5 rows), unless the network "
        "misses a pattern or classes overlap evenly."
    )
    assert told(estimate=0.0, low=0.0) == (
        "No wrong labels were detected; up to 9%, or 5 rows, would go unnoticed (95% interval), unless "
        "labels are mostly wrong somewhere."
    )
    assert told(estimate=0.47, low=0.0, high=0.48, decided=False) == (
        "How many labels are wrong cannot be told here: 0% to 48% would fit (95% interval)."
    )


def test_what_a_kernel_does_not_explain_is_not_called_noise(result_of):
    result = result_of("regression")

    def told(**changes):
        return wrong(replace(result, noise=replace(result.noise, estimate=0.0, low=0.0, **changes)))[0]

    missed = "what the other rows do not explain may be a pattern that the network misses."
    assert told(high=0.99, decided=False) == (
        f"How much of the targets is noise cannot be told (95% interval 0% to 99%): {missed}"
    )
    assert told(high=0.12) == (
        f"At most 12% of the targets' variance is noise (95% interval 0% to 12%): {missed}"
    )


def test_rows_that_contradict_their_label_are_counted(result_of):
    assert wrong(result_of("binary"))[1] == (
        "At 4 of 60 rows, the other rows predict another label than the given one."
    )
