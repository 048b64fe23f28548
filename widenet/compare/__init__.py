"""Compare: a data set to what networks, kernels and baselines make of it, and whether they differ."""
