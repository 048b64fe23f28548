"""Figure 2(a): test errors and the complexity (10) as labels of MNIST become random."""

from widenet.papers.figure import Figure
from widenet.papers.fine_grained.generalisation import (
    AXES,
    CLAIMS,
    DEPARTURES,
    GeneralisationSettings,
    curves,
    plan,
)

DATA = "mnist-2"

FIG2A = Figure(
    paper="fine-grained",
    name="fig2a",
    title="Test errors and complexity against the portion of random labels, MNIST",
    place="Figure 2(a), section 5",
    scales={
        "quick": GeneralisationSettings(
            n=2000, net_n=200, num_test=500, m=1000, eta=0.05, steps=700, seeds=2
        ),
        "paper": GeneralisationSettings(seeds=2),
    },
    axes=AXES,
    plan=plan(DATA),
    curves=curves,
    claims=CLAIMS,
    departures=DEPARTURES,
    needs=(DATA,),
)
