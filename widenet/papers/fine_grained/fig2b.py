"""Figure 2(b): test errors and the complexity (10) as labels of CIFAR become random."""

from widenet.papers.figure import Figure
from widenet.papers.fine_grained.generalisation import (
    AXES,
    CLAIMS,
    DEPARTURES,
    GeneralisationSettings,
    curves,
    plan,
)

DATA = "cifar10-2"

FIG2B = Figure(
    paper="fine-grained",
    name="fig2b",
    title="Test errors and complexity against the portion of random labels, CIFAR",
    place="Figure 2(b), section 5",
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
