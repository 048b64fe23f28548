"""A comparison as one HTML page that opens offline."""

from collections.abc import Iterable

from widenet.base.wording import counted, duration
from widenet.compare.result import Champion, CompareResult, Measure
from widenet.compare.significance import PairedTest
from widenet.compare.tuning import FAMILY_GROUPS
from widenet.report.compare.charts import compare_charts
from widenet.report.compare.sentences import (
    choice_text,
    constant_cells,
    difference_text,
    error_text,
    how_compared,
    method_cells,
    method_head,
    p_text,
    sentences,
)
from widenet.report.parts.document import data_masthead, document, page_body, tile_list
from widenet.report.parts.markup import Html, details, element, join, table
from widenet.report.parts.quantities import literal, short_duration
from widenet.report.parts.sections import figure, folds, items, section, what_was_read


def page(result: CompareResult) -> str:
    """The comparison as a page: verdict, key figures, methods, tests, settings, and how it was measured."""
    charts = compare_charts(result)
    shown = {name: figure(chart) for name, chart in charts.items()}
    sections = (
        section(1, "How do the methods compare?", [], _methods_body(result, shown)),
        section(2, "Are the differences real?", [], _tests_body(result, shown)),
        section(
            3, "Which settings were chosen, and which features matter?", [], _settings_body(result, shown)
        ),
        section(4, "How was it measured?", how_compared(result), _measured_body(result)),
    )
    footer = ("The numbers behind this page are in result.json and table.csv.", f"widenet {result.version}")
    top = data_masthead("compare", result.data, counted(len(result.methods), "method"))
    content = page_body(top, sentences(result), _tiles(result), sections, footer)
    return document(f"{literal(result.data.name)} · widenet compare", content, charts)


def _tiles(result: CompareResult) -> Html:
    """The champion of each family, and the time."""
    measure = result.protocol.measure
    tiles = [
        (FAMILY_GROUPS[each.family].capitalize(), error_text(each.error, measure), _most(each), "#q2")
        for each in result.significance.champions
    ]
    tiles.append(("Best constant", error_text(result.constant.error, measure), "for comparison", "#q4"))
    expected = f"forecast {duration(result.forecast.seconds)}"
    tiles.append(("Time", short_duration(result.seconds), expected, "#q4"))
    return tile_list(tiles)


def _methods_body(result: CompareResult, shown: dict[str, Html]) -> Html:
    head = ("p against the best" if name == "p" else name for name in method_head(result))
    rows = [*(method_cells(result, method, p_text) for method in result.methods), constant_cells(result)]
    caption = (
        "The smallest mean error first; spread is the standard deviation between folds; p is adjusted for "
        "the number of methods"
    )
    picture = element("div", shown["errors"], class_="charts") if "errors" in shown else Html("")
    return join(picture, _ranking(head, rows, caption))


def _tests_body(result: CompareResult, shown: dict[str, Html]) -> Html:
    measure = result.protocol.measure
    champions = []
    for each in result.significance.champions:
        error, spread = error_text(each.error, measure), error_text(each.std, measure)
        champions.append((FAMILY_GROUPS[each.family], error, spread, _counts(each.chosen)))
    caption = "Each family as one method: in every fold the member that was best inside the training part"
    parts = [_ranking(("family", "error", "spread", "chosen"), champions, caption)]
    against = [*result.significance.against_kernels, *result.significance.against_constant]
    tests = [_test_row(test, measure) for test in against]
    if tests:
        head = ("families", "difference", "joint 95% interval", "adjusted p")
        caption = "These champions against kernels and the best constant, each group corrected for its tests"
        parts.append(_ranking(head, tests, caption))
    if "differences" in shown:
        parts.append(shown["differences"])
    how = (
        "Folds share most of their training rows, so their errors are correlated, and a plain t-test would "
        "find differences too often. The corrected resampled t-test widens the variance of the mean over J "
        "folds from 1/J to 1/J + n₂/n₁ times that of a fold, with n₁ rows to train on and n₂ to test on. "
        "Of misclassified rows, the variance of a fold is taken to be at least that of counting n₂ rows. "
        "This assumes independent rows, nearly normal differences, and a correlation between folds of "
        "n₂/(n₁ + n₂); no exact test for cross-validation is known. Intervals and p-values allow for the "
        "number of tests by Bonferroni's correction: all intervals of a group hold at once with 95% "
        "confidence, and p is below 5% where the interval leaves 0 out. Champions are chosen by the error "
        "inside the training part, so that no test row takes part in choosing whom to test."
    )
    column = element("div", *parts, class_="charts", style="grid-template-columns:1fr")
    return join(column, folds(details("How differences are tested", element("p", how))))


def _test_row(test: PairedTest, measure: Measure) -> tuple[str, ...]:
    interval = f"{difference_text(test.joint_low, measure)} to {difference_text(test.joint_high, measure)}"
    names = f"{test.first} − {test.second}"
    return names, difference_text(test.difference, measure), interval, p_text(test.adjusted)


def _settings_body(result: CompareResult, shown: dict[str, Html]) -> Html:
    rows = []
    for method in result.methods:
        if method.best is not None:
            often = sum(setting == method.best for setting in method.settings)
            told = f"{often} of {len(method.settings)} folds"
            rows.append((method.name, choice_text(method.best), told))
    caption = "The setting chosen most often; result.json lists those of every fold"
    picture = element("div", shown["importances"], class_="charts") if "importances" in shown else Html("")
    return join(_ranking(("method", "setting", "chosen in"), rows, caption), picture)


def _measured_body(result: CompareResult) -> Html:
    blocks = [what_was_read(result.data)]
    failures = [failure for method in result.methods for failure in method.failures]
    if failures:
        blocks.append(details(f"{counted(len(failures), 'fit')} that failed", items(failures)))
    return folds(*blocks)


def _ranking(head: Iterable[str], rows: Iterable[Iterable[str]], caption: str) -> Html:
    return element("div", table(head, rows, caption), class_="panel ranking")


def _most(champion: Champion) -> str:
    """The member that was champion in most folds."""
    names = champion.chosen
    name = max(sorted(set(names)), key=names.count)
    return f"champions, {'' if len(set(names)) == 1 else 'most often '}{name}"


def _counts(names: tuple[str, ...]) -> str:
    ordered = sorted(set(names), key=lambda name: (-names.count(name), name))
    return ", ".join(f"{name} {names.count(name)}×" for name in ordered)
