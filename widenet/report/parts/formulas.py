"""Mathematics as MathML, which browsers draw without help."""

from widenet.report.parts.markup import Html, element, join

NORM = '<mo stretchy="false">‖</mo>'


def formula(mathml: str) -> Html:
    return element("div", Html(f'<math displaystyle="true">{mathml}</math>'), class_="formula")


def with_words(before: str, mathml: str, after: str) -> Html:
    return join((element("p", before), formula(mathml), element("p", after)))
