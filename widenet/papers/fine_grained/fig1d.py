"""Figure 1(d): eigenvalues of H∞ on CIFAR, and how labels lie along its eigenvectors."""

from widenet.papers.figure import Figure
from widenet.papers.fine_grained.alignment import AXES, CLAIMS, DEPARTURES, AlignmentSettings, curves, plan

DATA = "cifar10-2"

FIG1D = Figure(
    paper="fine-grained",
    name="fig1d",
    title="Eigenvalues of H∞ and projections of labels on its eigenvectors, CIFAR",
    place="Figure 1(d), section 4",
    scales={"quick": AlignmentSettings(n=2000), "paper": AlignmentSettings()},
    axes=AXES,
    plan=plan(DATA),
    curves=curves,
    claims=CLAIMS,
    departures=DEPARTURES,
    needs=(DATA,),
)
