"""Lemmas of `mild-memorisation` on symmetric tensors and their polynomials: 6, 7, 9 and 10.

A symmetric tensor M of order p on d dimensions is Σ_i c_i s_i over multi-indices i with |i| = p, where s_i
has a 1 at each of its p!/Π i_j! places. ‖M‖_rv is the norm of the c_i, ‖M‖² = Σ c_i² p!/Π i_j!, and the
polynomial ⟨M, x^{⊗p}⟩ has the coefficients c_i p!/Π i_j!. Its variance is known exactly from its Hermite
expansion, with xⁿ = Σ_k n!/(2^k k! (n−2k)!) h_{n−2k}(x) and E[h_n²] = n!.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping

import torch

from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.mild_memorisation.random_layer import symmetric_dimension
from widenet.theory.mild_memorisation.symbols import MILD_MEMORISATION
from widenet.theory.numbers import context, mpf
from widenet.theory.stated import Found, entries
from widenet.theory.work import require_work

Index = tuple[int, ...]
Polynomial = Mapping[Index, float]  # coefficients of Π x_j^{i_j}, by i
SEED = Argument("seed of what is drawn", low=0, high=2**63 - 1)


def multi_indices(d: int, p: int) -> Iterator[Index]:
    """All i of d whole numbers ≥ 0 with sum p.

    >>> list(multi_indices(2, 2))
    [(2, 0), (1, 1), (0, 2)]
    """
    for chosen in itertools.combinations_with_replacement(range(d), p):
        yield tuple(chosen.count(j) for j in range(d))


def num_places(i: Index) -> int:
    """p!/Π i_j!, the number of entries of a tensor that one reduced coordinate stands for."""
    return math.factorial(sum(i)) // math.prod(math.factorial(each) for each in i)


def most_places(d: int, p: int) -> int:
    """The largest p!/Π i_j!: that of the most even i, p! where d ≥ p."""
    if d >= p:
        return math.factorial(p)
    whole, rest = divmod(p, d)
    return num_places((whole + 1,) * rest + (whole,) * (d - rest))


def shifted(f: Polynomial, x0: tuple[float, ...]) -> dict[Index, float]:
    """The polynomial f(x0 + x) in x."""
    found: dict[Index, float] = defaultdict(float)
    for i, c in f.items():
        for kept in itertools.product(*(range(each + 1) for each in i)):
            parts = (math.comb(n, m) * z ** (n - m) for n, m, z in zip(i, kept, x0, strict=True))
            found[kept] += c * math.prod(parts)
    return found


def gaussian_variance(f: Polynomial) -> float:
    """Var f(x) for x ~ N(0, I): the squares of its Hermite coefficients but the first."""
    found: dict[Index, float] = defaultdict(float)
    for i, c in f.items():
        for pairs in itertools.product(*(range(each // 2 + 1) for each in i)):
            order = tuple(n - 2 * k for n, k in zip(i, pairs, strict=True))
            parts = (
                math.factorial(n) / (2**k * math.factorial(k) * math.factorial(n - 2 * k))
                for n, k in zip(i, pairs, strict=True)
            )
            found[order] += c * math.prod(parts)
    squares = (c**2 * math.prod(map(math.factorial, order)) for order, c in found.items() if any(order))
    return math.fsum(squares)


def tensor_polynomial(reduced: Mapping[Index, float]) -> dict[Index, float]:
    """⟨M, x^{⊗p}⟩ of a tensor by its reduced coordinates."""
    return {i: c * num_places(i) for i, c in reduced.items()}


def split_polynomial(reduced: Mapping[Index, float]) -> dict[Index, float]:
    """⟨M, u^{⊗p} ⊗ v^{⊗p}⟩ of a tensor of order 2p, in the 2d variables (u, v)."""
    found: dict[Index, float] = {}
    for i, c in reduced.items():
        for a in itertools.product(*(range(each + 1) for each in i)):
            if 2 * sum(a) == sum(i):
                b = tuple(n - m for n, m in zip(i, a, strict=True))
                found[a + b] = c * num_places(a) * num_places(b)
    return found


def _drawn(d: int, p: int, generator: torch.Generator) -> dict[Index, float]:
    """A random tensor with ‖M‖_rv = 1."""
    indices = list(multi_indices(d, p))
    c = torch.randn(len(indices), generator=generator, dtype=torch.float64)
    return dict(zip(indices, (c / c.norm()).tolist(), strict=True))


@MILD_MEMORISATION.states("Lemma 6", "How small the reduced norm of a symmetric tensor can be")
def lemma6(d: int, p: int) -> Found:
    """Least ‖M‖_rv/‖M‖, at least 1/√p!, and what it is."""
    stated, exact = 1 / context.sqrt(context.factorial(p)), 1 / context.sqrt(most_places(d, p))
    return Found(
        stated,
        formula="‖M‖_rv ≥ ‖M‖/√p!",
        filled=f"1/√{p}! = {mpf_text(stated)}",
        terms={"least ‖M‖_rv/‖M‖, exactly": exact, "dimension D_d^p": mpf(symmetric_dimension(d, p))},
        demands=(Demand("least ‖M‖_rv/‖M‖", exact, "≥", stated, "1/√p!"),),
    )


@MILD_MEMORISATION.states(
    "Lemma 7",
    "Size of a net of the symmetric tensors of norm 1",
    epsilon=Argument("distance ε of the net", low=0.0, strict=True),
    C="before the power",
)
def lemma7(d: int, p: int, epsilon: float, C: float = 1.0) -> Found:
    """Covering number of the unit symmetric tensors, at most C(1 + 2√p!/ε)^D; the formula is the proof's."""
    D = symmetric_dimension(d, p)
    base = 1 + 2 * context.sqrt(context.factorial(p)) / mpf(epsilon)
    return Found(
        C * base**D,
        formula="N ≤ C(1 + 2√p!/ε)^D,  D = C(d+p−1, p)",
        filled=f"{C:g} · {mpf_text(base)}^{mpf_text(D)}",
        terms={"D_d^p": mpf(D), "ln N": D * context.log(base) + context.log(mpf(C))},
    )


@MILD_MEMORISATION.states(
    "Lemma 9",
    "Variance of a drawn homogeneous polynomial around a point, over ‖M‖_rv²",
    d=Argument("dimension of the inputs", low=1, high=12),
    p=Argument("degree", low=1, high=8),
    distance=Argument("norm of the point x₀", low=0.0, high=1e3),
    seed=SEED,
)
def lemma9(d: int, p: int, distance: float = 1.0, seed: int = 0) -> Found:
    """Var f(x₀ + x)/‖M‖_rv² for f = ⟨M, x^{⊗p}⟩ with a random M, exactly; the lemma has at least 1."""
    require_work(float(symmetric_dimension(d, p)) * 4.0**p * 10**4, "d or p")
    generator = torch.Generator().manual_seed(seed)
    M = _drawn(d, p, generator)
    variance = gaussian_variance(shifted(tensor_polynomial(M), _point(d, distance, generator)))
    return _variance(variance, mpf(1), "1", "Var f(x₀ + x) ≥ ‖M‖_rv²", ())


@MILD_MEMORISATION.states(
    "Lemma 10",
    "Variance of a drawn polynomial in two groups of variables, over ‖M‖_rv²",
    d=Argument("dimension of the inputs", low=1, high=6),
    p=Argument("half the degree", low=1, high=3),
    distance=Argument("norm of the points u₀ and v₀", low=0.0, high=1e3),
    seed=SEED,
)
def lemma10(d: int, p: int, distance: float = 1.0, seed: int = 0) -> Found:
    """Var ⟨M, (u₀+u)^{⊗p} ⊗ (v₀+v)^{⊗p}⟩/‖M‖_rv² for a random M of order 2p, exactly."""
    require_work(float(symmetric_dimension(2 * d, 2 * p)) * 4.0 ** (2 * p) * 10**4, "d or p")
    generator = torch.Generator().manual_seed(seed)
    M = _drawn(d, 2 * p, generator)
    at = _point(d, distance, generator) + _point(d, distance, generator)
    variance = gaussian_variance(shifted(split_polynomial(M), at))
    stated = 1 / mpf(math.factorial(2 * p)) ** 2
    note = (
        "The extraction shows 1/(2p)!; the proof has (2p)! for norms, so its square is taken for variances."
    )
    return _variance(
        variance, stated, "1/(2p)!²", "Var ⟨M, (u₀+u)^{⊗p} ⊗ (v₀+v)^{⊗p}⟩ ≥ ‖M‖_rv²/(2p)!²", (note,)
    )


def _point(d: int, distance: float, generator: torch.Generator) -> tuple[float, ...]:
    x = torch.randn(d, generator=generator, dtype=torch.float64)
    return tuple((distance * x / x.norm()).tolist())


def _variance(variance: float, stated: float, text: str, formula: str, notes: tuple[str, ...]) -> Found:
    return Found(
        variance,
        formula=formula,
        filled=f"{mpf_text(variance)} at ‖M‖_rv = 1, where the lemma has {text} = {mpf_text(stated)}",
        terms={"stated": stated, "variance/stated": variance / stated},
        demands=(Demand("variance at ‖M‖_rv = 1", variance, "≥", stated, text),),
        notes=notes,
    )


QUANTITIES = entries(lemma6, lemma7, lemma9, lemma10)
