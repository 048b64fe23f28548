"""Figure 1(a): how fast descent fits true, random and worst-case labels of MNIST."""

from widenet.papers.figure import Figure
from widenet.papers.fine_grained.convergence import (
    AXES,
    CLAIMS,
    DEPARTURES,
    ConvergenceSettings,
    curves,
    plan,
)

DATA = "mnist-2"

FIG1A = Figure(
    paper="fine-grained",
    name="fig1a",
    title="Gradient descent on true, random and worst-case labels of MNIST",
    place="Figure 1(a), section 4",
    scales={
        "quick": ConvergenceSettings(n=500, m=2000, eta=0.02, steps=200, seeds=2),
        "paper": ConvergenceSettings(),
    },
    axes=AXES,
    plan=plan(DATA),
    curves=curves,
    claims=CLAIMS,
    departures=DEPARTURES,
    needs=(DATA,),
)
