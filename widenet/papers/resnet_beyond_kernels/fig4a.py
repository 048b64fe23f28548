"""Figure 4(a): the parity of six of d = 40 signs."""

from widenet.papers.figure import Figure
from widenet.papers.resnet_beyond_kernels.minimal_norm import (
    AXES,
    DEPARTURES,
    ParitySettings,
    claims,
    curves,
    plan,
)

LEAST_TEST_ERROR = 0.69

FIG4A = Figure(
    paper="resnet-beyond-kernels",
    name="fig4a",
    title="SGD against nets of small norm on the parity of six signs, d = 40 in the paper",
    place="Figure 4(a), printed as Figure 1 as well, section 8.2",
    scales={
        "quick": ParitySettings(m=(200, 500), decays=(0.0, 1e-5, 5e-5), epochs=100),
        "paper": ParitySettings(),
    },
    axes=AXES,
    plan=plan,
    curves=curves,
    claims=claims(LEAST_TEST_ERROR),
    departures=(
        "The paper searches m up to 100,000.",
        *DEPARTURES,
    ),
)
