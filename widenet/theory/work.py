"""What a quantity that is measured may cost: minutes, not days."""

from widenet.base.errors import InputError

MOST_OPERATIONS = 10**13  # some minutes of a few cores


def require_work(operations: float, smaller: str) -> None:
    """Refuse what would take longer than a person waits.

    Args:
        operations: Floating-point operations, roughly.
        smaller: What to make smaller, as "n or steps".
    """
    if operations > MOST_OPERATIONS:
        raise InputError(
            f"This would take about {operations:.0e} operations, more than the {MOST_OPERATIONS:.0e} of some "
            f"minutes: make {smaller} smaller."
        )
