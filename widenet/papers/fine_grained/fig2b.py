"""Figure 2(b): test errors and the complexity (10) as labels of CIFAR become random."""

from dataclasses import replace

from widenet.papers.fine_grained.generalisation import SMALL, GeneralisationSettings, generalisation

FIG2B = generalisation(
    "fig2b",
    "cifar10-2",
    "CIFAR",
    {"quick": replace(SMALL, eta=0.015), "paper": GeneralisationSettings(eta=5e-4, steps=60)},
    "The paper's step size is 0.001, at which η λ_max(H∞) is about 3.4 on these images; beyond 2 the linear "
    "dynamics of Theorem 4.1 grow without bound.",
)
