"""Figure 3(a): H = βF + αG(F) for several β, all layers of the ResNet trained."""

from widenet.papers.figure import Figure
from widenet.papers.resnet_beyond_kernels.learning import DECAYS
from widenet.papers.resnet_beyond_kernels.sensitivity import (
    AXES,
    DEPARTURES,
    SensitivitySettings,
    claims,
    curves,
    plan,
)

TRAINED = "all"

FIG3A = Figure(
    paper="resnet-beyond-kernels",
    name="fig3a",
    title="How large F must be for αG(F) to be learned, all layers trained",
    place="Figure 3(a), section 8.1",
    scales={
        "quick": SensitivitySettings(
            n=500, m=(50, 100), rates=(0.1,), decays=(0.005, 0.002), beta=(1.0, 0.5, 0.2)
        ),
        "paper": SensitivitySettings(n=500, rates=(0.2, 0.1, 0.05), decays=DECAYS),
    },
    axes=AXES,
    plan=plan(TRAINED),
    curves=curves(TRAINED),
    claims=claims(TRAINED),
    departures=DEPARTURES,
)
