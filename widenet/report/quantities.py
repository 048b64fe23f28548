"""Numbers and names as people read them, the same on the page and in the terminal."""

import math

LONGEST = 60  # characters of a name that a sentence shows
KIBI = 1024


def number(value: float) -> str:
    """Three significant digits, and all digits before the point."""
    size = abs(value)
    if not math.isfinite(value):
        return "unbounded" if math.isinf(value) else "undefined"
    if size >= 1e7 or 0 < size < 1e-4:
        return f"{value:.1e}"
    return f"{value:,.0f}" if size >= 999.5 else f"{value:.3g}"


def precise(value: float) -> str:
    """Six significant digits, for certified bounds."""
    return f"{value:.6g}"


def percent(share: float) -> str:
    """A share of 1 as a percentage of about two digits."""
    value = 100 * share
    if 0 < value < 1e-3:
        return "less than 0.001%"
    text = f"{value:.0f}" if 10 <= value < 99 else f"{value:.1f}" if value >= 1 else f"{value:.1g}"
    return text.removesuffix(".0") + "%"


def percent_range(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"


def memory(num_bytes: int) -> str:
    """Bytes in the unit that leaves one to four digits before the point."""
    size, units = float(num_bytes), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= KIBI and len(units) > 1:
        size, units = size / KIBI, units[1:]
    return f"{size:.3g} {units[0]}" if size < 1000 else f"{size:.0f} {units[0]}"


def duration(seconds: float) -> str:
    if seconds < 0.1:
        return "less than 0.1 seconds"
    if seconds < 120:
        return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


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
