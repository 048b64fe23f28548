"""The mathematics behind each answer, as MathML, which browsers draw without help."""

from widenet.report.parts.formulas import NORM, formula, with_words
from widenet.report.parts.markup import element, join

H_INVERSE = "<msup><mi>H</mi><mrow><mo>−</mo><mn>1</mn></mrow></msup>"
A_INVERSE = H_INVERSE.replace("H", "A")
Y_C = "<msub><mi>y</mi><mi>c</mi></msub>"
ENERGY = f"<msubsup><mi>y</mi><mi>c</mi><mi>⊤</mi></msubsup>{H_INVERSE}{Y_C}"
DECAY = "<mo>(</mo><mn>1</mn><mo>−</mo><mi>η</mi><msub><mi>λ</mi><mi>i</mi></msub><mo>)</mo>"
PROJECTION = (
    "<msup><mrow><mo>(</mo><msubsup><mi>v</mi><mi>i</mi><mi>⊤</mi></msubsup><mi>y</mi><mo>)</mo></mrow>"
    "<mn>2</mn></msup>"
)
HALF = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
SUM_I = "<munder><mo>∑</mo><mi>i</mi></munder>"
SUM_C = "<munder><mo>∑</mo><mi>c</mi></munder>"

COMPLEXITY = with_words(
    "H is the kernel matrix of the n rows, and y with index c runs over the columns that are to be fitted: "
    "one column of ±1 for two classes, one per class for more, the targets for regression.",
    f"<msqrt><mfrac><mrow><mn>2</mn>{SUM_C}{ENERGY}</mrow><mi>n</mi></mfrac></msqrt>",
    "Gauss quadrature along a Lanczos run bounds it from below, Gauss–Radau quadrature from above. For "
    "random columns the sum is replaced by its expectation, estimated with random vectors. Rows that are one "
    "point count once, with the mean of their targets, because no function can tell them apart.",
)

ALIGNMENT = with_words(
    "The eigenvectors v of H with eigenvalues λ split the columns into parts. The chart adds up the parts on "
    "all eigenvalues of at least λ:",
    "<mfrac><mrow><munder><mo>∑</mo><mrow><msub><mi>λ</mi><mi>i</mi></msub><mo>≥</mo><mi>λ</mi></mrow></munder>"
    f"{PROJECTION}</mrow><msup><mrow>{NORM}<mi>y</mi>{NORM}</mrow><mn>2</mn></msup></mfrac>",
    "The dashed curve is the expectation for random ones.",
)

DESCENT = join(
    (
        element(
            "p",
            "After k steps of size η, the outputs u of a wide network have approached the columns at the "
            "rate of each eigenvalue (Theorem 4.1):",
        ),
        formula(
            f"{HALF}<msup><mrow>{NORM}<mi>y</mi><mo>−</mo><mi>u</mi><mo>(</mo><mi>k</mi><mo>)</mo>{NORM}</mrow>"
            f"<mn>2</mn></msup><mo>≈</mo>{HALF}{SUM_I}<msup><mrow>{DECAY}</mrow><mrow><mn>2</mn><mi>k</mi></mrow>"
            f"</msup>{PROJECTION}"
        ),
        element("p", "Meanwhile its weights W have moved by (Lemma 5.3)"),
        formula(
            f"{NORM}<mi>W</mi><mo>(</mo><mi>k</mi><mo>)</mo><mo>−</mo><mi>W</mi><mo>(</mo><mn>0</mn><mo>)</mo>"
            f"<msub>{NORM}<mi>F</mi></msub><mo>≈</mo><msqrt><mrow>{SUM_I}<mfrac><msup><mrow><mo>(</mo><mn>1</mn>"
            f"<mo>−</mo><msup><mrow>{DECAY}</mrow><mi>k</mi></msup><mo>)</mo></mrow><mn>2</mn></msup>"
            f"<msub><mi>λ</mi><mi>i</mi></msub></mfrac>{PROJECTION}</mrow></msqrt>"
        ),
        element(
            "p",
            "The worst case is a column that lies wholly on the eigenvector with the smallest eigenvalue. "
            "Where η exceeds 2/λ, for the largest λ, the first of the powers grows instead of shrinking.",
        ),
    )
)

LEFT_OUT = with_words(
    "Kernel regression on all rows but one predicts that one. With A the kernel matrix plus its ridge, "
    "no refitting is needed:",
    "<msub><mi>y</mi><mi>i</mi></msub><mo>−</mo><msub><mi>ŷ</mi><mi>i</mi></msub><mo>=</mo><mfrac>"
    f"<msub><mrow><mo>(</mo>{A_INVERSE}<mi>y</mi><mo>)</mo></mrow><mi>i</mi></msub>"
    f"<msub><mrow><mo>(</mo>{A_INVERSE}<mo>)</mo></mrow>"
    "<mrow><mi>i</mi><mi>i</mi></mrow></msub></mfrac>",
    "The squared error is summed over the columns and averaged over the rows.",
)
