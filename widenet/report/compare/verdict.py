"""A comparison in sentences: does anything here beat kernels, and is the difference real?"""

from collections.abc import Sequence

from widenet.compare.result import Champion, MethodResult, Significance
from widenet.compare.significance import PairedTest

PLURAL = {"network": "networks", "kernel": "kernels", "baseline": "baselines"}
LEARNED = 0.95  # an error above this share of the error of a constant is no learning
MOST_NAMED = 4  # methods that a sentence names


def error_text(error: float, measure: str) -> str:
    """An error as people read it: a percentage of rows, or a squared error."""
    return f"{100 * error:.2f}%" if measure == "misclassified" else f"{error:.3g}"


def difference_text(value: float, measure: str) -> str:
    """A difference of errors with its sign."""
    sign = "−" if value < 0 else "+"
    return f"{sign}{100 * abs(value):.2f}" if measure == "misclassified" else f"{sign}{abs(value):.3g}"


def p_text(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def verdict(
    methods: Sequence[MethodResult], significance: Significance, measure: str, chance: float
) -> tuple[str, ...]:
    """The answer first, then what it rests on.

    Args:
        methods: All methods, the best first.
        significance: Their tests.
        measure: What the errors are.
        chance: Error of the best constant prediction.
    """
    best = methods[0]
    if best.error is None:
        return ("Every method failed, so nothing can be said.",)
    if best.error > LEARNED * chance:
        first = (
            f"Nothing was learned here: the smallest error is {error_text(best.error, measure)}, and a "
            f"constant prediction has {error_text(chance, measure)}."
        )
    else:
        first = _answer(methods, significance, measure)
    return (first, *_families(significance, measure), _best_sentence(methods, significance, measure))


def _answer(methods: Sequence[MethodResult], significance: Significance, measure: str) -> str:
    """Does anything beat kernels, and is it real?"""
    tests = significance.against_kernels
    if not tests:
        return f"{_why_no_tests(methods, significance)}, so whether anything beats kernels stays open."
    better = [test for test in tests if test.significant and test.difference < 0]
    worse = [test for test in tests if test.significant and test.difference > 0]
    if better:
        names = " and ".join(test.first for test in better)
        return f"Yes: {names} beat kernels here, and the difference is larger than chance explains."
    if len(worse) == len(tests):
        return "No: nothing here beats kernels, and kernels are better by more than chance explains."
    leading = [test.first for test in tests if test.difference < 0]
    if leading:
        return (
            f"Not shown: {' and '.join(leading)} made fewer errors than kernels, but the difference may be "
            "chance."
            if measure == "misclassified"
            else f"Not shown: the error of {' and '.join(leading)} is smaller than that of kernels, but the "
            "difference may be chance."
        )
    if worse:
        behind = " and ".join(test.first for test in worse)
        return f"No: nothing here beats kernels, and they lead {behind} by more than chance explains."
    return "No: nothing here beats kernels, and their own lead may be chance."


def _why_no_tests(methods: Sequence[MethodResult], significance: Significance) -> str:
    """Why there are no kernels, or nothing beside them, to test."""
    families = {method.family for method in methods}
    if "kernel" not in families:
        return "No kernel was compared"
    if all(champion.family != "kernel" for champion in significance.champions):
        return "Every kernel failed"
    return "Only kernels were compared" if families == {"kernel"} else "Every method but the kernels failed"


def _families(significance: Significance, measure: str) -> list[str]:
    """One sentence for each family beside the kernels."""
    champions = {PLURAL[champion.family]: champion for champion in significance.champions}
    return [_family(test, champions, measure) for test in significance.against_kernels]


def _family(test: PairedTest, champions: dict[str, Champion], measure: str) -> str:
    own, other = champions[test.first].error, champions[test.second].error
    unit = " percentage points" if measure == "misclassified" else ""
    interval = f"{difference_text(test.low, measure)} to {difference_text(test.high, measure)}{unit}"
    real = "a real difference" if test.significant else "no more than chance may explain"
    return (
        f"{test.first.capitalize()}, chosen without looking at test rows, have an error of "
        f"{error_text(own, measure)}, and kernels {error_text(other, measure)}: {real} "
        f"({p_text(test.adjusted)}; difference {difference_text(test.difference, measure)}{unit}, with 95% "
        f"confidence {interval})."
    )


def _best_sentence(methods: Sequence[MethodResult], significance: Significance, measure: str) -> str:
    best = methods[0]
    assert best.error is not None
    spread = "" if best.std is None else f" ± {error_text(best.std, measure)} between folds"
    start = f"The smallest error is that of {best.name}, {error_text(best.error, measure)}{spread}"
    tied = [test.first for test in significance.against_best if not test.significant]
    others = len(significance.against_best)
    if not others:
        return f"{start}."
    if not tied:
        return f"{start}, less than that of every other method by more than chance explains."
    if others == 1:
        return f"{start}; {tied[0]} cannot be told from it."
    if len(tied) == others:
        return f"{start}; none of the {others} other methods can be told from it."
    num_worse = others - len(tied)
    names = ", ".join(tied[:MOST_NAMED]) + (" and others" if len(tied) > MOST_NAMED else "")
    return (
        f"{start}; of the {others} other methods, {len(tied)} cannot be told from it "
        f"({names}), and {num_worse} {'is' if num_worse == 1 else 'are'} worse by more than chance explains."
    )
