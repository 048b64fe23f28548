"""Bytes of a text file become text: by their byte order mark, as UTF-8, or as what Windows writes."""

import codecs
import re

MARKS = {  # longest first: the mark of UTF-16 begins that of UTF-32
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
NAMES = {"utf-16": "UTF-16", "utf-32": "UTF-32", "cp1252": "Windows-1252", "latin-1": "Latin-1"}


def decoded(content: bytes, *, cut: bool = False) -> tuple[str, str]:
    """The text of a file, and the encoding that it is in.

    UTF-8 is refused by nearly every text in another encoding, so what it refuses is taken for Windows-1252,
    and for Latin-1 where that has no such byte.

    >>> decoded("größe".encode("latin-1"))
    ('größe', 'cp1252')

    Args:
        content: The bytes.
        cut: Whether they are only the start of a file, which may end within a character.
    """
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, errors="ignore" if cut else "replace"), encoding
    for encoding in ("utf-8", "cp1252"):
        try:
            decoder = codecs.getincrementaldecoder(encoding)()
            return decoder.decode(content, final=not cut), encoding
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1"), "latin-1"


def lines_of(text: str) -> list[str]:
    r"""The lines of a text; unlike `str.splitlines`, signs such as U+2028 end none.

    >>> lines_of("one\x85two\r\nthree")
    ['one\x85two', 'three']
    """
    return re.split(r"\r\n|\r|\n", text)


def first_lines(content: bytes, limit: int) -> list[str]:
    """The whole lines in the first `limit` bytes of a file: where there are so many, the last may be cut."""
    lines = lines_of(decoded(content, cut=True)[0])
    return lines[:-1] if len(content) >= limit else lines


def encoding_note(encoding: str) -> tuple[str, ...]:
    """A sentence on an encoding other than UTF-8."""
    if encoding in ("utf-8", "utf-8-sig"):
        return ()
    fallback = encoding in ("cp1252", "latin-1")
    doubt = ", because it is not UTF-8: check letters beyond a to z" if fallback else ""
    return (f"The text was read as {NAMES[encoding]}{doubt}.",)
