"""Figure 4(b): the parity of six of d = 100 signs."""

from dataclasses import replace

from widenet.papers.figure import Figure
from widenet.papers.resnet_beyond_kernels.minimal_norm import (
    AXES,
    DEPARTURES,
    ParitySettings,
    claims,
    curves,
    plan,
)

LEAST_TEST_ERROR = 0.98
PAPER = ParitySettings(
    m=(200, 500),
    n=50_000,
    d=100,
    batch=100,
    decays=(0.0, 1e-5),
    epochs=200,
)

FIG4B = Figure(
    paper="resnet-beyond-kernels",
    name="fig4b",
    title="SGD against nets of small norm on the parity of six signs, d = 100 in the paper",
    place="Figure 4(b), section 8.2",
    scales={
        "quick": replace(PAPER, n=10_000, m=(200,), rates=(20.0, 10.0), epochs=40),
        "paper": PAPER,
    },
    axes=AXES,
    plan=plan,
    curves=curves,
    claims=claims(LEAST_TEST_ERROR),
    departures=(
        "The paper searches m up to 50,000, with the epochs of section 8.1, 800.",
        *DEPARTURES,
    ),
)
