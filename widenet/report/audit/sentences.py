"""An audit in plain sentences: the answers to its six questions, without markup.

Every sentence must be true for binary, multi-class and regression targets, and where a number is missing it
says why. The first sentences of an answer are the most important ones.
"""

from dataclasses import dataclass

from widenet.audit.result import AuditResult, Held, Outside, StepsTo, Suspect
from widenet.audit.settings import DEFAULT_KERNEL
from widenet.base.wording import counted, duration, memory, number, percent
from widenet.predict.learning_curve import LearningCurve, more_rows_help
from widenet.report.parts.columns import column_sentences
from widenet.report.parts.leaks import leak_sentences
from widenet.report.parts.quantities import (
    literal,
    percent_range,
    precise,
    rounded_down,
    rounded_up,
    row_list,
    shown_p,
)

FEW_ROWS = 5  # row numbers that a sentence names
SURE, HINT = (
    0.001,
    0.05,
)  # p-values below which chance is ruled out, and above which nothing speaks against it
CLEAR_GAIN = 3  # standard errors by which the best constant must be worse


@dataclass(frozen=True)
class Ahead:
    """The learning curve today and at twice the rows."""

    n: int  # twice the rows
    error: float  # predicted error with n rows
    low: float  # lower end of its interval
    high: float  # upper end of its interval
    is_share: bool  # whether these are shares of misclassified rows rather than squared errors
    helps: bool  # whether that is surely less than today's error, by as much as matters


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
    told = [*leak_sentences(result.data), learnable(result)[0], expected(result), *foretold(result)]
    if not is_sound(result):
        told.append(soundness(result)[0])
    return (*told, descent(result)[0], *wrong(result)[:2])


def is_sound(result: AuditResult) -> bool:
    """Whether no rows repeat, oppose or contradict each other."""
    return not any((result.soundness.duplicates, result.soundness.opposites, result.soundness.conflicts))


def sound(result: AuditResult) -> list[str]:
    """Is the data sound?"""
    data = result.data
    size = f"{counted(data.n, 'row')} and {counted(data.num_features, 'feature')}"
    if data.task == "regression":
        num_targets = len(result.complexity.columns)
        what = "a number" if num_targets == 1 else f"{num_targets} numbers"
        kind = f"with {what} to predict for each row"
    else:
        kind = f"in {len(data.classes):,} classes"
    leaks = " ".join(leak_sentences(data))  # one paragraph, so that no screen shows only some of them
    told = [f"There are {size}, {kind}.", *column_sentences(data)]
    return [*([leaks] if leaks else []), " ".join(told), *soundness(result)]


def soundness(result: AuditResult) -> list[str]:
    """Repeated, opposite and contradictory rows, the gravest first."""
    found, word = result.soundness, targets_word(result)
    if is_sound(result):
        return ["No two rows are the same or opposite, as they were prepared."]
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
    return [_dependence(result), _beside_shuffled(result), _complexity_sentence(result)]


def descent(result: AuditResult) -> list[str]:
    """How will gradient descent go?"""
    curve, word = result.curve, targets_word(result)
    if curve.eta >= curve.eta_max:
        return [
            f"{_network(result)}, descent diverges at step size {number(curve.eta)}: "
            f"it is stable only below {number(curve.eta_max)}."
        ]
    tenths = (target for target in curve.steps_to if target.share == 0.1)
    last = curve.steps[-1] if curve.steps else 0
    told = [f"{_network(result)}, {_steps_sentence(target, last, word)}" for target in tenths]
    told.append(
        f"The step size is {number(curve.eta)}; above {number(curve.eta_max)} gradient descent diverges."
    )
    if curve.movement:
        limit = curve.movement_limit
        end = "no limit is known" if limit is None else f"in the limit {number(limit)}"
        told.append(
            f"After {curve.steps[-1]:,} steps the weights have moved by {number(curve.movement[-1])} ({end})."
        )
    return told


def generalise(result: AuditResult) -> list[str]:
    """How well will it generalise?"""
    told = [expected(result), *foretold(result)]
    repeated = sum(len(group) - 1 for group in result.soundness.duplicates)
    if repeated:
        told.append(
            f"{counted(repeated, 'row')} {'repeats' if repeated == 1 else 'repeat'} the inputs of another; "
            "rows with the same inputs were left out together, because they tell each other's answer."
        )
    told.append(
        f"Each row was left out in turn; {result.chosen.kernel} and its ridge were chosen for this data."
    )
    return [*told, _interpolating(result), _bound_sentence(result)]


def expected(result: AuditResult) -> str:
    """The error to expect on rows that were not seen, beside that of the best constant."""
    chosen = result.chosen
    known = chosen.loo.told
    if known is None:
        return "The error on unseen rows is not known, because the leave-one-out estimate did not converge."
    network = f"a wide network ({chosen.kernel} with a ridge, chosen for this data)"
    rows, apart = "unseen rows", "with each row left out"
    if is_repeated(result):
        rows, apart = "rows whose inputs were not seen", "with rows of the same inputs left out together"
    if chosen.loo.misclassified is None:
        error, constant = f"{number(known[0])} ± {number(known[1])}", number(chosen.loo.constant)
        if has_gain(result):
            told = f"{_capital(network)} will have a squared error of about {error} on {rows}"
            return f"{told}; always predicting the mean leaves {constant}."
        nothing = f"No gain over always predicting the mean is shown, which leaves {constant}"
        return f"{nothing}: {apart}, {network} has a squared error of {error}."
    error, constant = f"{percent(known[0])} ± {percent(known[1])}", percent(chosen.loo.constant)
    if has_gain(result):
        told = f"{_capital(network)} will err on about {error} of {rows}"
        return f"{told}; always answering the most frequent class errs on {constant}."
    nothing = f"No gain over always answering the most frequent class is shown, which errs on {constant}"
    return f"{nothing}: {apart}, {network} errs on {error}."


def has_gain(result: AuditResult) -> bool:
    """Whether the chosen kernel is clearly better than the best constant, and chance does not explain it."""
    loo = result.chosen.loo
    if loo.told is None or result.dependence.p_value_by_row >= HINT:
        return False
    error, deviation = loo.told
    return error + CLEAR_GAIN * deviation < loo.constant


def foretold(result: AuditResult) -> list[str]:
    """The error with twice the rows, where there is a gain to begin with."""
    ahead = twice_the_rows(result)
    return [_foretold(ahead)] if ahead is not None and has_gain(result) else []


def is_repeated(result: AuditResult) -> bool:
    """Whether some rows have the same inputs."""
    return bool(result.soundness.duplicates)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def wrong(result: AuditResult) -> list[str]:
    """Which labels are wrong?"""
    told = [_target_noise(result) if result.data.task == "regression" else _label_noise(result)]
    if result.contradicting is not None:
        told.append(_contradicting(result, result.contradicting))
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
    """What the chosen kernel's learning curve says of twice the rows; None where it does not reach them."""
    curve = result.chosen.learning_curve
    now = max((index for index, measured in enumerate(curve.measured) if measured), default=None)
    if now is None:
        return None
    ahead = next((index for index, n in enumerate(curve.n) if n >= 2 * curve.n[now]), None)
    if ahead is None or curve.measured[ahead]:
        return None
    values, low, high, is_share = curve_values(curve)
    helps = more_rows_help(curve) and high[ahead] < values[now]
    return Ahead(curve.n[ahead], values[ahead], low[ahead], high[ahead], is_share, helps)


def curve_values(
    curve: LearningCurve,
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...], bool]:
    """Values, low and high ends: of the misclassified share where there is one, else of the squared error."""
    if curve.misclassified is None or curve.misclassified_low is None or curve.misclassified_high is None:
        return curve.error, curve.error_low, curve.error_high, False
    return curve.misclassified, curve.misclassified_low, curve.misclassified_high, True


def _dependence(result: AuditResult) -> str:
    """Whether the labels depend on the inputs: their fit among those of shuffles."""
    found, word = result.dependence, targets_word(result)
    p, sure = found.p_value, f"p < {SURE:g}"
    if p < SURE:
        part = f", on {found.rows:,} of the rows" if found.rows < result.data.n else ""
        return f"These {word} depend on the inputs ({sure}, against shuffles of them{part})."
    if found.p_value_by_row < SURE:
        alike = f"Rows with the same inputs share their {word} ({sure}, against shuffles of them)"
        return f"{alike}, but nothing shows that this carries over to other inputs."
    unsure = "It is not clear whether" if p < HINT else "Nothing shows that"
    return f"{unsure} these {word} depend on the inputs ({shown_p(p)}, against shuffles of them)."


def _beside_shuffled(result: AuditResult) -> str:
    """The complexity among those of shuffled labels."""
    found, word = result.complexity, targets_word(result)
    if found.value is None or found.shuffled is None or found.shuffled_std is None:
        return f"Among shuffled {word} the complexity has {shown_p(found.p_value, least=SURE)}."
    null = f"{number(found.shuffled)} ± {number(found.shuffled_std)}"
    told = f"The complexity is {number(found.value)}; of shuffled {word} it is {null}"
    # Of shuffled labels less can be fitted where rows repeat, which the p-value counts and these two do not.
    alike = is_repeated(result)
    return f"{told}." if alike else f"{told} ({shown_p(found.p_value, least=SURE)})."


def _complexity_sentence(result: AuditResult) -> str:
    """How well the complexity is known."""
    complexity = result.complexity
    lower = rounded_down(complexity.lower, 6)
    if complexity.upper is None:
        why = f"no more is known, because {_why_open(result)}"
        return f"The complexity is at least {lower}, up to rounding; {why}."
    same, upper = precise(complexity.lower), rounded_up(complexity.upper, 6)
    between = f"lies between {lower} and {upper}"
    known = f"is {same} to six digits" if same == precise(complexity.upper) else between
    open_end = "" if complexity.value is not None else f"; no more is known, because {_why_open(result)}"
    how = "certified, rounding included" if complexity.certified else "bounded, up to rounding"
    return f"The complexity {known} ({how}){open_end}."


def _why_open(result: AuditResult) -> str:
    if result.spectrum.eigenvalue_min_certified is None:
        return "the smallest eigenvalue of the kernel matrix has no proved bound"
    return "the lower and upper bounds are not close enough"


def _network(result: AuditResult) -> str:
    """Who descends."""
    if result.kernel == DEFAULT_KERNEL:
        return "In an infinitely wide two-layer network whose hidden layer is trained by full-batch descent"
    return f"In full-batch descent with kernel {result.kernel} (of a network: at infinite width)"


def _steps_sentence(target: StepsTo, last: int, word: str) -> str:
    own = f"does not fall to a tenth of its initial value within {counted(last, 'step')}"
    if target.labels is not None:
        own = f"falls to a tenth of its initial value after {counted(target.labels, 'step')}"
    other = f"not within {last:,}" if target.random is None else f"after {target.random:,}"
    return f"the loss {own}; with shuffled {word}, {other}."


def _interpolating(result: AuditResult) -> str:
    """The error of the audit's own kernel, without a ridge: what the theorems are about."""
    known, kernel = result.loo.told, result.kernel
    if known is None:
        return f"The leave-one-out error of {kernel} without a ridge is not known: it did not converge."
    error, deviation = known
    network = f"Kernel {kernel} without a ridge, as in descent without end,"
    constant = f"predicting the mean leaves {number(result.loo.baseline)}"
    if result.loo.misclassified is None:
        return f"{network} has a squared error of {number(error)} ± {number(deviation)}; {constant}."
    squared = f"{number(result.loo.error or 0.0)} ± {number(result.loo.standard_error or 0.0)}"
    return f"{network} errs on {percent(error)} ± {percent(deviation)} (squared error {squared}; {constant})."


def _foretold(ahead: Ahead) -> str:
    told = f"{number(ahead.error)} (95% interval {number(ahead.low)} to {number(ahead.high)})"
    if ahead.is_share:
        told = f"{percent(ahead.error)} (95% interval {percent_range(ahead.low, ahead.high)})"
    gain = "more data helps" if ahead.helps else "whether more data helps much is not shown"
    what = "it would err on" if ahead.is_share else "its squared error would be"
    return f"With twice the rows ({ahead.n:,}), {what} {told}: {gain}."


def _label_noise(result: AuditResult) -> str:
    """How many labels are wrong, as far as that can be told."""
    noise, n = result.noise, result.data.n
    level, interval = percent(noise.level), percent_range(noise.low, noise.high)
    if not noise.decided:
        return f"How many labels are wrong cannot be told here: {interval} would fit ({level} interval)."
    low, high = round(noise.low * n), round(noise.high * n)
    if noise.estimate == 0:
        most = f"up to {percent(noise.high)}, or {counted(high, 'row')}"
        unless = "unless labels are mostly wrong somewhere"
        return f"No wrong labels were detected; {most}, would go unnoticed ({level} interval), {unless}."
    found = f"{level} interval {interval}, {low:,} to {high:,} rows"
    told = f"An estimated {percent(noise.estimate)} of the labels are wrong ({found})"
    return f"{told}, unless the kernel misses a pattern or classes overlap evenly."


def _target_noise(result: AuditResult) -> str:
    """How much of the targets is noise, as far as that can be told."""
    noise = result.noise
    interval = f"{percent(noise.level)} interval {percent_range(noise.low, noise.high)}"
    if noise.estimate > 0:
        told = f"An estimated {percent(noise.estimate)} of the targets' variance is noise ({interval})"
        return f"{told}, since rows with the same inputs differ."
    told = f"At most {percent(noise.high)} of the targets' variance is noise ({interval})"
    start = told if noise.decided else f"How much of the targets is noise cannot be told ({interval})"
    return f"{start}: what the other rows do not explain may be a pattern that the kernel misses."


def _contradicting(result: AuditResult, num: int) -> str:
    others = "rows with other inputs" if is_repeated(result) else "the other rows"
    if num == 0:
        return f"{_capital(others)} predict the label of every row."
    return f"At {num:,} of {result.data.n:,} rows {others} predict another label than the given one."


def _bound_sentence(result: AuditResult) -> str:
    bound = result.bound
    if bound.value is None:
        return f"Theorem 5.1 gives no bound here. {why_bound(result)}"
    rounding = "" if result.complexity.certified else ", up to rounding"
    held = f"with probability {percent(1 - bound.delta)}{rounding}"
    return f"Theorem 5.1's bound on the expected loss is {number(bound.value)}, {held}. {why_bound(result)}"


def why_bound(result: AuditResult) -> str:
    """Whether Theorem 5.1 speaks of this case, and whether its bound is vacuous."""
    bound, regression = result.bound, result.data.task == "regression"
    if bound.value is None:
        return "The bound needs an upper bound on the complexity, which is missing here (see above)."
    hardest = "target" if regression else "class against the rest"
    analogue = f"and this is its analogue for {result.kernel}"
    told = {
        Outside.OTHER_KERNEL: f"it covers only {DEFAULT_KERNEL}, {analogue}",
        Outside.SEVERAL_OUTPUTS: f"it covers only one output, and this is for the hardest {hardest}",
        Outside.LARGE_TARGETS: "it assumes targets between -1 and 1, and some of these are larger",
        Outside.REPEATED: "rows with the same inputs make the smallest eigenvalue 0, which it excludes",
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
        return f"The least certain is row {suspect.row}, given {given}, which the other rows predict, too."
    return (
        f"The most suspicious is row {suspect.row}: given {given}, while the other rows suggest {suggested}."
    )
