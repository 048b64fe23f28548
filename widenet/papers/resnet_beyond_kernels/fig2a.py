"""Figure 2(a): all layers trained, against kernels, from N = 500 samples."""

from widenet.papers.figure import Figure
from widenet.papers.resnet_beyond_kernels.comparison import (
    AXES,
    DEPARTURES,
    CubeComparison,
    claims,
    curves,
    plan,
)

TRAINED = "all"

FIG2A = Figure(
    paper="resnet-beyond-kernels",
    name="fig2a",
    title="Networks with all layers trained against kernels",
    place="Figure 2(a), section 8.1",
    scales={
        "quick": CubeComparison(
            d=20,
            n=350,
            m=(50, 100),
            rates=(0.1, 0.05),
            decays=(0.01, 0.005, 0.002),
            kernel_m=(100,),
        ),
        "paper": CubeComparison(decays=(0.01, 0.005, 0.002)),
    },
    axes=AXES,
    plan=plan(TRAINED),
    curves=curves(TRAINED),
    claims=claims(TRAINED),
    departures=DEPARTURES,
)
