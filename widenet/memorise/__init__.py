"""Memorise: a data set -> a network that fits it exactly, and a certificate."""
