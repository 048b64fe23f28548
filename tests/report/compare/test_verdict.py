"""The verdict says what the tests found, in every case."""

import pytest

from widenet.compare.result import Champion, MethodResult, Significance
from widenet.compare.significance import PairedTest
from widenet.report.compare.verdict import difference_text, error_text, p_text, verdict


def method(name, family, error):
    folds = (error,) * 4
    return MethodResult(name, family, error, 0.01, 1.0, 1, 1.0, {}, folds, folds, ({},) * 4, ())


def pair_test(first, second, difference, p):
    return PairedTest(first, second, difference, difference - 0.02, difference + 0.02, p, p, p < 0.05)


def champion(family, error):
    return Champion(family, error, 0.01, ("x",) * 4, (error,) * 4)


def told(network, p, baseline=None, baseline_p=0.5, *, measure="misclassified", chance=0.9):
    champions, tests = [champion("network", network), champion("kernel", 0.1)], []
    tests.append(pair_test("networks", "kernels", network - 0.1, p))
    if baseline is not None:
        champions.append(champion("baseline", baseline))
        tests.append(pair_test("baselines", "kernels", baseline - 0.1, baseline_p))
    methods = sorted(
        [method("3resnet-all", "network", network), method("gaussian", "kernel", 0.1)], key=lambda m: m.error
    )
    against_best = (pair_test(methods[1].name, methods[0].name, abs(network - 0.1), p),)
    significance = Significance("", 0.05, tuple(champions), tuple(tests), against_best)
    return verdict(methods, significance, measure, chance)


@pytest.mark.parametrize(
    ("network", "p", "start"),
    [
        (0.02, 0.001, "Yes: networks beat kernels here"),
        (0.08, 0.3, "Not shown: networks made fewer errors"),
        (0.3, 0.001, "No: nothing here beats kernels, and kernels are better"),
        (0.11, 0.4, "No: nothing here beats kernels, and their own lead may be chance"),
    ],
)
def test_the_answer_comes_first(network, p, start):
    assert told(network, p)[0].startswith(start)


def test_two_families_may_beat_kernels():
    sentences = told(0.02, 0.001, 0.03, 0.002)
    assert sentences[0].startswith("Yes: networks and baselines beat kernels here")
    assert "have an error of 2.00%, and kernels 10.00%: a real difference (p = 0.001" in sentences[1]
    assert sentences[2].startswith("Baselines, chosen without looking")


def test_nothing_learned_is_said():
    assert told(0.1, 0.5, chance=0.1)[0].startswith("Nothing was learned here: the smallest error is 10.00%")


def test_the_best_and_those_that_cannot_be_told_from_it():
    assert "3resnet-all, 2.00% ± 1.00% between folds, less than that of every" in told(0.02, 0.001)[-1]
    assert told(0.08, 0.3)[-1].endswith("; gaussian cannot be told from it.")
    names = ("a", "b", "c", "d", "e", "f", "g")
    tests = tuple(pair_test(name, "a", 0.1, 0.001 if name == "b" else 0.5) for name in names[1:])
    significance = Significance("", 0.05, (champion("kernel", 0.1),), (), tests)
    sentences = verdict([method(name, "kernel", 0.1) for name in names], significance, "misclassified", 0.9)
    assert "of the 6 other methods, 5 cannot be told from it (c, d, e, f and others), and 1" in sentences[-1]


def test_squared_errors_have_no_percent():
    sentences = told(0.08, 0.3, measure="squared error")
    assert "%" not in sentences[1].replace("95%", "")
    assert "the error of networks is smaller" in sentences[0]


def test_without_kernels_or_with_only_kernels():
    alone = Significance("", 0.05, (champion("kernel", 0.1),), (), ())
    assert "Only kernels" in verdict([method("a", "kernel", 0.1)], alone, "misclassified", 0.9)[0]
    alone = Significance("", 0.05, (champion("network", 0.1),), (), ())
    assert "No kernel was compared" in verdict([method("a", "network", 0.1)], alone, "misclassified", 0.9)[0]


@pytest.mark.parametrize(
    ("left", "failed", "start"),
    [
        ("network", "kernel", "Every kernel failed"),
        ("kernel", "network", "Every method but the kernels failed"),
    ],
)
def test_a_family_that_failed_is_not_one_that_was_left_out(left, failed, start):
    alone = Significance("", 0.05, (champion(left, 0.1),), (), ())
    methods = [method("a", left, 0.1), method("b", failed, None)]
    assert verdict(methods, alone, "misclassified", 0.9)[0].startswith(start)


def test_numbers():
    assert error_text(0.01234, "misclassified") == "1.23%"
    assert error_text(1.2345, "squared error") == "1.23"
    assert difference_text(-0.01, "misclassified") == "−1.00"
    assert difference_text(0.5, "squared error") == "+0.5"
    assert p_text(1e-9) == "p < 0.0001"
