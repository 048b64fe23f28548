"""Columns that give the target away, in plain sentences."""

from collections.abc import Iterable

from widenet.base.wording import counted, percent
from widenet.report.parts.quantities import literal
from widenet.study.data import DataSummary, Leak, LeakKind

MOST_NAMED = 5  # columns that a sentence names
UNKNOWN = "would not be known at the time of prediction"


def leak_sentences(data: DataSummary) -> tuple[str, ...]:
    """A sentence for each way in which columns give the target away, the gravest first."""
    told = []
    for kind in (LeakKind.SORTED, LeakKind.DETERMINES, LeakKind.ORDERS, LeakKind.COUNTS):
        found = [leak for leak in data.leaks if leak.kind is kind]
        if found:
            told.append(_single(kind, found, "target" if data.task == "regression" else "label"))
    together = [leak for leak in data.leaks if leak.kind in (LeakKind.SUM, LeakKind.LINEAR)]
    return (*told, *(_together(leak) for leak in together))


def _single(kind: LeakKind, found: list[Leak], word: str) -> str:
    """What each of some columns does alone."""
    several, share = len(found) > 1, min(leak.share for leak in found)
    names = _named(name for leak in found for name in leak.columns)
    subject = f"Each of the {names}" if several else f"C{names[1:]}"
    drop = f"drop {'them' if several else 'it'} if {'they' if several else 'it'}"
    of_rows = f"the {word} of every row" if share == 1 else f"the {word} of {percent(share)} of the rows"
    match kind:
        case LeakKind.SORTED:
            order = "sorted" if share == 1 else "nearly sorted"
            return (
                f"{subject} follows the order of the rows, which are {order} by {word}, and so gives "
                f"{of_rows} away: {drop} only {'identify' if several else 'identifies'} the rows."
            )
        case LeakKind.DETERMINES:
            return f"{subject} alone determines {of_rows}: {drop} {UNKNOWN}."
        case LeakKind.ORDERS:
            return f"{subject} alone puts the rows in the exact order of their targets: {drop} {UNKNOWN}."
    identifies = "are only identifiers" if several else "is only an identifier"
    return f"{subject} counts the rows: {drop} {identifies}."


def _together(leak: Leak) -> str:
    """What several columns do together."""
    what = "the sum" if leak.kind is LeakKind.SUM else "a linear function"
    several = len(leak.columns) > 1
    some = f"some of them {UNKNOWN}" if several else f"it {UNKNOWN}"
    return f"The target is {what} of {_named(leak.columns)}: drop {'them' if several else 'it'} if {some}."


def _named(names: Iterable[str]) -> str:
    """Columns by name, as in "columns 'a' and 'b'", or "12 columns ('a', 'b' and 10 more)"."""
    quoted = [f"'{literal(name)}'" for name in names]
    if len(quoted) == 1:
        return f"column {quoted[0]}"
    if len(quoted) <= MOST_NAMED:
        return f"columns {', '.join(quoted[:-1])} and {quoted[-1]}"
    rest = f"{', '.join(quoted[:MOST_NAMED])} and {len(quoted) - MOST_NAMED:,} more"
    return f"{counted(len(quoted), 'column')} ({rest})"
