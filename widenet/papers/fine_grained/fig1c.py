"""Figure 1(c): how fast descent fits true, random and worst-case labels of CIFAR."""

from widenet.papers.fine_grained.convergence import ConvergenceSettings, convergence

FIG1C = convergence(
    "fig1c",
    "cifar10-2",
    "CIFAR",
    {
        "quick": ConvergenceSettings(n=500, m=2000, eta=(0.02, 0.006), steps=100, seeds=2),
        "paper": ConvergenceSettings(eta=(1e-3, 3e-4), steps=30, seeds=2),
    },
    "At the paper's step size, η λ_max(H∞) is about 3.4 on these images; beyond 2 the linear dynamics of "
    "Theorem 4.1 grow without bound, and its predictions end there. Lines of dashes and dots have a smaller "
    "step size, at which they converge; dotted ones are its predictions.",
)
