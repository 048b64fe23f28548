"""An audit as one HTML page that opens offline."""

from widenet.audit.result import AuditResult
from widenet.base.wording import percent
from widenet.report.audit.charts import charts_of
from widenet.report.audit.review import first_rows, review_data
from widenet.report.audit.sections import sections
from widenet.report.audit.sentences import is_sound, outlying, sampled, soundness
from widenet.report.audit.verdicts import Card, verdicts
from widenet.report.audit.words import (
    has_gain,
    is_regression,
    spoken_error,
    told_curve,
    told_error,
    told_range,
)
from widenet.report.parts.columns import column_sentences
from widenet.report.parts.document import data_masthead, document, framed, resource
from widenet.report.parts.leaks import leak_sentences
from widenet.report.parts.markup import Html, element, join, paragraphs
from widenet.report.parts.quantities import literal
from widenet.report.parts.sketch import amount_sketch, curve_sketch

THEORY = (
    "Theorems and lemmas are those of “Fine-Grained Analysis of Optimization and Generalization for "
    "Overparameterized Two-Layer Neural Networks”. The numbers behind this page are in result.json."
)

SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)  # at which the drawing of wrong labels may end


def page(result: AuditResult) -> str:
    """The audit as a page: three verdicts, the first rows to look at, then everything behind them."""
    charts = charts_of(result)
    top = data_masthead("audit", result.data, numbers=_predicted(result))
    header = join(top, warnings(result), cards(result), _first_rows(result))
    content = framed(header, sections(result, charts), (THEORY, f"widenet {result.version}"))
    title = f"{literal(result.data.name)} · widenet audit"
    if not result.suspicious:
        return document(title, content, charts)
    return document(title, content, charts, {"rows": review_data(result)}, [resource("review.js", "audit")])


def _predicted(result: AuditResult) -> str:
    """What is to be predicted where that is a number."""
    return f"predicts {literal(result.data.target)}" if result.data.target else "a number to predict"


def warnings(result: AuditResult) -> Html:
    """What a person must know before any verdict: what is not used, rows that repeat; then what is wrong."""
    facts, told = column_sentences(result.data), [*leak_sentences(result.data), *outlying(result)]
    if result.soundness.conflicts:
        told.append(soundness(result)[0])
    elif not is_sound(result):
        facts = (*facts, soundness(result)[0])
    shown = paragraphs((*sampled(result), *facts), class_="facts")
    return join(shown, element("div", paragraphs(told), class_="warnings") if told else Html(""))


def cards(result: AuditResult) -> Html:
    """The three verdicts, each with a small drawing."""
    drawings = (labels_sketch(result), learnable_sketch(result), more_sketch(result))
    shown = (_card(*each) for each in zip(verdicts(result), drawings, (1, 2, 2), strict=True))
    return element("div", *shown, class_="cards")


def _card(verdict: Card, drawing: Html, ordinal: int) -> Html:
    title = element("a", verdict.title, href=f"#q{ordinal}")
    return element(
        "article",
        element("h2", title, class_="what"),
        element("p", verdict.headline, class_="headline"),
        drawing,
        paragraphs(verdict.beside),
    )


def _first_rows(result: AuditResult) -> Html:
    rows = first_rows(result)
    if not rows:
        return Html("")
    title = element("h2", "Look at these first", class_="what")
    note = element("p", "What was given → what the other rows suggest, and the rows nearest to it.")
    return element("div", title, note, rows, class_="look")


def labels_sketch(result: AuditResult) -> Html:
    """How many labels are wrong, or how much of the targets is noise."""
    noise = result.noise
    end = next(share for share in SHARES if share >= noise.high)
    value = noise.estimate if noise.decided else None
    what = "of the variance noise" if is_regression(result) else "of the labels wrong"
    told = f"{percent(noise.level)} interval: {percent(noise.low)} to {percent(noise.high)} {what}"
    return amount_sketch(value, noise.low, noise.high, end, ("none", f"{percent(end)} {what}"), told)


def learnable_sketch(result: AuditResult) -> Html:
    """The error between perfect and the best constant's."""
    known = told_error(result, result.judged)
    if known is None:
        return Html("")
    value, constant = known.value, spoken_error(result, known.constant)
    low, high = value - 2 * known.deviation, value + 2 * known.deviation
    told = f"{spoken_error(result, value)}, between 0 and {constant}"
    names = ("perfect", f"guessing: {constant}")
    if result.whole is None:
        return amount_sketch(value, low, high, known.constant, names, told)
    low, high = told_range(result, result.whole)
    told = f"{spoken_error(result, low)} to {spoken_error(result, high)}, between 0 and {constant}"
    return amount_sketch(None, low, high, known.constant, names, told)


def more_sketch(result: AuditResult) -> Html:
    """The learning curve, where there is a gain to follow."""
    curve = result.chosen.learning_curve
    if len(curve.n) < 2 or not has_gain(result):
        return Html("")
    told = told_curve(result, curve)
    words = f"Error from {spoken_error(result, told.middle[0])} to {spoken_error(result, told.middle[-1])}"
    return curve_sketch(curve.n, told.middle, told.low, told.high, sum(curve.measured), words)
