"""Theorems of `beyond-two-layers`: two and three layers, and the construction of Lemma 6.3."""
