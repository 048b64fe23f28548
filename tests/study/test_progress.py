import io
import types

import pytest
from rich.console import Console

from widenet.study import progress
from widenet.study.progress import rate_told, time_told, told_progress


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_plain_lines_are_seldom(clock, capsys):
    with told_progress(quiet=False) as tell:
        for done in range(2001):
            tell("trials", done, 2000)
            clock[0] += 1.0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "trials: 0 of 2,000 (0%)"
    assert lines[1] == "trials: 30 of 2,000 (2%), 1 per second, 33 min left"
    assert [int(line.split()[1].replace(",", "")) for line in lines[1:-1]] == [30, 90, 210, 450, 930, 1530]
    assert lines[-1] == "trials: 2,000 of 2,000 (100%)"


def test_what_was_done_before_says_nothing_about_the_pace(clock, capsys):
    with told_progress(quiet=False) as tell:
        tell("trials", 180, 200)
        clock[0] += 40
        tell("trials", 190, 200)
    assert capsys.readouterr().err.splitlines()[1] == "trials: 190 of 200 (95%), 15 per minute, 40 s left"


def test_the_last_line_is_written_once_and_also_after_an_interruption(clock, capsys):
    def work() -> None:
        with told_progress(quiet=False) as tell:
            for done, total, text in [
                (2, 2, "[folds]"),
                (2, 2, "[folds]"),
                (0, 5, "trials"),
                (3, 5, "trials"),
            ]:
                tell(text, done, total)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["[folds]: 2 of 2 (100%)", "trials: 0 of 5 (0%)", "trials: 3 of 5 (60%)"]


def test_stages_without_a_number_are_told_once(clock, capsys):
    with told_progress(quiet=False) as tell:
        tell("reading [b]table.csv[/b]")
        tell("leave one out")
        for done in range(1, 4):
            clock[0] += 1
            tell("leave one out", done, detail="products")
        clock[0] += 40
        tell("leave one out", 50, detail="products")
        tell("training", detail="step 7, loss 1e-3")
    assert capsys.readouterr().err.splitlines() == [
        "reading [b]table.csv[/b]",
        "leave one out",
        "leave one out: 50 products",
        "training: step 7, loss 1e-3",
    ]


def test_what_is_noted_on_the_way_is_told_in_the_words_that_are_given(capsys):
    with told_progress(quiet=False, words=lambda fact: (f"Known: {fact}.",)) as tell:
        tell("training")
        tell.note(3)
    assert capsys.readouterr().err.splitlines() == ["training", "Known: 3."]


def test_quiet(capsys):
    with told_progress(quiet=True) as tell:
        tell("trials", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_share_rate_and_time_left(clock, monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(progress, "Console", lambda stderr: console)
    with told_progress(quiet=False) as tell:
        tell("[b] trials of 3resnet", 10, 50)
        clock[0] += 10
        tell("[b] trials of 3resnet", 20, 50)
        clock[0] += 5
    text = screen.getvalue()
    assert "[b] trials of 3resnet" in text
    assert "40%" in text
    assert "20 of 50" in text
    assert "1 per second, 25 s left" in text


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (1234.5, "1,234 per second"),
        (2.0, "2 per second"),
        (0.05, "3 per minute"),
        (0.001, "3.6 per hour"),
        (1e-4, "0.36 per hour"),
    ],
)
def test_rates(rate, words):
    assert rate_told(rate) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "0 s"), (119, "119 s"), (600, "10 min"), (7200, "2 h"), (200000, "2 days")]
)
def test_times(seconds, words):
    assert time_told(seconds) == words
