"""A comparison in plain sentences: does anything here beat kernels, and is the difference real?"""

from collections.abc import Callable

from widenet.base.wording import shown
from widenet.compare.importances import MOST_FEATURES, NotMeasured
from widenet.compare.result import BestConstant, CompareResult, Measure, MethodResult
from widenet.compare.significance import Finding, PairedTest
from widenet.compare.summary import CONSTANT
from widenet.compare.tuning import FAMILY_GROUPS, Choice
from widenet.report.parts.leaks import leak_sentences

MOST_NAMED = 4  # methods that a sentence names
NO_WINNER = "So no method is a winner here, whatever their order."
ONE_DIVISION = "The rows were divided into folds once, and another division could answer differently."
SIZES = {
    Finding.BETTER: "larger than chance would explain",
    Finding.WORSE: "larger than chance would explain",
    Finding.NOT_SHOWN: "that may be due to chance",
    Finding.OPEN: "at the limit of what chance would explain",
}
RARE = 0.5  # of the share that a class would have if all had the same, below which it is rare
MOST_RELIED_ON = 3  # features that a sentence names
HOW_SHUFFLED = "shuffling it among the test rows"
HIDING = "features that tell the same can hide each other"
MANY_REPEATED = 0.01  # share of repeated rows from which they come first
HOW_CALIBRATED = (
    "The balanced error is the mean over the classes of the share of their rows that is misclassified, AUC "
    "the area under the ROC curve, of several classes the mean over each against all others. Probabilities, "
    "for AUC and log loss, are softmax(a·output + b), with one a and a bias for each class, fitted within "
    "the training rows to outputs for rows held out there, for every method alike."
)
HOW_TESTED = (
    "Corrected resampled t-test over the folds (Nadeau and Bengio), two-sided: p, low and high are of one "
    "test alone; adjusted, joint_low and joint_high allow for all tests of a group (Bonferroni). It assumes "
    "independent rows, nearly normal differences and a correlation between folds of n2/(n1 + n2), with n1 "
    "rows to train on and n2 to test on"
)


def sentences(result: CompareResult) -> tuple[str, ...]:
    """The answer, unless many rows repeat, which comes first; then what it rests on."""
    if result.best is None:
        return ("Every method failed, so there is nothing to compare.",)
    repeated, failed = _about_repeated(result), _about_failed(result)
    if result.significance.learned:
        told = [_answer(result), *_families(result), _best_sentence(result), *_about_rare(result)]
        told += _about_importances(result)
    else:
        closer = [test for test in result.significance.against_constant if test.difference < 0]
        is_open = any(test.finding is Finding.OPEN for test in closer)
        told = [_nothing_settled(result) if is_open else _nothing_shown(result), NO_WINNER]
    told += [ONE_DIVISION] if result.protocol.repeats == 1 else []
    leaks = leak_sentences(result.data)  # errors mean little where a column gives the target away
    if result.protocol.repeated_rows >= MANY_REPEATED * result.data.n:
        return (*leaks, *repeated, *told, *failed)  # since all else depends on it
    return (*leaks, *told, *repeated, *failed)


def how_compared(result: CompareResult) -> list[str]:
    """How errors were measured, the most important first."""
    protocol = result.protocol
    classes = protocol.measure is Measure.MISCLASSIFIED
    what = "the share of misclassified rows" if classes else "the mean of ‖prediction − y‖²"
    times = "" if protocol.repeats == 1 else f", {protocol.repeats} times over"
    guess = "always the most frequent class" if classes else "always the mean"
    told = [
        f"The error is {what} on rows that took no part in fitting or choosing: the rows were divided into "
        f"{protocol.folds} folds{times}, and in each fold every method chose its settings within the "
        f"{protocol.train_rows:,} training rows and was judged on the other {protocol.test_rows:,}.",
        f"The best constant, {guess}, has an error of {error_text(result.constant.error, protocol.measure)}.",
    ]
    if classes:
        told.append(HOW_CALIBRATED)
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


def amount_text(value: float, measure: Measure) -> str:
    """The size of a difference of errors, with its unit."""
    if measure is Measure.MISCLASSIFIED:
        return f"{100 * abs(value):.2f} percentage points"
    return f"{abs(value):.3g} in squared error"


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
    """Cells of a method under `method_head`; one that failed has gaps."""
    measure, time = result.protocol.measure, time_text(method.seconds)
    if method.error is None or method.std is None or method.rank is None:
        gaps = [""] * (len(method_head(result)) - 4)
        return method.name, method.family, "failed", *gaps, time
    errors = error_text(method.error, measure), error_text(method.std, measure)
    p = "best" if method.name == result.best else shown_p(result.significance.adjusted[method.name])
    standing = f"{method.rank:.1f}", str(method.wins)
    return method.name, method.family, *errors, *_measure_cells(result, method), *standing, p, time


def method_head(result: CompareResult) -> tuple[str, ...]:
    """What is told of every method; of classes, balanced error, area under the ROC curve and log loss too."""
    classes = result.protocol.measure is Measure.MISCLASSIFIED
    others = ("balanced", "AUC", "log loss") if classes else ()
    return "method", "family", "error", "spread", *others, "rank", "wins", "p", "time"


def _measure_cells(result: CompareResult, method: MethodResult | BestConstant) -> tuple[str, ...]:
    if result.protocol.measure is not Measure.MISCLASSIFIED:
        return ()
    balanced = (
        "" if method.balanced_error is None else error_text(method.balanced_error, Measure.MISCLASSIFIED)
    )
    return balanced, *("" if each is None else f"{each:.3f}" for each in (method.auc, method.log_loss))


def constant_cells(result: CompareResult) -> tuple[str, ...]:
    """The same of the best constant, which has no rank."""
    errors = (
        error_text(each, result.protocol.measure) for each in (result.constant.error, result.constant.std)
    )
    return "best constant", "", *errors, *_measure_cells(result, result.constant), "", "", "", ""


def time_text(seconds: float) -> str:
    """A time in little room."""
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def _nothing_settled(result: CompareResult) -> str:
    """That it depends on the division into folds whether anything is better than a constant."""
    tests = [test for test in result.significance.against_constant if test.finding is Finding.OPEN]
    return f"Open: whether anything was learned here. {_joined([_limit(test, result) for test in tests])}."


def _limit(test: PairedTest, result: CompareResult) -> str:
    """Why a test is open."""
    measure, side = result.protocol.measure, "better" if test.difference < 0 else "worse"
    return (
        f"Over {result.protocol.repeats} divisions of the rows into folds, {test.first} are {side} than "
        f"{_other(test)} by {amount_text(test.difference, measure)}, so close to the limit of what chance "
        f"would explain that other divisions could put it on either side"
    )


def _other(test: PairedTest) -> str:
    return "the best constant" if test.second == CONSTANT else test.second


def _nothing_shown(result: CompareResult) -> str:
    """That nothing is known to be better than a constant, and how much better it could be all the same."""
    measure = result.protocol.measure
    errors = [
        f"{FAMILY_GROUPS[each.family]} {error_text(each.error, measure)}"
        for each in result.significance.champions
    ]
    lowest = min(test.joint_low for test in result.significance.against_constant)
    room = f", but one could be by up to {amount_text(lowest, measure)} with 95% confidence"
    if -lowest >= result.constant.error:
        room = ", although an error of 0 is not ruled out"
    return (
        f"Not shown: that anything was learned here. The best constant has an error of "
        f"{error_text(result.constant.error, measure)}, {_joined(errors)}: no family is better than the "
        f"constant by more than chance would explain{room if lowest < 0 else ''}."
    )


def _answer(result: CompareResult) -> str:
    """Does anything beat kernels, by how much at least, or else by how much could it?"""
    tests, measure = result.significance.against_kernels, result.protocol.measure
    if not tests:
        return f"{_why_no_tests(result)}, so whether anything beats kernels remains open."
    errors = {FAMILY_GROUPS[each.family]: each.error for each in result.significance.champions}
    better = [
        test
        for test in tests
        if test.finding is Finding.BETTER and errors[test.first] < result.constant.error
    ]
    if better:
        lead = {test.first: amount_text(test.joint_high, measure) for test in better}
        leads = [f"{name} beat the kernels tried by at least {amount}" for name, amount in lead.items()]
        return f"Yes: {_joined(leads)}, with 95% confidence."
    unsettled = [test for test in tests if test.finding is Finding.OPEN]
    if unsettled:
        whether = _joined([f"{test.first} and kernels differ" for test in unsettled])
        return f"Open: whether {whether}. {'. '.join(_limit(test, result) for test in unsettled)}."
    worse = [test for test in tests if test.finding is Finding.WORSE]
    behind = [f"{test.first} by at least {amount_text(test.joint_low, measure)}" for test in worse]
    if len(worse) == len(tests):
        return f"Of the methods tried, kernels are better: they beat {_joined(behind)}, with 95% confidence."
    room = _joined([_room(test, measure) for test in tests if test not in worse])
    told = f"Not shown: that anything beats kernels here. {room.capitalize()}"
    return f"{told}; kernels beat {_joined(behind)}, with 95% confidence." if behind else f"{told}."


def _room(test: PairedTest, measure: Measure) -> str:
    """How much better than kernels a family could be that is not shown to be."""
    could = f"could be better by up to {amount_text(test.joint_low, measure)} with 95% confidence"
    if not test.same:
        return f"{test.first} {could}"
    equal = f"{test.first} have the same error as kernels on every fold"
    return f"{equal} but {could}" if test.joint_low < 0 else equal  # equal numbers tell nothing of a spread


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
    return [_family(test, result) for test in result.significance.against_kernels]


def _family(test: PairedTest, result: CompareResult) -> str:
    measure = result.protocol.measure
    errors = {FAMILY_GROUPS[each.family]: each.error for each in result.significance.champions}
    own, other, constant = (
        error_text(error, measure)
        for error in (errors[test.first], errors[test.second], result.constant.error)
    )
    start = f"{test.first.capitalize()}, chosen without looking at test rows, have an error of {own}"
    if test.same:
        return f"{start}, the same as kernels on every fold; the best constant has {constant}."
    unit = " percentage points" if measure is Measure.MISCLASSIFIED else ""
    interval = (
        f"{difference_text(test.joint_low, measure)} to {difference_text(test.joint_high, measure)}{unit}"
    )
    size = SIZES[test.finding]
    num_tests = len(result.significance.against_kernels)
    jointly = "" if num_tests == 1 else f", both allowing for {num_tests} tests"
    return (
        f"{start}, kernels {other}, the best constant {constant}: a difference {size} "
        f"({difference_text(test.difference, measure)}{unit}; 95% interval {interval}, "
        f"{p_text(test.adjusted)}{jointly})."
    )


def _best_sentence(result: CompareResult) -> str:
    best, measure, tests = result.methods[0], result.protocol.measure, result.significance.against_best
    error = error_text(best.error or 0.0, measure)
    others = len(tests)
    if not others:
        return f"The only method that was tested is {best.name}; its error is {error}."
    equal = [test.first for test in tests if test.same]
    if len(equal) == others:
        return f"All {others + 1} methods have the same error on every fold, {error}."
    start = f"The smallest of {others + 1} errors is that of {best.name}, {error}"
    tied = [test.first for test in tests if test.finding is not Finding.WORSE]
    if not tied:
        return f"{start}; every other method is shown not to be the best."
    if others == 1:
        return f"{start}; {tied[0]} may be as good or better."
    if len(tied) == others:
        return f"{start}; any of the {others} other methods may be as good or better."
    names = ", ".join(tied[:MOST_NAMED]) + (" and others" if len(tied) > MOST_NAMED else "")
    return (
        f"{start}; of the {others} other methods, {len(tied)} may be as good or better ({names}), and "
        f"{others - len(tied)} {'is' if others - len(tied) == 1 else 'are'} shown not to be the best."
    )


def _about_rare(result: CompareResult) -> list[str]:
    """What the error hides where some class is rare."""
    counts, best = result.data.class_counts, result.methods[0]
    if not counts or min(counts) * len(counts) >= RARE * sum(counts) or best.balanced_error is None:
        return []
    rarest = result.data.classes[counts.index(min(counts))]
    auc = "" if best.auc is None else f", and the area under its ROC curve is {best.auc:.3f} (a constant 0.5)"
    return [
        f"Only {100 * min(counts) / sum(counts):.1f}% of the rows are of class {shown(rarest)}, so the error "
        f"says little of it: in the mean over the classes, {best.name} misclassifies "
        f"{100 * best.balanced_error:.2f}% of a class (the best constant "
        f"{100 * (result.constant.balanced_error or 0.0):.2f}%){auc}."
    ]


def _about_importances(result: CompareResult) -> list[str]:
    """What the best method relies on, or why that is not known."""
    found, measure = result.importances, result.protocol.measure
    if found.not_measured is NotMeasured.TOO_MANY_FEATURES:
        return [f"Importances of features were not measured: there are more than {MOST_FEATURES}."]
    if not found.features:
        return []
    largest = [each for each in found.features if each.increase > max(each.std, 0.0)][:MOST_RELIED_ON]
    if not largest:
        return [
            f"No single feature is clearly needed by {found.method}: {HOW_SHUFFLED} raises its error by no "
            f"more than that varies between folds; {HIDING}."
        ]
    amounts = [f"{shown(each.feature)} ({amount_text(each.increase, measure)})" for each in largest]
    return [
        f"Of {len(found.features)} features, {found.method} relies most on {_joined(amounts)}: by so much "
        f"{HOW_SHUFFLED} raises its error; {HIDING}."
    ]


def _about_repeated(result: CompareResult) -> list[str]:
    num_rows = result.protocol.repeated_rows
    if not num_rows:
        return []
    verb, they_are = ("repeats", "it is a copy") if num_rows == 1 else ("repeat", "they are copies")
    return [
        f"{num_rows:,} of the {result.data.n:,} rows {verb} the inputs of another. If {they_are} rather than "
        "independent observations, some test rows were seen in training: the errors are then too small, and "
        "the tests too sure."
    ]


def _about_failed(result: CompareResult) -> list[str]:
    failed = [method.name for method in result.methods if method.error is None]
    names = ", ".join(failed[:MOST_NAMED]) + (" and others" if len(failed) > MOST_NAMED else "")
    return (
        [f"{len(failed)} of {len(result.methods)} methods failed and took no part: {names}."]
        if failed
        else []
    )


def _joined(parts: list[str]) -> str:
    """Parts of a sentence as 'a, b and c'."""
    return " and ".join(([", ".join(parts[:-1])] if parts[1:] else []) + parts[-1:])
