"""The verdict says what the tests found, in every case."""

from dataclasses import replace

import pytest

from widenet.compare.result import Champion, Measure, MethodResult, Significance
from widenet.compare.significance import PairedTest
from widenet.report.compare.sentences import difference_text, error_text, how_compared, p_text, sentences

CLASSES, NUMBERS = Measure.MISCLASSIFIED, Measure.SQUARED


def method(name, family, error):
    folds = (error,) * 4
    return MethodResult(name, family, error, 0.01, 1.0, 1, 1.0, {}, folds, folds, ({},) * 4, ())


def pair_test(first, second, difference, p):
    return PairedTest(first, second, difference, difference - 0.02, difference + 0.02, p, p, p < 0.05)


def champion(family, error):
    return Champion(family, error, 0.01, ("x",) * 4, (error,) * 4)


@pytest.fixture
def verdict(compared):
    """The sentences on some methods and their tests."""

    def make(methods, significance, measure=CLASSES, chance=0.9):
        result = compared()
        protocol = replace(result.protocol, measure=measure, chance=chance)
        found = {"methods": tuple(methods), "significance": significance, "protocol": protocol}
        return sentences(replace(result, best=methods[0].name, **found))

    return make


@pytest.fixture
def told(verdict):
    """The sentences on a network, a kernel and perhaps a baseline."""
    return lambda *errors, measure=CLASSES, chance=0.9: verdict(*case(*errors), measure, chance)


def case(network, p, baseline=None, baseline_p=0.5):
    champions, tests = [champion("network", network), champion("kernel", 0.1)], []
    tests.append(pair_test("networks", "kernels", network - 0.1, p))
    if baseline is not None:
        champions.append(champion("baseline", baseline))
        tests.append(pair_test("baselines", "kernels", baseline - 0.1, baseline_p))
    methods = sorted(
        [method("3resnet-all", "network", network), method("gaussian", "kernel", 0.1)], key=lambda m: m.error
    )
    against_best = (pair_test(methods[1].name, methods[0].name, abs(network - 0.1), p),)
    return methods, Significance(0.05, tuple(champions), tuple(tests), against_best)


@pytest.mark.parametrize(
    ("network", "p", "start"),
    [
        (0.02, 0.001, "Yes: networks beat kernels here"),
        (0.08, 0.3, "Not shown: networks made fewer errors"),
        (0.3, 0.001, "No: nothing here beats kernels, and kernels are better"),
        (0.11, 0.4, "No: nothing here beats kernels, but any lead of theirs may be due to chance"),
    ],
)
def test_the_answer_comes_first(network, p, start, told):
    assert told(network, p)[0].startswith(start)


def test_two_families_may_beat_kernels(told):
    found = told(0.02, 0.001, 0.03, 0.002)
    assert found[0].startswith("Yes: networks and baselines beat kernels here")
    assert "have an error of 2.00%, and kernels 10.00%: a real difference (p = 0.001" in found[1]
    assert found[2].startswith("Baselines, chosen without looking")


def test_nothing_learned_is_said(told):
    assert told(0.1, 0.5, chance=0.1)[0].startswith("Nothing was learned here: the smallest error is 10.00%")


def test_the_best_and_those_that_cannot_be_told_from_it(told, verdict):
    assert "3resnet-all, 2.00% ± 1.00% between folds, less than that of every" in told(0.02, 0.001)[-1]
    assert told(0.08, 0.3)[-1].endswith("; gaussian cannot be told apart from it.")
    names = ("a", "b", "c", "d", "e", "f", "g")
    tests = tuple(pair_test(name, "a", 0.1, 0.001 if name == "b" else 0.5) for name in names[1:])
    significance = Significance(0.05, (champion("kernel", 0.1),), (), tests)
    found = verdict([method(name, "kernel", 0.1) for name in names], significance, CLASSES, 0.9)
    assert (
        "of the 6 other methods, 5 cannot be told apart from it (c, d, e, f and others), and 1" in found[-1]
    )


def test_squared_errors_have_no_percent(told):
    found = told(0.08, 0.3, measure=NUMBERS)
    assert "%" not in found[1].replace("95%", "")
    assert "the error of networks is smaller" in found[0]


def test_without_kernels_or_with_only_kernels(verdict):
    alone = Significance(0.05, (champion("kernel", 0.1),), (), ())
    assert "Only kernels" in verdict([method("a", "kernel", 0.1)], alone, CLASSES, 0.9)[0]
    alone = Significance(0.05, (champion("network", 0.1),), (), ())
    assert "No kernel was compared" in verdict([method("a", "network", 0.1)], alone, CLASSES, 0.9)[0]


@pytest.mark.parametrize(
    ("left", "failed", "start"),
    [
        ("network", "kernel", "Every kernel failed"),
        ("kernel", "network", "Every method but the kernels failed"),
    ],
)
def test_a_family_that_failed_is_not_one_that_was_left_out(left, failed, start, verdict):
    alone = Significance(0.05, (champion(left, 0.1),), (), ())
    methods = [method("a", left, 0.1), method("b", failed, None)]
    assert verdict(methods, alone, CLASSES, 0.9)[0].startswith(start)


def test_numbers():
    assert error_text(0.01234, CLASSES) == "1.23%"
    assert error_text(1.2345, NUMBERS) == "1.23"
    assert difference_text(-0.01, CLASSES) == "−1.00"
    assert difference_text(0.5, NUMBERS) == "+0.5"
    assert p_text(1e-9) == "p < 0.0001"


def test_how_it_was_compared(result):
    first, chance, networks = how_compared(result)
    assert "divided into 4 folds, and" in first
    assert "the 75 training rows and was judged on the other 25" in first
    assert error_text(0.5, result.protocol.measure) in chance
    assert networks == "Networks have 256 neurons in each hidden layer and were trained for 80 epochs."
    twice = replace(result, protocol=replace(result.protocol, repeats=2), methods=result.methods[:2])
    assert len(how_compared(twice)) == 2
    assert "4 folds, 2 times over, and" in how_compared(twice)[0]
