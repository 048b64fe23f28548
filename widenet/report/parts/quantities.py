"""Numbers and names as people read them, the same on the page and in the terminal."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from widenet.base.wording import duration, number, percent

MOST_SPELLED = 1e12  # from here on a number has an exponent
LONGEST = 60  # characters of a name that a sentence shows


def precise(value: float) -> str:
    """Six significant digits, for certified bounds."""
    return f"{value:.6g}"


def three_digits(value: float) -> str:
    """Three significant digits, and zeros up to the point: 215,000 for an error known to about as much."""
    return f"{float(f'{value:.3g}'):,.0f}" if 999.5 <= abs(value) < MOST_SPELLED else number(value)


def rounded_down(value: float, digits: int = 3) -> str:
    """So many digits, never more than the value: for what is at least so much."""
    return _rounded(value, digits, ROUND_FLOOR)


def rounded_up(value: float, digits: int = 3) -> str:
    """So many digits, never less than the value: for what is at most so much."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, way: str) -> str:
    if value == 0 or not math.isfinite(value):
        return number(value)
    exact = Decimal(value)
    return f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), way)):.{digits}g}"


def percent_range(low: float, high: float) -> str:
    """An interval of shares, as in '2% to 9%'."""
    return f"{percent(low)} to {percent(high)}"


def shown_p(p: float, least: float = 1e-4) -> str:
    """A p-value, as in 'p = 0.03', or 'p < 0.0001' where it is below `least`."""
    return f"p < {least:g}" if p < least else f"p = {p:.2g}"


def short_duration(seconds: float) -> str:
    """The same in little room."""
    return duration(seconds).replace(" seconds", " s").replace(" minutes", " min")


def literal(text: str, longest: int = LONGEST) -> str:
    """A name from the data on one line: control characters spelled out, long text cut."""
    clean = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[: longest + 1])
    return clean if len(text) <= longest else clean[: longest - 1] + "…"


def row_list(rows: tuple[int, ...], longest: int) -> str:
    """Row numbers as in '3, 17 and 40', or '3, 17, 40 and 5 more'."""
    names = [str(row) for row in rows[:longest]]
    if len(rows) > longest:
        return ", ".join(names) + f" and {len(rows) - longest:,} more"
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
