"""Spectrum: Gram operators and vectors -> measures, two-sided brackets, solves, traces."""

from widenet.spectrum.brackets import Bracket, bracket, inverse_bracket
from widenet.spectrum.floor import cholesky_floor, eigenvalue_floor
from widenet.spectrum.gram import DenseGram, Gram, TiledGram
from widenet.spectrum.lanczos import Krylov, SpectralMeasure, gauss_measure, lanczos, radau_measure
from widenet.spectrum.solve import conjugate_gradients, nystrom_preconditioner
from widenet.spectrum.trace import hutchpp_trace, stochastic_logdet, stochastic_trace

__all__ = [
    "Bracket",
    "DenseGram",
    "Gram",
    "Krylov",
    "SpectralMeasure",
    "TiledGram",
    "bracket",
    "cholesky_floor",
    "conjugate_gradients",
    "eigenvalue_floor",
    "gauss_measure",
    "hutchpp_trace",
    "inverse_bracket",
    "lanczos",
    "nystrom_preconditioner",
    "radau_measure",
    "stochastic_logdet",
    "stochastic_trace",
]
