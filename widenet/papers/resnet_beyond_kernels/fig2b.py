"""Figure 2(b): hidden layers trained, against kernels, from N = 1000 samples."""

from widenet.papers.figure import Figure
from widenet.papers.resnet_beyond_kernels.comparison import (
    AXES,
    DEPARTURES,
    CubeComparison,
    claims,
    curves,
    plan,
)
from widenet.papers.resnet_beyond_kernels.learning import DECAYS

TRAINED = "hidden"

FIG2B = Figure(
    paper="resnet-beyond-kernels",
    name="fig2b",
    title="Networks with hidden layers trained against kernels",
    place="Figure 2(b), section 8.1",
    scales={
        "quick": CubeComparison(
            d=20,
            n=500,
            m=(100, 200),
            rates=(0.5, 0.2),
            decays=(0.002, 0.001),
            kernel_m=(100,),
            kernel_decays=(1e-5, 1e-3, 1e-2, 0.1, 1.0),
            seeds=2,
        ),
        "paper": CubeComparison(
            n=1000,
            rates=(0.5, 0.2, 0.1),
            decays=DECAYS,
            kernel_m=(100, 1000),
        ),
    },
    axes=AXES,
    plan=plan(TRAINED),
    curves=curves(TRAINED),
    claims=claims(TRAINED),
    departures=DEPARTURES,
)
