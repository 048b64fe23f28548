import io
from dataclasses import replace

import pytest
from rich.console import Console

from widenet.report.audit.screen import screen
from widenet.report.audit.sentences import questions
from widenet.report.audit.verdicts import verdicts


def printed(result, width: int, *, terminal: bool = False) -> str:
    file = io.StringIO()
    screen(result, Console(file=file, width=width, force_terminal=terminal))
    return file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_one_screen_answers_all_questions(task, result_of, width):
    result = result_of(task)
    lines = printed(result, width).splitlines()
    assert len(lines) <= (40 if width >= 80 else 48)
    assert all(len(line) <= width and line == line.rstrip() for line in lines)
    assert all(f"{card.title}: {card.headline}" in lines for card in verdicts(result))
    assert all(question in lines for question in questions(result)[2:])  # the others are the verdicts'


def test_numbers_are_whole(result_of):
    result = result_of("binary")
    text = " ".join(printed(result, 60).split())
    for told in ("0.812", "3.25", "123 steps", "after 4,567", "1 to 5 rows", "0.0333", "2.5%", "10% → 5%"):
        assert told in text


def test_long_names_still_fit_one_screen(result_of):
    result = result_of("multiclass", rename=lambda name: name * 200)
    assert len(printed(result, 80).splitlines()) <= 40


def test_no_colour_codes_when_piped(task, result_of):
    assert "\x1b" not in printed(result_of(task), 80)
    assert "\x1b" in printed(result_of(task), 80, terminal=True)


def test_markup_in_the_data_is_literal(result_of):
    result = result_of("binary", rename=lambda name: f"[red]{name}[/red]")
    text = " ".join(printed(result, 80).split())
    assert "[red]animals.csv[/red]" in text
    assert "given [red]cat[/red]" in text


def test_terminal_codes_in_the_data_are_spelled_out(result_of):
    result = result_of("binary")
    hostile = replace(result, data=replace(result.data, name="\x1b[2J\x07\r"))
    text = printed(hostile, 80)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\x1b[2J\\x07\\r" in text
