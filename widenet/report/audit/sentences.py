"""An audit in plain sentences, without markup: its verdicts, and the answers to its questions.

Every sentence must be true for binary, multi-class and regression targets, and where a number is missing it
says why. The first sentences of an answer are the most important ones.
"""

from widenet.audit.findings import Estimate, Suspect
from widenet.audit.result import AuditResult
from widenet.base.wording import counted, percent
from widenet.report.audit.theorists import descent, theorists
from widenet.report.audit.words import (
    HINT,
    SURE,
    Ahead,
    foreseen,
    has_gain,
    is_contradicted,
    is_regression,
    is_repeated,
    ranks_rows,
    spoken_error,
    targets_word,
    told_error,
    twice_the_rows,
    who_errs,
    who_misses,
    why_unknown,
)
from widenet.report.parts.columns import column_sentences
from widenet.report.parts.leaks import leak_sentences
from widenet.report.parts.quantities import literal, percent_range, rounded_down, row_list, shown_p

FEW_ROWS = 5  # row numbers that a sentence names
MOSTLY_RIGHT = "unless labels are mostly wrong somewhere"  # what an upper limit on wrong labels assumes


def questions(result: AuditResult) -> tuple[str, ...]:
    """Headings of the answers, in their order."""
    word = targets_word(result)
    return (
        f"Which {word} are wrong?",
        f"How well can the {word} be learned?",
        "How will training go?",
        "Is the data sound?",
        "For theorists",
    )


def answers(result: AuditResult) -> tuple[list[str], ...]:
    """The answers, each a list of sentences with the most important first."""
    return tuple(answer(result) for answer in (wrong, learnable, descent, sound, theorists))


def sentences(result: AuditResult) -> tuple[str, ...]:
    """The audit in a handful of sentences."""
    told = [*sampled(result), *leak_sentences(result.data), *outlying(result), *wrong(result)[:2]]
    told += [dependence(result), expected(result), *ranked(result), *foretold(result)]
    if not is_sound(result):
        told.append(soundness(result)[0])
    return (*told, descent(result)[0])


def sampled(result: AuditResult) -> list[str]:
    """That not all rows were audited, where that is so."""
    if (whole := result.whole) is not None:
        by = f"estimated by a regression on {whole.num_landmarks:,} of them"
        word = targets_word(result).capitalize()
        return [
            f"{word} and errors are of all {whole.n:,} rows, {by}; "
            f"all else that is predicted is from {whole.num_sampled:,} rows drawn at random."
        ]
    n, of = result.data.n, result.data.drawn_from
    if of is None:
        return []
    return [f"{n:,} of {of:,} rows were drawn at random; all that is said of rows is about these."]


def outlying(result: AuditResult) -> list[str]:
    """That a few targets drown the others, where that is so."""
    rows = result.soundness.outlying.rows
    if not rows:
        return []
    share = f"{rounded_down(100 * result.soundness.outlying.share)}% of the variance of the targets"
    if len(rows) == 1:
        who, it, wrong_one = f"Row {rows[0]} alone has {share}", "it", "If it is wrong"
    else:
        who, it = f"Rows {row_list(rows, FEW_ROWS)} have {share} between them", "them"
        wrong_one = "Where they are wrong"
    return [
        f"{who}, so that errors are mostly about {it} and rows near {it} may only look wrong. {wrong_one}, "
        f"correct or drop {it} and audit again; if not, a logarithm or ranks may be easier to learn."
    ]


def otherwise(result: AuditResult) -> str:
    """What may look like wrong labels."""
    return f"unless {who_misses(result)} a pattern or classes overlap evenly"


def wrong(result: AuditResult) -> list[str]:
    """Which labels are wrong?"""
    told = [target_noise(result) if is_regression(result) else label_noise(result)]
    if result.contradicting is not None:
        told.append(contradicting(result, result.contradicting))
    return [*told, *most_suspicious(result)]


def learnable(result: AuditResult) -> list[str]:
    """How well can the labels be learned?"""
    told = [dependence(result), expected(result), *range_of(result), *ranked(result), *foretold(result)]
    repeated = sum(len(group) - 1 for group in result.soundness.duplicates)
    if repeated:
        told.append(
            f"{counted(repeated, 'row')} {'has' if repeated == 1 else 'have'} the inputs of another, as they "
            "were prepared; these were left out together, because they tell each other's answer."
        )
    told += on_sample(result)
    where = "for this data" if result.whole is None else f"for {result.whole.num_sampled:,} of the rows"
    how = "Each row was left out in turn"
    if result.judged.method is Estimate.ESTIMATED:
        how = "The prediction for each row from the others was estimated"
    told.append(f"{how}; {result.chosen.kernel} and its ridge were chosen {where}.")
    return told


def range_of(result: AuditResult) -> list[str]:
    """Where the range of the error comes from, where one is told."""
    if result.whole is None or not has_gain(result):
        return []
    return [
        f"The upper end of this range is the error of {who_errs(result)} and two standard errors; how far "
        "below it the kernel itself may be is judged by its learning curve, extrapolated from "
        f"{result.whole.num_sampled:,} rows."
    ]


def expected(result: AuditResult) -> str:
    """The error to expect on rows that were not seen, beside that of the best constant."""
    known = told_error(result, result.judged)
    if known is None:
        why = why_unknown(result.judged)
        return f"The error on unseen rows is not known, because the leave-one-out estimate {why}."
    network = f"a wide network ({result.chosen.kernel} with a ridge, chosen for this data)"
    rows, apart = "unseen rows", "with each row left out"
    if is_repeated(result):
        rows, apart = "rows whose inputs were not seen", "with rows of the same inputs left out together"
    error = f"{spoken_error(result, known.value)} ± {spoken_error(result, known.deviation)}"
    will = f"will err on {foreseen(result, error)} of {rows}"
    guess, errs = "always answering the most frequent class", "errs on"
    if is_regression(result):
        will = f"will be off by {foreseen(result, error)} (root mean square) on {rows}"
        guess, errs = "always predicting the mean", "is off by"
    constant = spoken_error(result, known.constant)
    if has_gain(result):
        return f"{_capital(network)} {will}; {guess} {errs} {constant}."
    nothing = f"No gain over {guess} is shown, which {errs} {constant}"
    who = network if result.whole is None else f"{who_errs(result)} of {result.chosen.kernel}"
    return f"{nothing}: {apart}, {who} {errs} {error}."


def on_sample(result: AuditResult) -> list[str]:
    """What the kernel itself errs on the sample, where landmarks stand for all rows."""
    known = told_error(result, result.chosen.loo)
    every = told_error(result, result.judged)
    if result.whole is None or known is None or every is None:
        return []
    errs = "is off by" if is_regression(result) else "errs on"
    error = f"{spoken_error(result, known.value)} ± {spoken_error(result, known.deviation)}"
    is_wide = has_gain(result) and known.value < every.value
    more = "; more landmarks would narrow the range" if is_wide else ""
    by = " (estimated)" if result.chosen.loo.method is Estimate.ESTIMATED else ""
    return [f"With {result.whole.num_sampled:,} rows alone the kernel itself {errs} {error}{by}{more}."]


def ranked(result: AuditResult) -> list[str]:
    """That rows of two classes are told apart although the error does not show it, where that is so."""
    auc, who = result.judged.auc, "it" if result.whole is None else who_errs(result)
    if auc is None or has_gain(result) or not ranks_rows(result):
        return []
    pairs = f"Of pairs of rows, one of each class, {who} ranks {percent(auc)} rightly"
    return [f"{pairs}; guessing ranks half so."]


def foretold(result: AuditResult) -> list[str]:
    """The error with twice the rows, where there is a gain to begin with."""
    ahead = twice_the_rows(result)
    if ahead is None or not has_gain(result) or is_contradicted(result, ahead):
        return []
    return [_foretold(result, ahead)]


def _foretold(result: AuditResult, ahead: Ahead) -> str:
    error, low, high = (spoken_error(result, each) for each in (ahead.error, ahead.low, ahead.high))
    gain = "more data helps" if ahead.helps else "whether more data helps much is not shown"
    what = "be off by" if is_regression(result) else "err on"
    told = f"{error} (95% interval {low} to {high})"
    if ahead.error > ahead.now:  # an error that more rows raise is no forecast: the interval alone is one
        told = f"{low} to {high} (95% interval)"
    of = "" if result.whole is None else f", extrapolated from {result.whole.num_sampled:,} rows"
    return f"With twice the rows ({ahead.n:,}), it would {what} {told}{of}: {gain}."


def sound(result: AuditResult) -> list[str]:
    """Is the data sound?"""
    data = result.data
    size = f"{counted(data.n, 'row')} and {counted(data.num_features, 'feature')}"
    if is_regression(result):
        num_targets = len(result.complexity.columns)
        what = "a number" if num_targets == 1 else f"{num_targets} numbers"
        kind = f"with {what} to predict for each row"
    else:
        kind = f"in {len(data.classes):,} classes"
    told = [f"There are {size}, {kind}.", *column_sentences(data)]
    return [" ".join(told), *soundness(result)]


def soundness(result: AuditResult) -> list[str]:
    """Repeated, opposite and contradictory rows, the gravest first."""
    found, word = result.soundness, targets_word(result)
    if is_sound(result):
        return ["No two rows are the same or opposite, as they were prepared."]
    unfit = f"conflicting {word}, so no function of the inputs can fit all of them"
    kinds = (
        (found.conflicts, "group", "identical rows", ("has", "each have"), unfit),
        (found.duplicates, "group", "rows", ("has", "each have"), "the same inputs, as they were prepared"),
        (found.opposites, "pair", "rows", ("is", "are"), "exactly opposite"),
    )
    told = []
    for groups, noun, rows, (one, several), what in kinds:
        if groups:
            verb, more = (one, "") if len(groups) == 1 else (several, ", among others")
            first = f"rows {row_list(groups[0], FEW_ROWS)}{more}"
            told.append(f"{counted(len(groups), noun)} of {rows} {verb} {what} ({first}).")
    return told


def is_sound(result: AuditResult) -> bool:
    """Whether no rows repeat, oppose or contradict each other."""
    return not any((result.soundness.duplicates, result.soundness.opposites, result.soundness.conflicts))


def dependence(result: AuditResult) -> str:
    """Whether the labels depend on the inputs: their fit among those of shuffles."""
    found, word = result.dependence, targets_word(result)
    p, sure = found.p_value, f"p < {SURE:g}"
    part = f", on {found.rows:,} of the rows" if found.rows < result.data.n else ""
    if p < SURE:
        return f"These {word} depend on the inputs ({sure}, against shuffles of them{part})."
    part = "" if result.whole is None else part
    if found.p_value_by_row < SURE:
        alike = f"Rows with the same inputs share their {word} ({sure}, against shuffles of them{part})"
        return f"{alike}, but nothing shows that this carries over to other inputs."
    unsure = "It is not clear whether" if p < HINT else "Nothing shows that"
    return f"{unsure} these {word} depend on the inputs ({shown_p(p)}, against shuffles of them{part})."


def label_noise(result: AuditResult) -> str:
    """How many labels are wrong, as far as that can be told."""
    noise, n = result.noise, result.data.n
    level, interval = percent(noise.level), percent_range(noise.low, noise.high)
    if not noise.decided:
        return f"How many labels are wrong cannot be told here: {interval} would fit ({level} interval)."
    low, high = round(noise.low * n), round(noise.high * n)
    if noise.estimate == 0:
        most = f"up to {percent(noise.high)}, or {counted(high, 'row')}"
        return (
            f"No wrong labels were detected; {most}, would go unnoticed ({level} interval), {MOSTLY_RIGHT}."
        )
    found = f"{level} interval {interval}, {low:,} to {high:,} rows"
    told = f"An estimated {percent(noise.estimate)} of the labels are wrong ({found})"
    return f"{told}, {otherwise(result)}."


def target_noise(result: AuditResult) -> str:
    """How much of the targets is noise, as far as that can be told."""
    noise = result.noise
    interval = f"{percent(noise.level)} interval {percent_range(noise.low, noise.high)}"
    if noise.estimate > 0:
        told = f"An estimated {percent(noise.estimate)} of the targets' variance is noise ({interval})"
        return f"{told}, since rows with the same inputs differ."
    told = f"At most {percent(noise.high)} of the targets' variance is noise ({interval})"
    start = told if noise.decided else f"How much of the targets is noise cannot be told ({interval})"
    return f"{start}: what the other rows do not explain may be a pattern that {who_misses(result)}."


def contradicting(result: AuditResult, num: int) -> str:
    others = "the rows with other inputs" if is_repeated(result) else "the other rows"
    if num == 0:
        return f"{_capital(others)} predict the label of every row."
    return f"At {num:,} of {result.data.n:,} rows, {others} predict another label than the given one."


def most_suspicious(result: AuditResult) -> list[str]:
    """The row to look at first, if there is one."""
    of_these = "Of these, the" if result.contradicting else "The"
    return [_worst_row(suspect, of_these) for suspect in result.suspicious[:1]]


def _worst_row(suspect: Suspect, of_these: str) -> str:
    given, suggested = literal(suspect.given), literal(suspect.suggested)
    row = f"{of_these} most suspicious is row {suspect.row}"
    return f"{row}: given {given}, while the other rows suggest {suggested}."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
