"""Text as numbers: the words, or the short runs of characters, that several rows share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np

from widenet.base.memory import require_memory
from widenet.base.wording import shown

if TYPE_CHECKING:
    import pandas as pd

MOST_TERMS = 1000  # that a column of text becomes, the most frequent ones
MOST_CELLS = 50_000_000  # rows times terms, 400 MB: a table of many rows gets fewer terms
LEAST_SHARED = 2  # rows that a term must be in: what one row alone has tells nothing about others
FITTING_BYTES = 30  # that counting all terms takes for each character
LENGTHS = (2, 3)  # of runs of characters
PARTS = {"analyzer": "char_wb", "ngram_range": LENGTHS, "lowercase": False}  # of names, formulas and codes


@dataclass(frozen=True)
class TextColumn:
    """A column of text, as the tf-idf weights of its terms; each row with a term has norm 1, others are 0.

    Attributes:
        name: Its name in the table.
        terms: Words, or runs of characters, each in several of the rows that were seen.
        weights: Inverse document frequency of each term.
        has_words: Whether the terms are words.
    """

    name: str
    terms: tuple[str, ...]
    weights: tuple[float, ...]
    has_words: bool

    has_gaps = False  # a missing text is an empty one

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that it becomes."""
        return tuple(f"{self.name} has '{term}'" for term in self.terms)

    def encode(self, values: pd.Series) -> np.ndarray:
        """Weights of shape (n, number of terms); terms that were never seen have none."""
        vectorizer = _vectorizer(has_words=self.has_words, vocabulary=self.terms)
        vectorizer.idf_ = np.array(self.weights)
        return np.asarray(vectorizer.transform(_written(values)).toarray())


def fit_text(values: pd.Series, *, has_words: bool) -> TextColumn | None:
    """How a column of text becomes numbers; None where no two rows share a term.

    Args:
        values: The column.
        has_words: Whether to read it by its words; by runs of characters where most texts are one or two.
    """
    most = min(MOST_TERMS, max(1, MOST_CELLS // len(values)))
    vectorizer = _vectorizer(has_words=has_words, min_df=LEAST_SHARED, max_features=most)
    written = _written(values)
    require_memory(FITTING_BYTES * sum(map(len, written)), f"The text of column {shown(values.name)}")
    try:
        vectorizer.fit(written)
    except ValueError:  # no term is left
        return None
    terms = tuple(map(str, vectorizer.get_feature_names_out()))
    return TextColumn(str(values.name), terms, tuple(vectorizer.idf_.tolist()), has_words)


def _vectorizer(*, has_words: bool, **options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    kind: dict[str, Any] = {"analyzer": words_of} if has_words else PARTS
    return TfidfVectorizer(sublinear_tf=True, **kind, **options)


def words_of(text: str) -> list[str]:
    """The words of a text in small letters; vowel signs, as in हिन्दी, are parts of them.

    >>> words_of("It's हिन्दी, no. 5")
    ['it', 's', 'हिन्दी', 'no', '5']
    """
    text = text.lower()
    if text.isascii():
        return re.findall(r"\w+", text)
    return "".join(c if c.isalnum() or category(c).startswith("M") else " " for c in text).split()


def _written(values: pd.Series) -> list[str]:
    return ["" if is_missing else str(value) for value, is_missing in zip(values, values.isna(), strict=True)]
