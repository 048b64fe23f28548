"""What rounding in float64 does, as every certified number counts it.

Products of matrices are taken to be conventional: each entry is the sum of its products, in whatever order,
fused or not, as in every BLAS in use. Strassen's are not.
"""

UNIT = 2.0**-53  # u, the relative rounding of one operation
TINY = 2.0**-1022  # the least number with all its digits
LEAST = 2.0**-1074  # the least positive number: what underflow can lose in one operation
ROOT = 2.0**-511  # √TINY; added to norms, it covers what underflow took from their squares and products


def gamma(m: int) -> float:
    """γ_m = mu / (1 − mu), the relative error of m roundings one after the other [Higham 2002, Lemma 3.1].

    >>> gamma(1) > UNIT
    True
    """
    return m * UNIT / (1 - m * UNIT)
