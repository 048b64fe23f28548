"""Mathematics as MathML, which browsers draw without help.

A part of a formula is text with spaces between its symbols, as in "( 1 − η", what a function here has made,
or several parts in a tuple. Words become names, digits numbers, and everything else signs.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from widenet.report.parts.markup import Html, element, join

Part = str | tuple[Any, ...]


def composed(tag: str, *arguments: Part) -> Html:
    """An element of MathML with these arguments, each a row of its own where it has several terms."""
    rows = [list(_terms(argument)) for argument in arguments]
    return element(tag, *(row[0] if len(row) == 1 else element("mrow", *row) for row in rows))


sub, sup, subsup = partial(composed, "msub"), partial(composed, "msup"), partial(composed, "msubsup")
frac, root = partial(composed, "mfrac"), partial(composed, "msqrt")
sum_over, sum_to = partial(composed, "munder", "∑"), partial(composed, "munderover", "∑")


def formula(*parts: Part) -> Html:
    """A formula on a line of its own; keys reach it, because on a narrow page it scrolls."""
    math = element("math", *_terms(parts), displaystyle="true")
    return element("div", math, class_="formula", tabindex="0", role="group", aria_label="Formula")


def with_words(*parts: str) -> Html:
    """Formulas, and the text around them in paragraphs."""
    return join(*(part if isinstance(part, Html) else element("p", part) for part in parts))


def _terms(part: Part) -> Iterator[Html]:
    if isinstance(part, tuple):
        for each in part:
            yield from _terms(each)
    else:
        yield from [part] if isinstance(part, Html) else map(_symbol, part.split())


def _symbol(text: str) -> Html:
    if text == "‖":
        return element("mo", text, stretchy="false")
    return element("mi" if text.isalpha() or text == "⊤" else "mn" if text.isdigit() else "mo", text)
