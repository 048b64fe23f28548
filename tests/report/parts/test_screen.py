from rich.text import Text

from widenet.report.parts.screen import columns, line, sentence, title, verdict


def test_sentences_are_set_in_and_never_wider_than_the_screen(screen_of):
    words = "word " * 60
    for width in (30, 80, 200):
        lines = screen_of(lambda text, console: sentence(console, text), words, width).splitlines()
        assert all(each.startswith("  word") for each in lines)
        assert max(map(len, lines)) <= min(width, 80)


def test_a_head_stands_before_the_first_line_alone(screen_of):
    def show(text, console):
        sentence(console, text, head=Text("passed  "))

    lines = screen_of(show, "word " * 30).splitlines()
    assert lines[0].startswith("passed  word")
    assert all(each.startswith("        word") for each in lines[1:])


def test_markup_stays_text(screen_of):
    def show(text, console):
        title(console, "audit", text)
        verdict(console, (text, text))
        line(console, text)

    assert screen_of(show, "[red]x[/red]").count("[red]x[/red]") == 4


def test_columns_line_up():
    assert columns(("name", "1", "22"), (6, 3, 4), 1) == "name     1   22"
    assert columns(("name", "", ""), (6, 3, 4), 1) == "name"
