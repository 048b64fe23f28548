from dataclasses import replace

import pytest

from widenet.report.audit.files import record
from widenet.report.audit.page import page
from widenet.report.audit.screen import screen
from widenet.report.audit.sentences import sentences
from widenet.report.parts.leaks import leak_sentences
from widenet.study.data import Leak, LeakKind

HOSTILE = "</script><img src=x onerror=alert(1)>"
COPY = Leak(LeakKind.DETERMINES, ("diagnosis",))
ALL_KINDS = (
    Leak(LeakKind.COUNTS, ("number",), 0.0),
    Leak(LeakKind.SORTED, ("id",)),
    COPY,
    Leak(LeakKind.LINEAR, ("length", "width")),
)


@pytest.fixture
def with_leaks(result_of):
    """An audit of data with some leaks."""

    def make(*leaks, task="binary"):
        result = result_of(task)
        return replace(result, data=replace(result.data, leaks=leaks))

    return make


@pytest.mark.parametrize(
    ("task", "leaks", "told"),
    [
        (
            "binary",
            [Leak(LeakKind.SORTED, ("id",))],
            "Column 'id' follows the order of the rows, which are sorted by label, and so gives the label of "
            "every row away: drop it if it only identifies the rows.",
        ),
        (
            "regression",
            [Leak(LeakKind.SORTED, ("id",)), Leak(LeakKind.SORTED, ("time",), 0.995)],
            "Each of the columns 'id' and 'time' follows the order of the rows, which are nearly sorted by "
            "target, and so gives the target of 99.5% of the rows away: drop them if they only identify the "
            "rows.",
        ),
        (
            "multiclass",
            [COPY],
            "Column 'diagnosis' alone determines the label of every row: drop it if it would not be known at "
            "the time of prediction.",
        ),
        (
            "multiclass",
            [COPY, Leak(LeakKind.DETERMINES, ("ward",), 0.993)],
            "Each of the columns 'diagnosis' and 'ward' alone determines the label of 99.3% of the rows: "
            "drop them if they would not be known at the time of prediction.",
        ),
        (
            "regression",
            [Leak(LeakKind.ORDERS, ("price in €",))],
            "Column 'price in €' alone puts the rows in the exact order of their targets: drop it if it "
            "would not be known at the time of prediction.",
        ),
        (
            "binary",
            [Leak(LeakKind.COUNTS, ("Id",), 0.0)],
            "Column 'Id' counts the rows: drop it if it is only an identifier.",
        ),
        (
            "regression",
            [Leak(LeakKind.SUM, ("a", "b", "c"))],
            "The target is the sum of columns 'a', 'b' and 'c': drop them if some of them would not be known "
            "at the time of prediction.",
        ),
        (
            "regression",
            [Leak(LeakKind.LINEAR, tuple("abcdefgh"))],
            "The target is a linear function of 8 columns ('a', 'b', 'c', 'd', 'e' and 3 more): drop them if "
            "some of them would not be known at the time of prediction.",
        ),
    ],
)
def test_each_kind_has_its_sentence(with_leaks, task, leaks, told):
    assert leak_sentences(with_leaks(*leaks, task=task).data) == (told,)


def test_no_leak_no_sentence(task, result_of):
    assert leak_sentences(result_of(task).data) == ()


def test_leaks_come_first_and_the_gravest_of_them_before_the_others(with_leaks):
    told = sentences(with_leaks(*ALL_KINDS))
    starts = [sentence.split(" ")[:2] for sentence in told[:4]]
    assert starts == [
        ["Column", "'id'"],
        ["Column", "'diagnosis'"],
        ["Column", "'number'"],
        ["The", "target"],
    ]


def test_every_door_of_the_audit_shows_them(with_leaks, screen_of, outline_of):
    result = with_leaks(*ALL_KINDS)
    told = leak_sentences(result.data)
    shown = " ".join(screen_of(screen, result).split())
    text = outline_of(page(result)).text
    for sentence in told:
        assert sentence in shown
        assert text.count(sentence) == 1  # before all verdicts
    assert record(result)["verdict"][:4] == list(told)
    assert record(result)["data"]["leaks"][2] == {
        "kind": "determines the target",
        "columns": ["diagnosis"],
        "share": 1.0,
    }


def test_column_names_are_text(with_leaks, outline_of):
    hostile = with_leaks(Leak(LeakKind.SUM, (HOSTILE, "\x1b[31m" + "long" * 100)), task="regression")
    (told,) = leak_sentences(hostile.data)
    assert "\x1b" not in told
    assert len(told) < 300
    assert HOSTILE not in page(hostile)
    assert HOSTILE in outline_of(page(hostile)).text
