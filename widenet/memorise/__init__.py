"""Memorise: a data set to weights that reproduce every target, and a certificate that anybody can check."""
