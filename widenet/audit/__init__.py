"""Audit: a data set to everything that can be said of it before training."""
