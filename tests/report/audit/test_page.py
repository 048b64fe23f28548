import re
from dataclasses import replace

from widenet.audit.findings import Outside
from widenet.report.audit.page import page
from widenet.report.audit.sentences import questions
from widenet.report.audit.verdicts import verdicts

HOSTILE = "</script><img src=x onerror=alert(1)>"


def unknowns(result):
    """The same audit where nothing that may be missing is known."""
    return replace(
        result,
        complexity=replace(result.complexity, value=None, upper=None, shuffled=None, shuffled_std=None),
        spectrum=replace(result.spectrum, eigenvalue_min=None, eigenvalue_min_certified=None),
        curve=replace(result.curve, worst_loss=None, movement_limit=None, trained=None),
        bound=replace(result.bound, value=None, terms={}, reasons=(Outside.NOT_CERTIFIED,)),
        loo=replace(result.loo, error=None, standard_error=None, misclassified=None),
        learning_curve=no_curve(result.learning_curve),
        chosen=replace(result.chosen, learning_curve=no_curve(result.chosen.learning_curve)),
        labels_file=None,
    )


def no_curve(curve):
    return replace(curve, n=(), error=(), error_low=(), error_high=(), misclassified=None, measured=())


def test_page_answers_all_questions(task, result_of, outline_of):
    result = result_of(task)
    outline = outline_of(page(result))
    assert all(question in outline.text for question in questions(result))
    assert all(card.headline in outline.text for card in verdicts(result))
    for told in ("0.812", "3.25", "123", "4,567", "5%", "2% to 9%", "row 1", "3 MiB", "1.2 seconds"):
        assert told in outline.text


def test_page_is_in_order_and_offline(task, result_of, outline_of):
    outline = outline_of(page(result_of(task)))
    outline.check_structure()
    outline.check_offline()


def test_pictures_of_suspicious_rows_and_of_the_rows_nearest_to_them(task, result_of, outline_of):
    pictures = outline_of(page(result_of(task, images=True))).tags("img")
    alone = {picture["alt"] for picture in pictures}
    assert {f"Row {row}" for row in range(1, 15)} <= alone
    assert all(picture["src"].startswith("data:image/webp;base64,") for picture in pictures)
    assert not outline_of(page(result_of(task))).tags("img")


def test_clean_data_has_no_rows_to_look_at(task, result_of, outline_of):
    result = result_of(task, images=True)
    clean = tuple(replace(each, suggested=each.given, score=0.1) for each in result.ranking)
    outline = outline_of(page(replace(result, ranking=clean, contradicting=0, nearest={}, pictures={})))
    assert not outline.tags("img")
    assert not outline.tags("select")
    assert "Look at these first" not in outline.text
    assert len(outline.tags("script")) == 3


def test_improbable_rows_are_not_on_the_first_screen(result_of, outline_of):
    result = result_of("binary")
    doubtful = tuple(replace(each, score=0.3 * each.score) for each in result.ranking)
    outline = outline_of(page(replace(result, ranking=doubtful)))
    assert "Look at these first" not in outline.text
    assert len(outline.tags("select")) == 60  # they contradict their labels all the same


def test_what_is_not_known_is_said(task, result_of, outline_of):
    text = outline_of(page(unknowns(result_of(task)))).text
    assert "no more is known, because the smallest eigenvalue" in text
    assert "The worst case is not drawn, because" in text
    assert "Theorem 5.1 gives no bound here. The bound needs an upper bound on the complexity" in text
    assert "too few rows for a learning curve" in text
    assert "None" not in text
    assert "nan" not in text.lower().split()


def test_only_what_is_wrong_is_a_warning(result_of):
    result = result_of("binary")
    repeated = replace(result.soundness, duplicates=((3, 9),))
    assert 'class="warnings"' not in page(replace(result, soundness=repeated))
    assert "1 group of rows has the same inputs" in page(replace(result, soundness=repeated))
    assert 'class="warnings"' in page(replace(result, soundness=replace(repeated, conflicts=((3, 9),))))


def test_long_lists_are_cut_with_a_count(result_of, outline_of):
    result = result_of("binary")
    pairs = tuple((2 * k, 2 * k + 1) for k in range(1, 101))
    found = replace(result.soundness, duplicates=(tuple(range(1000)),), conflicts=pairs)
    text = outline_of(page(replace(result, soundness=found))).text
    assert "rows 40 and 41" in text
    assert "rows 42 and 43" not in text
    assert "and 80 more" in text
    assert "and 980 more" in text


def test_text_from_the_data_stays_text(task, result_of, outline_of):
    hostile = {"rename": lambda name: HOSTILE + name}
    text = page(result_of(task, **hostile))
    outline = outline_of(text)
    assert text.count(HOSTILE) == 0
    assert HOSTILE in outline.text
    assert not outline.tags("img")
    assert len(outline.tags("script")) == 5  # charts, rows, plotly, and the two that read them
    data = [script for script in outline.scripts if script.startswith("{")]
    assert len(data) == 2
    assert not any("<" in block for block in data)


def test_quotes_from_the_data_stay_in_their_attribute(result_of, outline_of):
    result = result_of("binary", rename=lambda name: f'" onmouseover="alert(1)" {name}')
    rows = [row for row in outline_of(page(result)).tags("tr") if "data-row" in row]
    expected = {"data-row", "data-given", "data-suggested", "data-score"}
    assert all(set(row) == expected for row in rows)
    assert rows[0]["data-given"] == '" onmouseover="alert(1)" cat'


def test_browser_draws_hostile_names_literally(result_of, browse):
    hostile = {"rename": lambda name: HOSTILE}
    outline = browse(page(result_of("multiclass", **hostile)))
    assert len(outline.drawn) >= 7
    assert not outline.tags("img")
    ticks = re.findall(r'data-unformatted="&amp;lt;/script[^>]*>(.*?)</text>', outline.page)
    assert len(ticks) == 3
    assert all(tick.startswith("&lt;/script&gt;&lt;img src=x onerr") for tick in ticks)
