"""An audit in plain sentences: the answers to its six questions, without markup.

Every sentence must be true for binary, multi-class and regression targets, and where a number is missing it
says why. The first sentences of an answer are the most important ones.
"""

from dataclasses import dataclass

from widenet.audit.result import AuditResult, Estimate, Held, Outside, Suspect
from widenet.audit.settings import DEFAULT_KERNEL
from widenet.base.wording import counted, duration, memory, number, percent
from widenet.predict.learning_curve import LearningCurve
from widenet.report.parts.quantities import literal, percent_range, precise, row_list

FEW_ROWS = 5  # row numbers that a sentence names
MEANINGS = {  # of a complexity below this share of that of random labels
    0.35: "follow the inputs closely",
    0.75: "follow the inputs in part",
    0.95: "follow the inputs only weakly",
}


@dataclass(frozen=True)
class Ahead:
    """The learning curve today and at twice the rows."""

    n: int  # twice the rows
    now: float  # error with today's rows
    error: float  # predicted error with n rows
    low: float  # lower end of its interval
    high: float  # upper end of its interval
    is_share: bool  # whether these are shares of misclassified rows rather than squared errors


def targets_word(result: AuditResult) -> str:
    """What the targets are called: labels of classes, targets of a regression."""
    return "targets" if result.data.task == "regression" else "labels"


def questions(result: AuditResult) -> tuple[str, ...]:
    """The six questions, in the order of their answers."""
    word = targets_word(result)
    return (
        "Is the data sound?",
        f"Are the {word} learnable?",
        "How will gradient descent go?",
        "How well will it generalise?",
        f"Which {word} are wrong?",
        "What will it cost?",
    )


def answers(result: AuditResult) -> tuple[list[str], ...]:
    """The six answers, each a list of sentences with the most important first."""
    return tuple(answer(result) for answer in (sound, learnable, descent, generalise, wrong, cost))


def sentences(result: AuditResult) -> tuple[str, ...]:
    """The audit in a handful of sentences."""
    ahead = None if twice_the_rows(result) is None else generalise(result)[1]
    fourth = ahead if is_sound(result) else soundness(result)[0]
    told = (learnable(result)[0], descent(result)[0], generalise(result)[0], fourth, wrong(result)[0])
    return tuple(sentence for sentence in told if sentence is not None)


def is_sound(result: AuditResult) -> bool:
    """Whether no rows repeat, oppose or contradict each other."""
    return not any((result.soundness.duplicates, result.soundness.opposites, result.soundness.conflicts))


def sound(result: AuditResult) -> list[str]:
    """Is the data sound?"""
    data = result.data
    size = f"{counted(data.n, 'row')} and {counted(data.d, 'prepared column')}"
    if data.task == "regression":
        num_targets = len(result.complexity.columns)
        what = "a number" if num_targets == 1 else f"{num_targets} numbers"
        kind = f"with {what} to predict for each row"
    else:
        kind = f"in {len(data.classes):,} classes"
    return [f"There are {size}, {kind}.", *soundness(result)]


def soundness(result: AuditResult) -> list[str]:
    """Repeated, opposite and contradictory rows, the gravest first."""
    found, word = result.soundness, targets_word(result)
    if is_sound(result):
        return ["No two rows are the same or opposite."]
    unfit = f"conflicting {word}, so no function of the inputs can fit all of them"
    kinds = (
        (found.conflicts, "group", "identical rows", ("has", "each have"), unfit),
        (found.duplicates, "group", "rows", ("maps", "each map"), "to a single point"),
        (found.opposites, "pair", "rows", ("is", "are"), "exactly opposite"),
    )
    told = []
    for groups, noun, rows, (one, several), what in kinds:
        if groups:
            verb, more = (one, "") if len(groups) == 1 else (several, ", among others")
            first = f"rows {row_list(groups[0], FEW_ROWS)}{more}"
            told.append(f"{counted(len(groups), noun)} of {rows} {verb} {what} ({first}).")
    return told


def learnable(result: AuditResult) -> list[str]:
    """Are the labels learnable?"""
    complexity, word = result.complexity, targets_word(result)
    if complexity.value is None:
        known = f"at least {number(complexity.lower)}"
        if complexity.upper is not None:
            known = f"between {number(complexity.lower)} and {number(complexity.upper)}"
        return [
            f"The complexity of these {word} is {known}; no more is certified, because {_why_open(result)}.",
            *_random_complexity(result),
        ]
    told = [_compared(result, complexity.value)]
    if complexity.upper is not None:
        lower, upper = precise(complexity.lower), precise(complexity.upper)
        known = f"be {lower} to six digits" if lower == upper else f"lie between {lower} and {upper}"
        told.append(f"The complexity is certified to {known}.")
    return told


def descent(result: AuditResult) -> list[str]:
    """How will gradient descent go?"""
    curve, word = result.curve, targets_word(result)
    if curve.eta >= curve.eta_max:
        return [
            f"At step size {number(curve.eta)} gradient descent diverges: "
            f"it is stable only below {number(curve.eta_max)}."
        ]
    tenths = (target for target in curve.steps_to if target.share == 0.1)
    told = [_steps_sentence(target.labels, target.random, word) for target in tenths]
    told.append(
        f"The step size is {number(curve.eta)}; above {number(curve.eta_max)} gradient descent diverges."
    )
    if curve.movement:
        limit = curve.movement_limit
        end = "no limit is certified" if limit is None else f"in the limit {number(limit)}"
        told.append(
            f"After {curve.steps[-1]:,} steps the weights have moved by {number(curve.movement[-1])} ({end})."
        )
    return told


def generalise(result: AuditResult) -> list[str]:
    """How well will it generalise?"""
    told = [_left_out(result)]
    ahead = twice_the_rows(result)
    if ahead is not None:
        told.append(f"With twice the rows ({ahead.n:,}), {_foretold(ahead)}: {_gain(ahead)}.")
    return [*told, _bound_sentence(result)]


def wrong(result: AuditResult) -> list[str]:
    """Which labels are wrong?"""
    noise, data = result.noise, result.data
    share, interval = percent(noise.estimate), percent_range(noise.low, noise.high)
    if data.task == "regression":
        told = [f"An estimated {share} of the targets' variance is noise ({interval})."]
    else:
        low, high = round(noise.low * data.n), round(noise.high * data.n)
        told = [f"An estimated {share} of the labels are wrong ({interval}, or {low:,} to {high:,} rows)."]
    return [*told, *(_worst_row(suspect) for suspect in result.labels[:1])]


def cost(result: AuditResult) -> list[str]:
    """What will it cost?"""
    forecast = result.forecast
    held = {
        Held.DENSE: "the whole kernel matrix is held in memory",
        Held.PACKED: "half of the symmetric kernel matrix is held in memory, as tiles",
        Held.TILED: "the kernel matrix is too large to hold: its tiles are recomputed for every product",
    }[result.gram.held]
    expected = "" if forecast.memory_bytes is None else f"{memory(forecast.memory_bytes)} of memory and "
    return [
        f"The forecast was {expected}{duration(forecast.seconds)}; "
        f"the audit took {duration(result.seconds)}.",
        f"At this size {held}.",
    ]


def twice_the_rows(result: AuditResult) -> Ahead | None:
    """What the learning curve says of twice the rows; None where it does not reach that far."""
    curve = result.learning_curve
    now = max((index for index, measured in enumerate(curve.measured) if measured), default=None)
    if now is None:
        return None
    ahead = next((index for index, n in enumerate(curve.n) if n >= 2 * curve.n[now]), None)
    if ahead is None or curve.measured[ahead]:
        return None
    values, low, high, is_share = curve_values(curve)
    return Ahead(curve.n[ahead], values[now], values[ahead], low[ahead], high[ahead], is_share)


def curve_values(
    curve: LearningCurve,
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...], bool]:
    """Values, low and high ends: of the misclassified share where there is one, else of the squared error."""
    if curve.misclassified is None or curve.misclassified_low is None or curve.misclassified_high is None:
        return curve.error, curve.error_low, curve.error_high, False
    return curve.misclassified, curve.misclassified_low, curve.misclassified_high, True


def _compared(result: AuditResult, value: float) -> str:
    """The complexity beside that of random labels."""
    word, random = targets_word(result), result.complexity.random
    if random is None:
        return (
            f"The complexity of these {word} is {number(value)}; that of random ones is not known, "
            f"because {_why_open(result)}."
        )
    meanings = (meaning for ratio, meaning in MEANINGS.items() if value / random < ratio)
    meaning = next(meanings, "are no easier to fit than chance")
    return (
        f"These {word} {meaning}: their complexity is {number(value)}, against {number(random)} for random "
        f"{word} on the same inputs."
    )


def _random_complexity(result: AuditResult) -> list[str]:
    random = result.complexity.random
    return [] if random is None else [f"Random {targets_word(result)} would have {number(random)}."]


def _why_open(result: AuditResult) -> str:
    if result.spectrum.eigenvalue_min_certified is None:
        return "the smallest eigenvalue of the kernel matrix has no certified bound"
    return "the lower and upper bounds are not close enough"


def _steps_sentence(labels: int | None, random: int | None, word: str) -> str:
    own = "never brings" if labels is None else f"needs {counted(labels, 'step')} to bring"
    other = "never get there" if random is None else f"need {random:,}"
    return f"Gradient descent {own} the loss to a tenth of its initial value; random {word} {other}."


def _left_out(result: AuditResult) -> str:
    loo = result.loo
    if loo.error is None:
        return "The error on unseen rows is not known, because the leave-one-out estimate did not converge."
    bar = f" ± {number(loo.error_bar)}" if loo.error_bar else ""
    exact = loo.method is Estimate.CLOSED_FORM
    how = "With each row left out in turn" if exact else f"As estimated on {loo.rows:,} left-out rows"
    if loo.misclassified is None:
        error = f"{number(loo.error)}{bar}"
        mean = f"predicting the mean would leave {number(loo.baseline)}"
        return f"{how}, rows are predicted with a mean squared error of {error}; {mean}."
    share, error = percent(loo.misclassified), number(loo.error)
    return f"{how}, {share} of rows are misclassified (squared error {error}{bar})."


def _foretold(ahead: Ahead) -> str:
    if ahead.is_share:
        return f"{percent(ahead.error)} would be misclassified ({percent_range(ahead.low, ahead.high)})"
    return f"the squared error would be {number(ahead.error)} ({number(ahead.low)} to {number(ahead.high)})"


def _gain(ahead: Ahead) -> str:
    if ahead.now == 0:
        return "there is nothing left to gain"
    if ahead.high < ahead.now:
        return "more data helps" if ahead.error < 0.9 * ahead.now else "more data helps a little"
    return "more data may not help" if ahead.error > 0.9 * ahead.now else "more data probably helps"


def _bound_sentence(result: AuditResult) -> str:
    bound = result.bound
    if bound.value is None:
        return f"Theorem 5.1 gives no bound here. {why_bound(result)}"
    return f"Theorem 5.1's bound on the expected loss is {number(bound.value)}. {why_bound(result)}"


def why_bound(result: AuditResult) -> str:
    """Whether Theorem 5.1 speaks of this case, and whether its bound is vacuous."""
    bound, regression = result.bound, result.data.task == "regression"
    if bound.value is None:
        return "The bound needs a certified complexity, which is missing here (see above)."
    hardest = "target" if regression else "class against the rest"
    analogue = f"and this is its analogue for {result.kernel}"
    told = {
        Outside.OTHER_KERNEL: f"it covers only {DEFAULT_KERNEL}, {analogue}",
        Outside.SEVERAL_OUTPUTS: f"it covers only one output, and this is for the hardest {hardest}",
        Outside.LARGE_TARGETS: "it assumes targets between -1 and 1, and some of these are larger",
        Outside.CONFLICTS: "identical rows with different targets keep the training loss above zero",
    }
    reasons = "; ".join(told[reason] for reason in bound.reasons)
    scope = (
        "The theorem applies to a network of sufficient width and small initialisation."
        if bound.applies
        else f"The theorem does not apply directly: {reasons}."
    )
    if bound.vacuous:
        return f"{scope} The bound is vacuous here: the theorem's loss is at most 1 anyway."
    return f"{scope} The bound is below 1, so it is not vacuous."


def _worst_row(suspect: Suspect) -> str:
    given, suggested = literal(suspect.given), literal(suspect.suggested)
    if suspect.given == suspect.suggested:
        return f"The least certain is row {suspect.row}, given {given}, and even there the other rows agree."
    return (
        f"The most suspicious is row {suspect.row}: given {given}, while the other rows suggest {suggested}."
    )
