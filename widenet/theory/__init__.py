"""Theorems of four papers as numbers: complexities, bounds and what they require, a module each."""
