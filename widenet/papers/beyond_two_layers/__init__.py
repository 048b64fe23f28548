"""Figures of `beyond-two-layers`: what two and three layers learn of smooth functions."""
