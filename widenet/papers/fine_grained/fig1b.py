"""Figure 1(b): eigenvalues of H∞ on MNIST, and how labels lie along its eigenvectors."""

from widenet.papers.figure import Figure
from widenet.papers.fine_grained.alignment import AXES, CLAIMS, DEPARTURES, AlignmentSettings, curves, plan

DATA = "mnist-2"

FIG1B = Figure(
    paper="fine-grained",
    name="fig1b",
    title="Eigenvalues of H∞ and projections of labels on its eigenvectors, MNIST",
    place="Figure 1(b), section 4",
    scales={"quick": AlignmentSettings(n=2000), "paper": AlignmentSettings()},
    axes=AXES,
    plan=plan(DATA),
    curves=curves,
    claims=CLAIMS,
    departures=DEPARTURES,
    needs=(DATA,),
)
