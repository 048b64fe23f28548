"""Figure 1(c): how fast descent fits true, random and worst-case labels of CIFAR."""

from widenet.papers.figure import Figure
from widenet.papers.fine_grained.convergence import (
    AXES,
    CLAIMS,
    DEPARTURES,
    ConvergenceSettings,
    curves,
    plan,
)

DATA = "cifar10-2"

FIG1C = Figure(
    paper="fine-grained",
    name="fig1c",
    title="Gradient descent on true, random and worst-case labels of CIFAR",
    place="Figure 1(c), section 4",
    scales={
        "quick": ConvergenceSettings(n=500, m=2000, eta=0.02, steps=200, seeds=2),
        "paper": ConvergenceSettings(steps=100, seeds=2),
    },
    axes=AXES,
    plan=plan(DATA),
    curves=curves,
    claims=CLAIMS,
    departures=(
        *DEPARTURES,
        "At the paper's step size, η λ_max(H∞) is about 3.4 on these images; beyond 2 the linear dynamics of "
        "Theorem 4.1 grow without bound, and its predictions end there.",
    ),
    needs=(DATA,),
)
