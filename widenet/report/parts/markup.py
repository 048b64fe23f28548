"""HTML that is safe by construction: text is escaped unless it is markup already."""

from collections.abc import Iterable
from html import escape

VOID = frozenset({"br", "img", "input", "meta"})


class Html(str):
    """Text that is markup already and is not escaped again."""


def element(tag: str, *children: str, **attributes: str) -> Html:
    """One element; children of type `Html` are kept, all other text is escaped.

    Attribute names lose a trailing underscore and turn the others into hyphens: `class_`, `aria_label`.
    """
    head = tag + "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"' for name, value in attributes.items()
    )
    return Html(f"<{head}>") if tag in VOID else Html(f"<{head}>{join(*children)}</{tag}>")


def join(*children: str) -> Html:
    """Children one after another, each escaped unless it is markup."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children))


def paragraphs(sentences: Iterable[str], **attributes: str) -> Html:
    """A paragraph for each sentence."""
    return join(*(element("p", marked(sentence), **attributes) for sentence in sentences))


def marked(sentence: str) -> Html:
    """A sentence whose settings, in backquotes, are set as code."""
    parts = sentence.split("`")
    if len(parts) % 2 == 0:  # one that has no partner is a part of the text
        return join(sentence)
    return join(*(element("code", part) if index % 2 else part for index, part in enumerate(parts)))


def details(summary: str, *children: str) -> Html:
    """A block that a click unfolds."""
    return element("details", element("summary", summary), element("div", *children, class_="unfolded"))


def table(head: Iterable[str], rows: Iterable[Iterable[str]], caption: str) -> Html:
    """A table that scrolls sideways where the screen is narrow; the first cell of a row is its heading."""
    header = element("tr", *(element("th", cell, scope="col") for cell in head))
    body = []
    for first, *rest in rows:
        cells = (element("td", cell) for cell in rest)
        body.append(element("tr", element("th", first, scope="row"), *cells))
    whole = element("table", element("caption", caption), element("thead", header), element("tbody", *body))
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)
