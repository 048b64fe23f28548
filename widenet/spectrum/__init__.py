"""Spectrum: Gram operators and vectors -> measures, two-sided brackets, solves, traces."""

from widenet.spectrum.brackets import Bracket, bracket, inverse_bracket, residual_bracket
from widenet.spectrum.enclosure import Enclosure, complexity_ends, enclose, is_provable, proved_floor
from widenet.spectrum.floor import cholesky_floor, eigenvalue_floor
from widenet.spectrum.gram import DenseGram, Gram, TiledGram
from widenet.spectrum.lanczos import Krylov, SpectralMeasure, gauss_measure, lanczos, radau_measure
from widenet.spectrum.projections import LabelProjections, label_projections
from widenet.spectrum.solve import conjugate_gradients, nystrom_preconditioner
from widenet.spectrum.trace import hutchpp_trace, stochastic_logdet, stochastic_trace

__all__ = [
    "Bracket",
    "DenseGram",
    "Enclosure",
    "Gram",
    "Krylov",
    "LabelProjections",
    "SpectralMeasure",
    "TiledGram",
    "bracket",
    "cholesky_floor",
    "complexity_ends",
    "conjugate_gradients",
    "eigenvalue_floor",
    "enclose",
    "gauss_measure",
    "hutchpp_trace",
    "inverse_bracket",
    "is_provable",
    "label_projections",
    "lanczos",
    "nystrom_preconditioner",
    "proved_floor",
    "radau_measure",
    "residual_bracket",
    "stochastic_logdet",
    "stochastic_trace",
]
