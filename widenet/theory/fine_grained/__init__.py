"""Theorems of `fine-grained`: training and generalisation of wide two-layer networks."""
