"""Arithmetic of power series that are cut after n terms: lists of numbers, index i belonging to z^i.

Every function is the recurrence that the function's differential equation gives, and skips zeros, so that a
polynomial argument costs n times its number of terms.
"""

from typing import TypeAlias

from widenet.theory.numbers import Number, mpf

Series: TypeAlias = list[Number]


def support(f: Series) -> list[tuple[int, Number]]:
    """The terms that are not zero."""
    return [(i, c) for i, c in enumerate(f) if c]


def product(f: Series, g: Series) -> Series:
    """As long as the shorter one."""
    n = min(len(f), len(g))
    few, many = sorted((support(f[:n]), support(g[:n])), key=len)
    result = [mpf(0)] * n
    for i, a in few:
        for j, b in many:
            if i + j >= n:
                break
            result[i + j] += a * b
    return result


def derivative(f: Series) -> Series:
    """One term shorter."""
    return [i * c for i, c in enumerate(f)][1:]


def integral(f: Series) -> Series:
    """From 0; one term longer."""
    return [mpf(0), *(c / (i + 1) for i, c in enumerate(f))]


def exponential(u: Series) -> Series:
    """exp(u) for u(0) = 0: E' = u' E."""
    slopes = [(k, k * c) for k, c in support(u)]
    E = [mpf(1)]
    for i in range(1, len(u)):
        E.append(sum((c * E[i - k] for k, c in slopes if k <= i), mpf(0)) / i)
    return E


def sine_cosine(u: Series, sign: int) -> tuple[Series, Series]:
    """(sin u, cos u) for sign −1 and (sinh u, cosh u) for sign +1, u(0) = 0: S' = u' C, C' = sign u' S."""
    slopes = [(k, k * c) for k, c in support(u)]
    S, C = [mpf(0)], [mpf(1)]
    for i in range(1, len(u)):
        S.append(sum((c * C[i - k] for k, c in slopes if k <= i), mpf(0)) / i)
        C.append(sign * sum((c * S[i - k] for k, c in slopes if k <= i), mpf(0)) / i)
    return S, C


def tangent(u: Series, sign: int) -> Series:
    """Tan u for sign +1 and tanh u for sign −1, u(0) = 0: T' = (1 + sign T²) u'."""
    slopes = [(k, k * c) for k, c in support(u)]
    T, Q = [mpf(0)], [mpf(1)]  # Q = 1 + sign T²
    for i in range(1, len(u)):
        T.append(sum((c * Q[i - k] for k, c in slopes if k <= i), mpf(0)) / i)
        Q.append(sign * sum((T[j] * T[i - j] for j in range(1, i) if T[j] and T[i - j]), mpf(0)))
    return T


def power(u: Series, a: Number) -> Series:
    """(1 + u)^a for u(0) = 0: (1 + u) P' = a u' P."""
    terms = support(u)
    P = [mpf(1)]
    for i in range(1, len(u)):
        P.append(sum(((a * k - (i - k)) * c * P[i - k] for k, c in terms if k <= i), mpf(0)) / i)
    return P
