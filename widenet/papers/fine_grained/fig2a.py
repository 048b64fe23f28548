"""Figure 2(a): test errors and the complexity (10) as labels of MNIST become random."""

from dataclasses import replace

from widenet.papers.fine_grained.generalisation import SMALL, GeneralisationSettings, generalisation

FIG2A = generalisation(
    "fig2a", "mnist-2", "MNIST", {"quick": replace(SMALL, eta=0.03), "paper": GeneralisationSettings()}
)
