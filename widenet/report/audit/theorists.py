"""What an audit says to theorists: complexity, descent, the bound of Theorem 5.1, and what it cost."""

from widenet.audit.findings import Estimate, Held, Outside, StepsTo, TrainedCurve
from widenet.audit.result import AuditResult
from widenet.audit.settings import DEFAULT_KERNEL
from widenet.base.wording import counted, duration, memory, number, percent
from widenet.report.audit.words import (
    SURE,
    is_regression,
    is_repeated,
    spoken_error,
    targets_word,
    told_error,
    why_unknown,
)
from widenet.report.parts.quantities import precise, rounded_down, rounded_up, shown_p


def theorists(result: AuditResult) -> list[str]:
    """Complexity, the error without a ridge, the bound and the cost."""
    whose = result.whole
    drawn = [] if whose is None else [f"This is about the {whose.num_sampled:,} rows that were drawn."]
    known = [*drawn, _beside_shuffled(result), _complexity_sentence(result)]
    return [*known, _interpolating(result), _bound_sentence(result), *cost(result)]


def descent(result: AuditResult) -> list[str]:
    """How will training go? Predicted for an infinitely wide network, and measured where one was trained."""
    curve, word = result.curve, targets_word(result)
    trained = [] if curve.trained is None else [trained_sentence(curve.trained)]
    if curve.eta >= curve.eta_max:
        return [
            f"{_network(result)}, descent diverges at step size {number(curve.eta)}: "
            f"it is stable only below {number(curve.eta_max)}.",
            *trained,
        ]
    tenths = (target for target in curve.steps_to if target.share == 0.1)
    last = curve.steps[-1] if curve.steps else 0
    told = [f"{_network(result)}, {_steps_sentence(target, last, word)}" for target in tenths]
    told += trained
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


def trained_sentence(trained: TrainedCurve) -> str:
    """How the network that was trained did beside its prediction."""
    ends = (values[-1] / trained.predicted[0] for values in (trained.loss, trained.predicted))
    loss, predicted = map(percent, ends)
    distance, foretold = number(trained.distance), number(trained.predicted_distance)
    return (
        f"A real network of {trained.width:,} neurons, trained on {trained.rows:,} rows for "
        f"{trained.steps[-1]:,} steps, is left with {loss} of its initial loss (predicted {predicted}); its "
        f"weights moved by {distance} (predicted {foretold})."
    )


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
    """Who descends, and on which rows where that is a sample."""
    rows = "" if result.whole is None else f" on the {result.whole.num_sampled:,} rows that were drawn"
    if result.kernel == DEFAULT_KERNEL:
        network = "In an infinitely wide two-layer network whose hidden layer is trained"
        return f"{network} by full-batch descent{rows}"
    return f"In full-batch descent{rows} with kernel {result.kernel} (of a network: at infinite width)"


def _steps_sentence(target: StepsTo, last: int, word: str) -> str:
    own = f"does not fall to a tenth of its initial value within {counted(last, 'step')}"
    if target.labels is not None:
        own = f"falls to a tenth of its initial value after {counted(target.labels, 'step')}"
    other = f"not within {last:,}" if target.random is None else f"after {target.random:,}"
    return f"the loss {own}; with shuffled {word}, {other}."


def _interpolating(result: AuditResult) -> str:
    """The error of the audit's own kernel, without a ridge: what the theorems are about."""
    known, kernel = told_error(result, result.loo), result.kernel
    if known is None:
        why = f"its estimate {why_unknown(result.loo)}"
        return f"The leave-one-out error of {kernel} without a ridge is not known, because {why}."
    network = f"Kernel {kernel} without a ridge, as in descent without end,"
    if is_regression(result):
        told = (spoken_error(result, each) for each in (known.value, known.deviation, known.constant))
        error, deviation, constant = told
        own = f"is off by {error} ± {deviation} (root mean square{_estimated(result)})"
        return f"{network} {own}; predicting the mean is off by {constant}."
    constant = f"predicting the mean leaves {number(result.loo.baseline)}"
    squared = f"{number(result.loo.error or 0.0)} ± {number(result.loo.standard_error or 0.0)}"
    errs = f"errs on {percent(known.value)} ± {percent(known.deviation)}"
    return f"{network} {errs} (squared error {squared}; {constant}{_estimated(result)})."


def _estimated(result: AuditResult) -> str:
    """That the error is an estimate, and how exact, where it is one."""
    if result.loo.method is not Estimate.ESTIMATED or result.loo.error_bar is None:
        return ""
    if is_regression(result):
        return "; an estimate"
    return f"; estimated, the squared error to ± {number(result.loo.error_bar)}"


def _bound_sentence(result: AuditResult) -> str:
    bound = result.bound
    if bound.value is None:
        return f"Theorem 5.1 gives no bound here. {why_bound(result)}"
    rounding = "" if result.complexity.certified else ", up to rounding"
    held = f"with probability {percent(1 - bound.delta)}{rounding}"
    return f"Theorem 5.1's bound on the expected loss is {number(bound.value)}, {held}. {why_bound(result)}"


def why_bound(result: AuditResult) -> str:
    """Whether Theorem 5.1 speaks of this case, and whether its bound is vacuous."""
    bound, regression = result.bound, is_regression(result)
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


def cost(result: AuditResult) -> list[str]:
    """What will it cost?"""
    forecast = result.forecast
    held = {
        Held.DENSE: "the whole kernel matrix is held in memory",
        Held.PACKED: "half of the symmetric kernel matrix is held in memory, in tiles, as far as they fit",
        Held.TILED: "the kernel matrix is too large to hold: what does not fit is recomputed each time",
        Held.WORKERS: "half of the symmetric kernel matrix is held by the workers of a cluster, as tiles",
    }[result.gram.held]
    expected = "" if forecast.memory_bytes is None else f"{memory(forecast.memory_bytes)} of memory and "
    return [
        f"The forecast was {expected}{duration(forecast.seconds)}; "
        f"the audit took {duration(result.seconds)}.",
        f"At this size {held}." if result.whole is None else f"For the rows that were drawn, {held}.",
    ]
