"""The mathematics behind a certificate."""

from widenet.report.parts.formulas import formula, frac, sub, subsup, sum_over, sum_to, sup, with_words

SUM_J = sum_to("j = 1", "n")
SQUARES = sup(("(", subsup("w", "i", "⊤"), "z )"), "2")
SIGMA = sub("σ", "min")
FIRST, LAST = sub("z", "1"), sub("z", "n")

NETWORK = with_words(
    "The network has r neurons with squares as activations. Only their weights w are trained.",
    formula("ŷ ( z ) =", sum_over("i ≤ r / 2"), SQUARES, "−", sum_over("i > r / 2"), SQUARES),
    "With two layers z is the row x itself. With three it is what a random layer R makes of it, (Rx) to the "
    "power p in each coordinate; rows of R have norm √d, or are N(0, I) as in the paper. The loss is that of "
    "the residuals δ = ŷ − y:",
    formula("f ( W ) =", frac("1", "4 n"), SUM_J, subsup("δ", "j", "2")),
)

LANDSCAPE = with_words(
    "One matrix shows how flat the loss is and how low it must be:",
    formula("M =", frac("1", "n"), SUM_J, sub("δ", "j"), sub("z", "j"), subsup("z", "j", "⊤")),
    "With at least 2k + 2 neurons, the least eigenvalue of the Hessian is (Lemma 3)",
    formula(sub("λ", "min"), "(", sup("∇", "2"), "f ( W ) ) = − ‖ M ‖"),
    "and the loss is bounded by (Lemma 4)",
    formula("f ( W ) ≤", frac(("n k", sup("‖ M ‖", "2")), ("4", subsup("σ", "min", "2")))),
    "So a point from which no direction leads down fits every row: all local minima are global.",
)

CONDITION = with_words(
    "The lemmas need rows that are different enough, as measured by the smallest singular value",
    formula(SIGMA, "=", SIGMA, "[", FIRST, "⊗", FIRST, ", … ,", LAST, "⊗", LAST, "]"),
    "Its square is the smallest eigenvalue of the matrix of squared inner products. That it is at least the "
    "proved value follows from a Cholesky factorisation that ran to its end, with a bound on all rounding in "
    "it. Rows that are the same up to sign count once.",
)
