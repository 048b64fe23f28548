"""Figure 1(b): eigenvalues of H∞ on MNIST, and how labels lie along its eigenvectors."""

from widenet.papers.fine_grained.alignment import AlignmentSettings, alignment

FIG1B = alignment(
    "fig1b",
    "mnist-2",
    "MNIST",
    {"quick": AlignmentSettings(n=2000), "paper": AlignmentSettings()},
)
