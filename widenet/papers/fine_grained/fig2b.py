"""Figure 2(b): test errors and the complexity (10) as labels of CIFAR become random."""

from widenet.papers.fine_grained.generalisation import GeneralisationSettings, generalisation

FIG2B = generalisation(
    "fig2b",
    "cifar10-2",
    "CIFAR",
    {
        "quick": GeneralisationSettings(
            n=2000, net_n=200, num_test=500, m=1000, eta=0.05, steps=700, seeds=2
        ),
        "paper": GeneralisationSettings(seeds=2),
    },
)
