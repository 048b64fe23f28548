"""Text as features: where it is all there is, and where people keep it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from widenet.base.errors import InputError
from widenet.data import load
from widenet.data.text import fit_text
from widenet.report.parts.columns import column_sentences
from widenet.study.data import data_summary

SPAM, HAM = ["win", "cash", "prize", "now"], ["see", "you", "at", "home"]
RNG = np.random.default_rng(0)


def message(words: list[str], k: int) -> str:
    return f"{' '.join(RNG.permutation([*words, 'today']))} n{k}"


KINDS = ["spam", "ham"] * 20
MESSAGES = [message(SPAM if kind == "spam" else HAM, k) for k, kind in enumerate(KINDS)]


def test_text_is_used_where_nothing_else_is_left():
    data = load(pd.DataFrame({"id": range(40), "message": MESSAGES, "kind": KINDS}))
    assert data.columns.used == data.columns.texts == ("message",)
    assert [each.name for each in data.columns.dropped] == ["id"]
    spam, ham = data.X[data.labels == 1], data.X[data.labels == 0]
    assert (spam @ spam.T).min() > (spam @ ham.T).max()
    with_number = load(pd.DataFrame({"size": RNG.normal(size=40), "message": MESSAGES, "kind": KINDS}))
    assert with_number.columns.used == ("size",)


def test_text_is_used_beside_what_is_constant_or_mostly_empty():
    columns = {
        "type": ["message"] * 40,
        "message": MESSAGES,
        "kind": KINDS,
        "more": [None] * 37 + ["a", "b", "a"],
    }
    data = load(pd.DataFrame(columns), target="kind")
    assert data.columns.used == ("message", "more")
    series = pd.DataFrame({"t": range(40), "unit": ["cm"] * 40, "level": RNG.normal(size=40)})
    assert load(series).columns.used == ("t",)


def test_names_and_formulas_are_read_by_their_parts():
    formulas = [("CC(=O)O", "c1ccccc1")[k % 2] + "C" * (k // 2) for k in range(40)]
    data = load(pd.DataFrame({"formula": formulas, "acid": [k % 2 for k in range(40)]}))
    assert "formula has '=O'" in data.names
    assert any("runs of two or three characters that several rows share" in note for note in data.provenance)


def test_kept_text_is_read_by_its_words():
    columns = {"size": RNG.normal(size=40), "message": MESSAGES, "kind": KINDS}
    data = load(pd.DataFrame(columns), keep=["message"])
    assert data.columns.used == ("size", "message")
    assert "message has 'prize'" in data.names
    assert not any("n7" in name for name in data.names)  # in one row alone
    assert load(pd.DataFrame(columns), categorical=["message"]).columns.texts == ()
    assert data.leaks == ()


def test_weights_are_those_of_tf_idf():
    values = pd.Series([*MESSAGES, None], name="message")
    column = fit_text(values, has_words=True)
    naive = TfidfVectorizer(min_df=2, sublinear_tf=True, token_pattern=r"\w+")
    expected = naive.fit_transform([*MESSAGES, ""]).toarray()
    np.testing.assert_allclose(column.encode(values), expected)
    np.testing.assert_allclose(column.encode(pd.Series(["nothing of these"])), 0)


def test_many_rows_have_fewer_terms(monkeypatch):
    monkeypatch.setattr("widenet.data.text.MOST_CELLS", 40 * 3)
    column = fit_text(pd.Series(MESSAGES, name="message"), has_words=True)
    assert len(column.terms) == 3
    assert "today" in column.terms  # the most frequent


def test_text_without_a_common_part_is_categories_only_if_kept():
    words = [chr(0x4E00 + 5 * k) + chr(0x4E01 + 5 * k) for k in range(40)]
    assert fit_text(pd.Series(words, name="a"), has_words=False) is None
    frame = pd.DataFrame({"a": words, "y": KINDS})
    with pytest.raises(InputError, match="No column is left"):
        load(frame)
    data = load(frame, keep=["a"])
    assert data.columns.used == ("a",)
    assert data.columns.texts == ()


def test_text_that_shares_nothing_does_not_keep_others_from_being_read():
    words = [chr(0x4E00 + k) for k in range(1500)]
    some = [float(k % 7) if k < 200 else None for k in range(1500)]
    frame = pd.DataFrame({"a": some, "h": words, "y": [k % 2 for k in range(1500)]})
    assert load(frame, target="y").columns.used == ("a",)


def test_words_keep_their_vowel_signs():
    texts = [("हिन्दी किताब अच्छी है और नई", "दिल्ली बड़ी है और पुरानी")[k % 2] for k in range(20)]
    assert "हिन्दी" in fit_text(pd.Series(texts, name="t"), has_words=True).terms


def test_text_that_is_used_is_told_first():
    data = load(pd.DataFrame({"id": range(40), "message": MESSAGES, "kind": KINDS}))
    told = column_sentences(data_summary(data))
    assert told[0] == "1 feature is text, read by the words or parts of words that rows share: 'message'."
