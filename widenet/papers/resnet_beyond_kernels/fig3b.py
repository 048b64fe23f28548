"""Figure 3(b): H = βF + αG(F) for several β, hidden layers of the ResNet trained."""

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

TRAINED = "hidden"

FIG3B = Figure(
    paper="resnet-beyond-kernels",
    name="fig3b",
    title="How large F must be for αG(F) to be learned, hidden layers trained",
    place="Figure 3(b), section 8.1",
    scales={
        "quick": SensitivitySettings(
            n=1000, m=(50, 200), rates=(0.5, 0.2), decays=(0.002,), beta=(1.0, 0.5, 0.2), seeds=2
        ),
        "paper": SensitivitySettings(n=1000, rates=(1.0, 0.5, 0.2), decays=DECAYS),
    },
    axes=AXES,
    plan=plan(TRAINED),
    curves=curves(TRAINED),
    claims=claims(TRAINED),
    departures=DEPARTURES,
)
