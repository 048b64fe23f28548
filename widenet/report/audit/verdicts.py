"""The three verdicts that people see first: labels, learnable, more data. No word in them needs a lookup."""

from dataclasses import dataclass

from widenet.audit.result import AuditResult
from widenet.base.wording import counted, percent
from widenet.report.audit.sentences import (
    MOSTLY_RIGHT,
    contradicting,
    dependence,
    expected,
    on_sample,
    otherwise,
    ranked,
    target_noise,
)
from widenet.report.audit.words import (
    foreseen,
    has_gain,
    is_contradicted,
    is_regression,
    ranks_rows,
    spoken_error,
    told_error,
    twice_the_rows,
    who_errs,
)
from widenet.report.parts.quantities import percent_range


@dataclass(frozen=True)
class Card:
    """An answer that fits on a card."""

    title: str
    headline: str
    beside: tuple[str, ...]  # sentences that belong to it


def verdicts(result: AuditResult) -> tuple[Card, Card, Card]:
    """The three, in the order in which they matter."""
    return labels_verdict(result), learnable_verdict(result), more_verdict(result)


def labels_verdict(result: AuditResult) -> Card:
    """Are there wrong labels, and how many?"""
    n, noise = result.data.n, result.noise
    if is_regression(result):
        far = len(result.suspicious)
        verb = "is" if far == 1 else "are"
        headline = f"{far:,} of {n:,} targets {verb} far off" if far else "No target is far off"
        return Card("Targets", headline, (_far_sentence(far), target_noise(result)))
    against = contradicting(result, result.contradicting or 0)
    low, high, level = round(noise.low * n), round(noise.high * n), percent(noise.level)
    if not noise.decided:
        told = f"{percent_range(noise.low, noise.high)} would fit ({level} interval)."
        return Card("Labels", "Wrong labels cannot be counted here", (told, against))
    if noise.estimate == 0:
        told = f"Up to {counted(high, 'row')} would go unnoticed ({level} interval), {MOSTLY_RIGHT}."
        return Card("Labels", "No wrong labels detected", (told, against))
    told = f"{low:,} to {high:,} rows ({level} interval), {otherwise(result)}."
    return Card("Labels", f"About {round(noise.estimate * n):,} of {n:,} labels look wrong", (told, against))


def _far_sentence(num: int) -> str:
    if num == 0:
        return "No row is further than three standard deviations from what the other rows predict."
    rows = f"{counted(num, 'row')} {'is' if num == 1 else 'are'}"
    return f"{rows} further from what the other rows predict than three standard deviations of a typical row."


def learnable_verdict(result: AuditResult) -> Card:
    """What error a wide network will have, beside that of guessing."""
    known = told_error(result, result.judged)
    if known is None:
        return Card("Learnable", "The error is not known", (expected(result),))
    error, deviation, constant = (
        spoken_error(result, each) for each in (known.value, known.deviation, known.constant)
    )
    guess, what, by = f"Always guessing the largest class errs on {constant}", "err on", "on"
    if is_regression(result):
        guess = f"Always predicting the mean is off by {constant} (root mean square)"
        what, by = "be off by", "by"
    if has_gain(result):
        headline = f"A wide network will {what} {foreseen(result, error)}"
        return Card("Learnable", headline, (f"{guess}.", *on_sample(result)))
    told = f"{guess}, {who_errs(result)} {by} {error} ± {deviation}."
    if ranks_rows(result):
        return Card(
            "Learnable", "A wide network will rank rows, if not tell them apart", (*ranked(result), told)
        )
    return Card("Learnable", "No gain over guessing is shown", (told, dependence(result)))


def more_verdict(result: AuditResult) -> Card:
    """What twice the rows would bring."""
    ahead = twice_the_rows(result)
    if not has_gain(result):
        told = "The error shows no gain over guessing yet, so what more rows would bring cannot be told."
        return Card("More data", "Cannot be told", (told,))
    if ahead is None:
        return Card("More data", "Too few rows to tell", ("There are too few rows for a learning curve.",))
    errors = (ahead.now, ahead.error, ahead.low, ahead.high)
    now, then, low, high = (spoken_error(result, each) for each in errors)
    today, drawn = f"The error is {now} today", ""
    if result.whole is not None:
        drawn = f", extrapolated from {result.whole.num_sampled:,}"
        today = f"With all rows the learning curve{drawn}, is at {now}"
    if is_contradicted(result, ahead):
        told = f"{today}, but landmarks show less, so it does not tell what more rows would bring."
        return Card("More data", "Cannot be told", (told,))
    worth = "worth it" if ahead.helps else "not clearly worth it"
    told = f"95% interval with {ahead.n:,} rows{drawn}: {low} to {high}. More data is {worth}."
    if (of := result.data.drawn_from) is not None and of >= ahead.n:
        told += f" {of:,} rows are at hand."
    if ahead.error > ahead.now:
        return Card("More data", "No gain from more rows is shown", (f"{today}. {told}",))
    return Card("More data", f"Doubling the rows: {now} → {then}", (told,))
