"""Words that a comparison's page and its screenful share."""

from widenet.compare.result import ComparisonResult, MethodResult
from widenet.compare.tuning import Setting
from widenet.report.compare.verdict import error_text


def how_measured(result: ComparisonResult) -> list[str]:
    """How errors were measured, the most important first."""
    protocol = result.protocol
    what = (
        "the share of misclassified rows"
        if protocol.measure == "misclassified"
        else "the mean of ‖prediction − y‖²"
    )
    times = "" if protocol.repeats == 1 else f", {protocol.repeats} times over"
    sentences = [
        f"The error is {what} on rows that took no part in fitting or choosing: the rows were divided into "
        f"{protocol.folds} folds{times}, and in each fold every method chose its settings within the "
        f"{protocol.train_rows:,} training rows and was judged on the other {protocol.test_rows:,}.",
        f"A constant guess has an error of {error_text(protocol.chance, protocol.measure)}.",
    ]
    if any(method.family == "network" for method in result.methods):
        sentences.append(
            f"Networks have {protocol.width:,} neurons in each hidden layer and were trained for "
            f"{protocol.epochs:,} epochs."
        )
    return sentences


def setting_text(setting: Setting) -> str:
    """A setting as 'h = 0.2, ridge = 1e-05'."""
    if not setting:
        return "nothing to choose"
    return ", ".join(
        f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in setting.items()
    )


def standing(method: MethodResult) -> tuple[str, str]:
    """Rank and wins; empty where the method failed."""
    if method.rank is None or method.wins is None:
        return "", ""
    return f"{method.rank:.1f}", str(method.wins)


def time_text(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
