"""Audit: a data set to everything that can be said of it before training."""

from widenet.study.door import make_callable

make_callable(__name__)
