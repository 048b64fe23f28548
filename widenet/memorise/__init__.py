"""Memorise: a data set to weights that reproduce every target, and a certificate that anybody can check."""

from widenet.study.door import make_callable

make_callable(__name__)
