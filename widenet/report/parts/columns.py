"""Columns that are not used, and those with missing values, in plain sentences."""

from widenet.base.wording import counted
from widenet.report.parts.quantities import literal
from widenet.study.data import DataSummary

MOST_NAMED = 3  # columns that a sentence names


def column_sentences(data: DataSummary) -> tuple[str, ...]:
    """What a person should know about the columns of the data before anything else; often nothing."""
    told = []
    dropped, imputed, texts = data.columns.dropped, data.columns.imputed, data.columns.texts
    if texts:
        names = [f"'{literal(name)}'" for name in texts[:MOST_NAMED]]
        verb = "is" if len(texts) == 1 else "are"
        told.append(
            f"{counted(len(texts), 'feature')} {verb} text, read by the words or parts of words that rows "
            f"share: {_joined(names, len(texts))}."
        )
    if dropped:
        reasons = [f"'{literal(each.name)}' ({each.why})" for each in dropped[:MOST_NAMED]]
        told.append(f"{counted(len(dropped), 'column')} left out: {_joined(reasons, len(dropped))}.")
    if imputed:
        names = [f"'{literal(name)}'" for name in imputed[:MOST_NAMED]]
        verb = "has" if len(imputed) == 1 else "have"
        told.append(
            f"{counted(len(imputed), 'feature')} {verb} missing values, which were marked and filled in: "
            f"{_joined(names, len(imputed))}."
        )
    return tuple(told)


def _joined(named: list[str], total: int) -> str:
    """Some names, and how many more there are."""
    rest = [f"{total - len(named):,} more"] if total > len(named) else []
    *first, last = [*named, *rest]
    return f"{', '.join(first)} and {last}" if first else last
