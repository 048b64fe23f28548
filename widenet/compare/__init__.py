"""Compare: a data set to what networks, kernels and baselines make of it, and whether they differ."""

from widenet.compare.result import ComparisonResult
from widenet.compare.run import CompareSettings, run_comparison

__all__ = ["CompareSettings", "ComparisonResult", "run_comparison"]
