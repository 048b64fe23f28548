"""Compare: a data set to what networks, kernels and baselines make of it, and whether they differ."""

from widenet.study.door import make_callable

make_callable(__name__)
