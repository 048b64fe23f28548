"""Text for streams that may not take it: other alphabets, full disks, readers that left."""

import contextlib
import os
import sys
from typing import TextIO

SPELLED = {  # what the sentences have beyond ASCII, for streams that cannot print it
    "σ": "sigma",
    "λ": "lambda",
    "δ": "delta",
    "τ": "tau",
    "γ": "gamma",
    "κ": "kappa",
    "π": "pi",
    "Σ": "sum",
    "‖": "||",
    "ŷ": "y^",
    "²": "^2",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "−": "-",
    "–": "-",
    "×": "x",
    "·": "*",
    "±": "+-",
    "√": "sqrt ",
    "∞": "inf",
    "→": "->",
    "…": "...",
    "⌈": "ceil(",
    "⌉": ")",
}


def spelled(text: str, encoding: str | None) -> str:
    """The text in what an encoding has: other letters in words where there are any, else question marks.

    >>> spelled("σ_min ≥ 0.1 für ‖M‖", "ascii")
    'sigma_min >= 0.1 f?r ||M||'
    """
    encoding = encoding or "ascii"
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        plain = "".join(SPELLED.get(sign, sign) for sign in text)
        return plain.encode(encoding, "replace").decode(encoding)


def warn(message: str) -> None:
    """A line on stderr; where that cannot take it, nobody is told, and the work goes on."""
    stream = sys.stderr
    if stream is None:  # closed by whoever started this process
        return
    try:
        print(spelled(message, stream.encoding), file=stream, flush=True)
    except OSError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Let a stream that failed lead nowhere, or Python would fail once more when it flushes it at the end."""
    with contextlib.suppress(OSError, ValueError):  # a stream may have no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
