"""The mathematics behind each answer."""

from widenet.report.parts.formulas import formula, frac, root, sub, subsup, sum_over, sup, with_words

LAMBDA_I = sub("λ", "i")
ENERGY = (subsup("y", "c", "⊤"), sup("H", "− 1"), sub("y", "c"))
DECAY = ("( 1 − η", LAMBDA_I, ")")
PROJECTION = sup(("(", subsup("v", "i", "⊤"), "y )"), "2")
COVERED = frac(sup(("( 1 −", sup(DECAY, "k"), ")"), "2"), LAMBDA_I)
HALF = frac("1", "2")
A_INVERSE = sup("A", "− 1")
COEFFICIENT, PRECISION = sub(("(", A_INVERSE, "y )"), "i"), sub(("(", A_INVERSE, ")"), "i i")

COMPLEXITY = with_words(
    "H is the kernel matrix of the n rows, and y with index c runs over the columns that are to be fitted: "
    "one column of ±1 for two classes, one per class for more, the targets for regression.",
    formula(root(frac(("2", sum_over("c"), ENERGY), "n"))),
    "Gauss quadrature along a Lanczos run bounds it from below, Gauss–Radau quadrature from above. For "
    "shuffled labels the sum is replaced by its expectation over all orders of these labels, estimated with "
    "random vectors; its spread and the p-value come from shuffles. Rows at the same point count once, with "
    "the mean of their targets, because no function can tell them apart.",
)

ALIGNMENT = with_words(
    "The eigenvectors v of H with eigenvalues λ split the columns into parts. The chart adds up the parts on "
    "all eigenvalues of at least λ:",
    formula(frac((sum_over((LAMBDA_I, "≥ λ")), PROJECTION), sup("‖ y ‖", "2"))),
    "The dashed curve is the expectation for shuffled labels.",
)

DESCENT = with_words(
    "After k steps of size η, the outputs u of a wide network have approached the columns at the rate of "
    "each eigenvalue (Theorem 4.1):",
    formula(HALF, sup("‖ y − u ( k ) ‖", "2"), "≈", HALF, sum_over("i"), sup(DECAY, "2 k"), PROJECTION),
    "Meanwhile its weights W have moved by (Lemma 5.3)",
    formula("‖ W ( k ) − W ( 0 )", sub("‖", "F"), "≈", root((sum_over("i"), COVERED, PROJECTION))),
    "The worst case is a column that lies wholly on the eigenvector with the smallest eigenvalue. Where η "
    "exceeds 2/λ, for the largest λ, the first of the powers grows instead of shrinking.",
)

REAL_NETWORKS = with_words(
    "The prediction is for an infinitely wide network, every row in every step. At initial weights of size "
    "κ = 0.01 a real one is not lazy: its neurons move by many times their initial size, and the distance of "
    "its outputs from the labels leaves the prediction (by 11% in the case we measured, and by 0.4% at κ = 1 "
    "with neurons in pairs that cancel at the start). A step size fixed beforehand may be too large: "
    "η = 0.001 on the 10,000 images of cifar10-2 is beyond 2/λ, for the largest λ, and descent diverges. "
    "Minibatches, momentum, biases and a trained output layer make other networks still.",
)

LEFT_OUT = with_words(
    "Kernel regression on all rows but one predicts that one; rows with the same inputs go together. With A "
    "the kernel matrix plus its ridge, no refitting is needed:",
    formula(sub("y", "i"), "−", sub("ŷ", "i"), "=", frac(COEFFICIENT, PRECISION)),
    "The squared error is summed over the columns and averaged over the rows.",
)

LANDMARKS = with_words(
    "Some rows, drawn at random, stand for the others: each row is described by the kernel between it and "
    "these landmarks, and what that does not show of a row counts as noise of its own. A regression on this "
    "description sees all rows, and leaving one out is again in closed form. It sees less than the kernel "
    "does and mostly errs more.",
)
