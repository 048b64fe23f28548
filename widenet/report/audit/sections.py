"""The answers as HTML: sentences first, then charts and rows, then what unfolds on demand."""

from collections.abc import Sequence
from pathlib import PurePath

from widenet.audit.findings import Held
from widenet.audit.result import NUM_REVIEWED, AuditResult
from widenet.audit.settings import DEFAULT_KERNEL
from widenet.base.wording import counted, number, percent
from widenet.report.audit.formulas import (
    ALIGNMENT,
    COMPLEXITY,
    DESCENT,
    LANDMARKS,
    LEFT_OUT,
    REAL_NETWORKS,
)
from widenet.report.audit.review import review_table
from widenet.report.audit.sentences import answers, questions
from widenet.report.audit.words import is_regression, targets_word, who_errs
from widenet.report.parts.markup import Html, details, element, join, paragraphs, table
from widenet.report.parts.plots import Chart
from widenet.report.parts.quantities import literal, rounded_down, row_list
from widenet.report.parts.sections import (
    MOST_LISTED,
    cost_panel,
    figure,
    folds,
    items,
    section,
    side_by_side,
    what_was_read,
)

CLASS_SCORE = "the score is the estimated probability that the label is wrong."
TARGET_SCORE = (
    "the score is the distance from the prediction in standard deviations, which are judged by the median "
    "row, so that a few outliers do not widen them."
)
CLASS_NOISE = (
    "Its upper end is the upper limit of the share of labels that the other rows contradict, or that the "
    "best constant does if these are fewer: it assumes that nowhere do wrong labels outnumber right ones. "
    "Its lower end is the contradiction that does not fade where the other rows are most sure: classes that "
    "overlap do so less there, wrong labels do not. Whether classes overlap evenly, or follow a pattern that "
    "the kernel misses, or are mislabelled instead, no method can tell."
)
TARGET_NOISE = (
    "Its upper end is what the other rows leave unexplained of the targets' variance. Its lower end comes "
    "from ten or more rows that repeat another, as if the noise were normal, and counts all others as free "
    "of it; without those it is 0, because what looks like noise may be a pattern that the kernel misses."
)


def sections(result: AuditResult, charts: dict[str, Chart]) -> list[Html]:
    """The questions with their answers."""
    shown = {name: figure(chart) for name, chart in charts.items()}
    with_charts = (wrong_body, learnable_body, descent_body)
    bodies = (*(body(result, shown) for body in with_charts), sound_body(result), theory_body(result, shown))
    told = zip(questions(result), answers(result), bodies, strict=True)
    return [section(ordinal, *each) for ordinal, each in enumerate(told, start=1)]


def wrong_body(result: AuditResult, shown: dict[str, Html]) -> Html:
    """The rows to look at, the score of every row, and how both are found."""
    noise, by = result.noise, "" if result.whole is None else f"{who_errs(result)} of "
    how = (
        f"Each row's {targets_word(result)[:-1]} is compared with what the other rows predict for it, by "
        f"{by}kernel {noise.kernel} with ridge {number(noise.ridge)}. Disagreeing with a confident "
        f"prediction scores high: {TARGET_SCORE if is_regression(result) else CLASS_SCORE}"
    )
    assumed = TARGET_NOISE if is_regression(result) else CLASS_NOISE
    return join(
        review_panel(result),
        side_by_side(shown, "scores"),
        folds(
            details("How rows are scored", element("p", how)),
            details("What the interval of the noise assumes", element("p", assumed)),
        ),
    )


def review_panel(result: AuditResult) -> Html:
    """The rows that contradict their label, if there are any."""
    num = len(result.suspicious)
    if not num:
        return Html("")
    first = f"The first {NUM_REVIEWED} of {num:,}. " if num > NUM_REVIEWED else ""
    file = literal(PurePath(result.labels_file).name) if result.labels_file else ""
    where = f"All {len(result.ranking):,} rows are ranked in {file}." if file else ""
    what = "are far from their prediction" if is_regression(result) else "contradict their label"
    title = element("h3", f"Rows that {what}")
    note = element("p", f"{first}{where}", class_="note") if first or where else Html("")
    return element("div", title, note, review_table(result), class_="panel review")


def learnable_body(result: AuditResult, shown: dict[str, Html]) -> Html:
    """The learning curve, and how rows are left out."""
    curve = side_by_side(shown, "learning")
    return join(
        curve or element("p", "There are too few rows for a learning curve.", class_="note"),
        folds(details("How rows are left out", LEFT_OUT), *_by_landmarks(result)),
    )


def _by_landmarks(result: AuditResult) -> list[Html]:
    if (whole := result.whole) is None:
        return []
    missed = f"Of the kernel's variance the landmarks miss {percent(whole.missed)} in the mean."
    return [details("How all rows are judged by landmarks", LANDMARKS, element("p", missed))]


def descent_body(result: AuditResult, shown: dict[str, Html]) -> Html:
    """The network that was trained, if one was, the predicted curve, and the steps it takes."""
    curve, word = result.curve, targets_word(result)
    rows, unknown, last = [], curve.worst_loss is None, curve.steps[-1] if curve.steps else 0
    for target in curve.steps_to:
        worst = "not known" if unknown else _steps(target.worst, last)
        rows.append((percent(target.share), _steps(target.labels, last), _steps(target.random, last), worst))
    head = ("loss left", f"these {word}", f"shuffled {word}", "worst case")
    steps = table(head, rows, "Steps until the loss falls to a share of its initial value")
    why = "The worst case is not drawn, because the smallest eigenvalue is not known."
    none = "No network was trained. `train` trains one and draws it beside its prediction."
    notes = [*([why] if unknown else []), *([none] if curve.trained is None else [])]
    beside = element("div", steps, paragraphs(notes, class_="note"), class_="panel")
    return join(
        side_by_side(shown, "trained"),
        element("div", shown.get("descent", Html("")), beside, class_="charts uneven"),
        folds(
            details("How the loss is predicted without training", DESCENT),
            details("How real networks differ", REAL_NETWORKS),
        ),
    )


def sound_body(result: AuditResult) -> Html:
    """Class sizes, what was read, and the rows in doubt."""
    found, word = result.soundness, targets_word(result)
    balance = class_balance(result) if result.data.classes else Html("")
    lists = [
        group_list(f"Identical rows with conflicting {word}", found.conflicts),
        group_list("Rows with the same inputs", found.duplicates),
        group_list("Rows that point in opposite directions", found.opposites),
    ]
    return join(balance, folds(what_was_read(result.data), *(block for block in lists if block)))


def class_balance(result: AuditResult) -> Html:
    """Rows of each class, as bars."""
    data = result.data
    shown, largest = list(zip(data.class_counts, data.classes, strict=True)), max(1, *data.class_counts)
    if len(shown) > MOST_LISTED:
        shown = sorted(shown, key=lambda pair: -pair[0])[:MOST_LISTED]
    cells = []
    for count, name in shown:
        bar = element("div", class_="bar", style=f"width:{100 * count / largest:.1f}%")
        cells += [element("dt", literal(name, longest=40)), element("dd", bar)]
        cells += [element("dd", f"{count:,}", class_="count")]
    cut = f", the {MOST_LISTED} largest of {len(data.classes):,}" if len(data.classes) > MOST_LISTED else ""
    title = element("h3", f"Rows of each class{cut}")
    return element("div", title, element("dl", *cells, class_="balance"), class_="panel")


def group_list(title: str, groups: Sequence[tuple[int, ...]]) -> Html:
    """Groups of rows by number, the first ones; nothing where there are none."""
    if not groups:
        return Html("")
    told = [f"rows {row_list(group, MOST_LISTED)}" for group in groups]
    return details(f"{title} ({len(groups):,})", items(told))


def theory_body(result: AuditResult, shown: dict[str, Html]) -> Html:
    """Complexity, spectrum, the error without a ridge, the bound term by term, and what it cost."""
    spectrum, floor = result.spectrum, "has no proved bound"
    if (certified := spectrum.eigenvalue_min_certified) is not None:
        how = "is proved to be" if result.kernel == DEFAULT_KERNEL else "is, up to rounding,"
        floor = f"{how} at least {rounded_down(certified)}"
    ends = (
        f"The kernel matrix's largest eigenvalue is {number(spectrum.eigenvalue_max)}; its smallest {floor}. "
        f"This took {counted(result.complexity.num_matvecs, 'product')} with the matrix of {result.kernel}."
    )
    return join(
        side_by_side(shown, "complexity", "classes", "alignment", "interpolating"),
        folds(
            details("How the complexity is defined and bounded", COMPLEXITY, element("p", ends)),
            details("What the energy along the spectrum is", ALIGNMENT),
            *_bound_terms(result),
            details("What it cost", cost_body(result)),
        ),
    )


def _bound_terms(result: AuditResult) -> list[Html]:
    bound = result.bound
    rows = [(literal(name), number(value)) for name, value in bound.terms.items()]
    caption = f"Its terms, for a failure probability of {percent(bound.delta)}"
    terms = table(("term", "value"), rows, caption)
    return [details("The bound of Theorem 5.1, term by term", terms)] if rows else []


def cost_body(result: AuditResult) -> Html:
    """What was forecast, and what it took."""
    gram = {
        Held.DENSE: "held whole",
        Held.PACKED: "held by half",
        Held.TILED: "recomputed where it does not fit",
        Held.WORKERS: "held by workers",
    }
    return cost_panel(
        result.forecast,
        result.seconds,
        "Forecast before the audit, and what it took",
        ("kernel matrix", gram[result.gram.held]),
        ("products with it", f"{result.complexity.num_matvecs:,}"),
    )


def _steps(steps: int | None, last: int) -> str:
    return f"> {last:,}" if steps is None else f"{steps:,}"
