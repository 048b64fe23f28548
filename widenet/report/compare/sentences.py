"""A comparison in plain sentences: does anything here beat kernels, and is the difference real?"""

from collections.abc import Callable

from widenet.compare.result import Champion, CompareResult, Measure, MethodResult
from widenet.compare.significance import PairedTest
from widenet.compare.tuning import FAMILY_GROUPS, Choice

LEARNED = 0.95  # an error above this share of the error of a constant is no learning
MOST_NAMED = 4  # methods that a sentence names
HOW_TESTED = (
    "Corrected resampled t-test over the folds (Nadeau and Bengio), two-sided, with Holm's correction for "
    "the tests of each group"
)


def sentences(result: CompareResult) -> tuple[str, ...]:
    """The answer first, then what it rests on."""
    best, measure, chance = result.methods[0], result.protocol.measure, result.protocol.chance
    if best.error is None:
        return ("Every method failed, so there is nothing to compare.",)
    if best.error > LEARNED * chance:
        first = (
            f"Nothing was learned here: the smallest error is {error_text(best.error, measure)}, and a "
            f"constant prediction has {error_text(chance, measure)}."
        )
    else:
        first = _answer(result)
    return (first, *_families(result), _best_sentence(result, best.error))


def how_compared(result: CompareResult) -> list[str]:
    """How errors were measured, the most important first."""
    protocol = result.protocol
    classes = protocol.measure is Measure.MISCLASSIFIED
    what = "the share of misclassified rows" if classes else "the mean of ‖prediction − y‖²"
    times = "" if protocol.repeats == 1 else f", {protocol.repeats} times over"
    told = [
        f"The error is {what} on rows that took no part in fitting or choosing: the rows were divided into "
        f"{protocol.folds} folds{times}, and in each fold every method chose its settings within the "
        f"{protocol.train_rows:,} training rows and was judged on the other {protocol.test_rows:,}.",
        f"A constant guess has an error of {error_text(protocol.chance, protocol.measure)}.",
    ]
    if any(method.family == "network" for method in result.methods):
        told.append(
            f"Networks have {protocol.width:,} neurons in each hidden layer and were trained for "
            f"{protocol.epochs:,} epochs."
        )
    return told


def error_text(error: float, measure: Measure) -> str:
    """An error as people read it: a percentage of rows, or a squared error."""
    return f"{100 * error:.2f}%" if measure is Measure.MISCLASSIFIED else f"{error:.3g}"


def difference_text(value: float, measure: Measure) -> str:
    """A difference of errors with its sign."""
    sign = "−" if value < 0 else "+"
    return f"{sign}{100 * abs(value):.2f}" if measure is Measure.MISCLASSIFIED else f"{sign}{abs(value):.3g}"


def p_text(p: float) -> str:
    """A p-value, as in 'p = 0.03'."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def choice_text(choice: Choice) -> str:
    """A chosen setting as 'h = 0.2, ridge = 1e-05'."""
    if not choice:
        return "nothing to choose"
    shown = ((name, f"{value:g}" if isinstance(value, float) else value) for name, value in choice.items())
    return ", ".join(f"{name} = {value}" for name, value in shown)


def method_cells(
    result: CompareResult, method: MethodResult, shown_p: Callable[[float], str]
) -> tuple[str, ...]:
    """Name, family, error, spread, rank, wins, p and time of a method; one that failed has gaps."""
    measure, time = result.protocol.measure, time_text(method.seconds)
    if method.error is None or method.std is None or method.rank is None:
        return method.name, method.family, "failed", "", "", "", "", time
    errors = error_text(method.error, measure), error_text(method.std, measure)
    p = "best" if method.name == result.best else shown_p(result.significance.adjusted[method.name])
    return method.name, method.family, *errors, f"{method.rank:.1f}", str(method.wins), p, time


def time_text(seconds: float) -> str:
    """A time in little room."""
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def _answer(result: CompareResult) -> str:
    """Does anything beat kernels, and is it real?"""
    tests = result.significance.against_kernels
    if not tests:
        return f"{_why_no_tests(result)}, so whether anything beats kernels remains open."
    better = [test for test in tests if test.significant and test.difference < 0]
    worse = [test for test in tests if test.significant and test.difference > 0]
    if better:
        names = " and ".join(test.first for test in better)
        return f"Yes: {names} beat kernels here, and the difference is larger than chance would explain."
    if len(worse) == len(tests):
        return "No: nothing here beats kernels, and kernels are better by more than chance would explain."
    leading = " and ".join(test.first for test in tests if test.difference < 0)
    if leading:
        ahead = (
            f"{leading} made fewer errors than kernels"
            if result.protocol.measure is Measure.MISCLASSIFIED
            else f"the error of {leading} is smaller than that of kernels"
        )
        return f"Not shown: {ahead}, but the difference may be due to chance."
    if worse:
        behind = " and ".join(test.first for test in worse)
        return f"No: nothing here beats kernels, and they lead {behind} by more than chance would explain."
    return "No: nothing here beats kernels, but any lead of theirs may be due to chance."


def _why_no_tests(result: CompareResult) -> str:
    """Why there are no kernels, or nothing beside them, to test."""
    families = {method.family for method in result.methods}
    if "kernel" not in families:
        return "No kernel was compared"
    if all(champion.family != "kernel" for champion in result.significance.champions):
        return "Every kernel failed"
    return "Only kernels were compared" if families == {"kernel"} else "Every method but the kernels failed"


def _families(result: CompareResult) -> list[str]:
    """One sentence for each family beside the kernels."""
    champions = {FAMILY_GROUPS[champion.family]: champion for champion in result.significance.champions}
    tests = result.significance.against_kernels
    return [_family(test, champions, result.protocol.measure) for test in tests]


def _family(test: PairedTest, champions: dict[str, Champion], measure: Measure) -> str:
    own, other = champions[test.first].error, champions[test.second].error
    unit = " percentage points" if measure is Measure.MISCLASSIFIED else ""
    interval = f"{difference_text(test.low, measure)} to {difference_text(test.high, measure)}{unit}"
    real = "a real difference" if test.significant else "a difference that may be due to chance"
    return (
        f"{test.first.capitalize()}, chosen without looking at test rows, have an error of "
        f"{error_text(own, measure)}, and kernels {error_text(other, measure)}: {real} "
        f"({p_text(test.adjusted)}; difference {difference_text(test.difference, measure)}{unit}, with 95% "
        f"confidence {interval})."
    )


def _best_sentence(result: CompareResult, error: float) -> str:
    best, measure, tests = result.methods[0], result.protocol.measure, result.significance.against_best
    spread = "" if best.std is None else f" ± {error_text(best.std, measure)} between folds"
    start = f"The smallest error is that of {best.name}, {error_text(error, measure)}{spread}"
    tied = [test.first for test in tests if not test.significant]
    others = len(tests)
    if not others:
        return f"{start}."
    if not tied:
        return f"{start}, less than that of every other method by more than chance would explain."
    if others == 1:
        return f"{start}; {tied[0]} cannot be told apart from it."
    if len(tied) == others:
        return f"{start}; none of the {others} other methods can be told apart from it."
    num_worse = others - len(tied)
    names = ", ".join(tied[:MOST_NAMED]) + (" and others" if len(tied) > MOST_NAMED else "")
    return (
        f"{start}; of the {others} other methods, {len(tied)} cannot be told apart from it ({names}), and "
        f"{num_worse} {'is' if num_worse == 1 else 'are'} worse by more than chance would explain."
    )
