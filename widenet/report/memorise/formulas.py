"""The mathematics behind a certificate, as MathML."""

from widenet.report.parts.formulas import NORM, formula
from widenet.report.parts.markup import element, join

SUM_J = "<munderover><mo>∑</mo><mrow><mi>j</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>"
Z_J = "<msub><mi>z</mi><mi>j</mi></msub>"
DELTA_J = "<msub><mi>δ</mi><mi>j</mi></msub>"
M_NORM = f"{NORM}<mi>M</mi>{NORM}"
SIGMA = "<msub><mi>σ</mi><mi>min</mi></msub>"

NETWORK = join(
    (
        element(
            "p", "The network has r neurons with squares as activations. Only their weights w are trained."
        ),
        formula(
            "<mi>ŷ</mi><mo>(</mo><mi>z</mi><mo>)</mo><mo>=</mo><munder><mo>∑</mo><mrow><mi>i</mi><mo>≤</mo><mi>r</mi>"
            "<mo>/</mo><mn>2</mn></mrow></munder><msup><mrow><mo>(</mo><msubsup><mi>w</mi><mi>i</mi><mi>⊤</mi></msubsup>"
            "<mi>z</mi><mo>)</mo></mrow><mn>2</mn></msup><mo>−</mo><munder><mo>∑</mo><mrow><mi>i</mi><mo>&gt;</mo>"
            "<mi>r</mi><mo>/</mo><mn>2</mn></mrow></munder><msup><mrow><mo>(</mo><msubsup><mi>w</mi><mi>i</mi><mi>⊤</mi>"
            "</msubsup><mi>z</mi><mo>)</mo></mrow><mn>2</mn></msup>"
        ),
        element(
            "p",
            "With two layers z is the row x itself. With three it is what a random layer R makes of it, (Rx) "
            "to the power p in each coordinate. The loss is that of the residuals δ = ŷ − y:",
        ),
        formula(
            "<mi>f</mi><mo>(</mo><mi>W</mi><mo>)</mo><mo>=</mo><mfrac><mn>1</mn><mrow><mn>4</mn><mi>n</mi></mrow></mfrac>"
            f"{SUM_J}<msubsup><mi>δ</mi><mi>j</mi><mn>2</mn></msubsup>"
        ),
    )
)

LANDSCAPE = join(
    (
        element("p", "One matrix tells how flat the loss is and how low it must be:"),
        formula(
            f"<mi>M</mi><mo>=</mo><mfrac><mn>1</mn><mi>n</mi></mfrac>{SUM_J}{DELTA_J}{Z_J}"
            "<msubsup><mi>z</mi><mi>j</mi><mi>⊤</mi></msubsup>"
        ),
        element("p", "With at least 2k + 2 neurons, the least eigenvalue of the Hessian is (Lemma 3)"),
        formula(
            "<msub><mi>λ</mi><mi>min</mi></msub><mo>(</mo><msup><mo>∇</mo><mn>2</mn></msup><mi>f</mi><mo>(</mo><mi>W</mi>"
            f"<mo>)</mo><mo>)</mo><mo>=</mo><mo>−</mo>{M_NORM}"
        ),
        element("p", "and the loss is bounded by (Lemma 4)"),
        formula(
            f"<mi>f</mi><mo>(</mo><mi>W</mi><mo>)</mo><mo>≤</mo><mfrac><mrow><mi>n</mi><mi>k</mi><msup><mrow>{M_NORM}"
            "</mrow><mn>2</mn></msup></mrow><mrow><mn>4</mn><msubsup><mi>σ</mi><mi>min</mi><mn>2</mn></msubsup></mrow>"
            "</mfrac>"
        ),
        element(
            "p", "So a point from which no direction leads down fits every row: all local minima are global."
        ),
    )
)

CONDITION = join(
    (
        element(
            "p", "The lemmas rest on rows that are different enough, through the smallest singular value"
        ),
        formula(
            f"{SIGMA}<mo>=</mo>{SIGMA}<mo>[</mo><msub><mi>z</mi><mn>1</mn></msub><mo>⊗</mo><msub><mi>z</mi><mn>1</mn></msub>"
            "<mo>,</mo><mo>…</mo><mo>,</mo><msub><mi>z</mi><mi>n</mi></msub><mo>⊗</mo><msub><mi>z</mi><mi>n</mi></msub><mo>]</mo>"
        ),
        element(
            "p",
            "Its square is the smallest eigenvalue of the matrix of squared inner products. That it is at "
            "least the proved value follows from a Cholesky factorisation that ran to its end, with a bound "
            "on all rounding in it. Rows that are the same up to sign count once.",
        ),
    )
)
