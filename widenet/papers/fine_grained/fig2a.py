"""Figure 2(a): test errors and the complexity (10) as labels of MNIST become random."""

from widenet.papers.fine_grained.generalisation import GeneralisationSettings, generalisation

FIG2A = generalisation(
    "fig2a",
    "mnist-2",
    "MNIST",
    {
        "quick": GeneralisationSettings(
            n=2000, net_n=200, num_test=500, m=1000, eta=0.05, steps=700, seeds=2
        ),
        "paper": GeneralisationSettings(seeds=2),
    },
)
