"""Figure 1(d): eigenvalues of H∞ on CIFAR, and how labels lie along its eigenvectors."""

from widenet.papers.fine_grained.alignment import AlignmentSettings, alignment

FIG1D = alignment(
    "fig1d",
    "cifar10-2",
    "CIFAR",
    {"quick": AlignmentSettings(n=2000), "paper": AlignmentSettings()},
)
