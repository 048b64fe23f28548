"""Rows and columns that are not used, and columns with missing values, in plain sentences."""

from widenet.base.wording import counted
from widenet.report.parts.quantities import literal
from widenet.study.data import DataSummary

MOST_NAMED = 3  # columns that a sentence names


def column_sentences(data: DataSummary) -> tuple[str, ...]:
    """What a person should know about the columns of the data before anything else; often nothing."""
    told = []
    if data.without_target:
        verb = "was" if data.without_target == 1 else "were"
        told.append(f"{counted(data.without_target, 'row')} without a target {verb} left out.")
    dropped, imputed, texts = data.columns.dropped, data.columns.imputed, data.columns.texts
    if texts:
        verb = "is" if len(texts) == 1 else "are"
        told.append(_named(f"{verb} text, read by the words or parts of words that rows share", texts))
    if dropped:
        reasons = [f"'{literal(each.name)}' ({each.why})" for each in dropped[:MOST_NAMED]]
        told.append(f"{counted(len(dropped), 'column')} left out: {_joined(reasons, len(dropped))}.")
    if imputed:
        verb = "has" if len(imputed) == 1 else "have"
        told.append(_named(f"{verb} missing values, which were marked and filled in", imputed))
    return tuple(told)


def _named(what: str, features: tuple[str, ...]) -> str:
    """A sentence on some features, which it counts and names."""
    names = [f"'{literal(name)}'" for name in features[:MOST_NAMED]]
    return f"{counted(len(features), 'feature')} {what}: {_joined(names, len(features))}."


def _joined(named: list[str], total: int) -> str:
    """Some names, and how many more there are."""
    rest = [f"{total - len(named):,} more"] if total > len(named) else []
    *first, last = [*named, *rest]
    return f"{', '.join(first)} and {last}" if first else last
