"""Theorems of `mild-memorisation`: landscape, perturbed descent, and the random layer."""
