"""Figure 1(a): how fast descent fits true, random and worst-case labels of MNIST."""

from widenet.papers.fine_grained.convergence import ConvergenceSettings, convergence

FIG1A = convergence(
    "fig1a",
    "mnist-2",
    "MNIST",
    {
        "quick": ConvergenceSettings(n=500, m=2000, eta=(0.02,), steps=200, seeds=2),
        "paper": ConvergenceSettings(seeds=2),
    },
)
