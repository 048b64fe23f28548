"""Kernels: layers, X, Z -> values of NTK, NNGP and classical kernels, tile by tile."""

from widenet.kernels.classical import Arcsin, Gaussian, Laplacian, Polynomial, RandomFeatures, Recursive
from widenet.kernels.kernel import Kernel
from widenet.kernels.layers import Dense, Erf, Relu, Residual
from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.kernels.names import kernel_by_name, kernel_names
from widenet.kernels.networks import ResNet3, Serial

__all__ = [
    "Arcsin",
    "Dense",
    "Erf",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Polynomial",
    "RandomFeatures",
    "Recursive",
    "Relu",
    "ResNet3",
    "Residual",
    "Serial",
    "cross_matrix",
    "gram_matrix",
    "kernel_by_name",
    "kernel_names",
]
