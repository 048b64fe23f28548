"""The papers' measures of how complex a smooth function is, by its Taylor series φ(z) = Σ c_i z^i.

C_ε(φ, R) = Σ_i ((C* R)^i + (√(log(1/ε)/i) C* R)^i) |c_i| says how wide a network must be, and
C_s(φ, R) = C* Σ_i (i + 1)^q R^i |c_i| how many samples it needs; q is 1 in `resnet-beyond-kernels` and 1.75
in `beyond-two-layers`. Both papers take a large constant C*, "e.g. 10⁴", so that values overflow at once:
sums are made with 100 digits and numbers without limit, and come with their decimal logarithm.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from widenet.base.errors import NotConvergedError
from widenet.theory.entry import Argument
from widenet.theory.numbers import INFINITY, ROUNDOFF, Number, as_float, context, log10, mpf, shown_number
from widenet.theory.quantity import Citation, Constant
from widenet.theory.smooth.functions import function_from_text
from widenet.theory.smooth.series import Series
from widenet.theory.smooth.taylor import Taylor, truncate
from widenet.theory.stated import Found, Paper, entries

C_STAR = 1e4
RESNET_POWER, TWO_LAYER_POWER = 1.0, 1.75
FEWEST_TERMS = 64
MOST_TERMS = {True: 2**17, False: 2**11}  # where n coefficients cost n steps, and where they cost n²
WANTED = mpf(10) ** -20  # relative error at which summing stops
FLOAT_UNIT = mpf(2) ** -53  # relative error of making a float of the sum
BLOCK = 16  # terms that are compared as one where a rule's terms are only looked at
NUM_LOOKED_AT = 400  # coefficients from which the radius of convergence is judged
SECTION = "Section 2, function complexity"  # of `beyond-two-layers`
SMOOTH = Paper(
    "beyond-two-layers",
    "",
    {
        "phi": Argument(
            "function: a formula in z (sin(3*z)), coefficients (0,1,-1/2), or a rule in i (1/factorial(i))"
        ),
        "epsilon": Argument("accuracy ε", low=0.0, high=1.0, strict=True),
        "power": Argument(
            "power of i+1: 1 in resnet-beyond-kernels, 1.75 in beyond-two-layers", low=0.0, high=10.0
        ),
        "R": Argument("bound on |z|", low=0.0),
        "c_star": Argument("constant C*", low=0.0, strict=True),
        "degree": Argument(
            "degree of the Taylor polynomial to use instead, 0 for the function itself", low=0, high=10_000
        ),
    },
)


@dataclass(frozen=True)
class Weights:
    """The numbers w_i that |c_i| is multiplied with before summing."""

    base: Number  # w_i grows like base^i
    power: float  # w_i / base^i grows like i^power
    each: Callable[[int], dict[str, Series]]  # w_0, …, w_{n−1}, as parts that add up to them
    tail: Callable[[int, Number], Number]  # bound on Σ_{i ≥ n} w_i r^−i, of n and r
    largest: Callable[[Number], Number]  # bound on max_i w_i r^−i, of r


@dataclass(frozen=True)
class Sum:
    """Σ w_i |c_i|."""

    value: Number  # infinite where it diverges
    parts: dict[str, Number]  # that it is made of, by name
    error: Number  # bound on what truncation and rounding changed
    num_terms: int  # terms that were summed
    why: str  # how convergence or divergence is known


@SMOOTH.states(SECTION, "C_ε(φ,R): how wide a network must be to learn φ up to ε", "c-epsilon")
def c_epsilon(
    phi: str | Taylor, epsilon: float, R: float = 1.0, *, c_star: float = C_STAR, degree: int = 0
) -> Found:
    """C_ε(φ, R) [resnet-beyond-kernels, Section 4; beyond-two-layers, Section 2].

    Args:
        phi: The function, as `function_from_text` reads it.
        epsilon: ε.
        R: Bound on |z|.
        c_star: C*.
        degree: Of the Taylor polynomial to take in place of φ, as Example 4.1 does for tanh; 0 for φ itself.
    """
    total = complexity_sum(phi, epsilon_weights(mpf(R), mpf(epsilon), mpf(c_star)), degree)
    return _found(
        total,
        "C_ε(φ,R) = Σᵢ ((C*·R)ⁱ + (√(log(1/ε)/i)·C*·R)ⁱ)·|cᵢ|",
        f"C_ε({_name(phi)}, {R:g}) = "
        f"Σᵢ ({c_star * R:g}ⁱ + (√({math.log(1 / epsilon):.4g}/i)·{c_star * R:g})ⁱ)·|cᵢ|",
        degree,
        c_star,
    )


@SMOOTH.states(SECTION, "C_s(φ,R): how many samples it takes to learn φ", "c-s")
def c_s(
    phi: str | Taylor, *, power: float = RESNET_POWER, R: float = 1.0, c_star: float = C_STAR, degree: int = 0
) -> Found:
    """C_s(φ, R), with (i+1) as in resnet-beyond-kernels or (i+1)^1.75 as in beyond-two-layers.

    Args:
        phi: The function, as `function_from_text` reads it.
        power: q of (i+1)^q.
        R: Bound on |z|.
        c_star: C*.
        degree: Of the Taylor polynomial to take in place of φ; 0 for φ itself.
    """
    total = complexity_sum(phi, sample_weights(mpf(R), power, mpf(c_star)), degree)
    raised = "" if power == 1 else f"^{power:g}"
    return _found(
        total,
        f"C_s(φ,R) = C*·Σᵢ (i+1){raised}·Rⁱ·|cᵢ|",
        f"C_s({_name(phi)}, {R:g}) = {c_star:g}·Σᵢ (i+1){raised}·{R:g}ⁱ·|cᵢ|",
        degree,
        c_star,
        Citation("resnet-beyond-kernels", "Section 4") if power == RESNET_POWER else None,
    )


def epsilon_weights(R: Number, epsilon: Number, c_star: Number) -> Weights:
    """x^i + (√(L/i) x)^i for x = C* R and L = log(1/ε); (L/i)^(i/2) is largest, e^(L/2e), at i = L/e."""
    x, L = c_star * R, context.log(1 / epsilon)
    highest = context.exp(L / (2 * context.e))

    def each(n: int) -> dict[str, Series]:
        powers, second = _powers(x, n), [mpf(1)]
        for i in range(1, n):
            second.append(powers[i] * context.power(L / i, mpf(i) / 2))
            if i > L and second[i] < ROUNDOFF * powers[i]:  # and less and less from here on
                break
        return {"first sum": powers, "second sum": second + [mpf(0)] * (n - len(second))}

    def tail(n: int, r: Number) -> Number:
        return (1 + (1 if n >= L else highest)) * (x / r) ** n / (1 - x / r)

    return Weights(x, 0.0, each, tail, lambda _r: 1 + max(mpf(1), highest))


def sample_weights(R: Number, power: float, c_star: Number) -> Weights:
    """C* (i+1)^q R^i; a term is at most ((n+2)/(n+1))^q R/r times the one before it from the n-th on."""

    def each(n: int) -> dict[str, Series]:
        powers = _powers(R, n)
        return {"sum": [c_star * mpf(i + 1) ** power * p for i, p in enumerate(powers)]}

    def tail(n: int, r: Number) -> Number:
        ratio = (mpf(n + 2) / (n + 1)) ** power * R / r
        return c_star * mpf(n + 1) ** power * (R / r) ** n / (1 - ratio) if ratio < 1 else INFINITY

    def largest(r: Number) -> Number:
        if r <= R:
            return INFINITY
        peak = max(power / context.log(r / R), mpf(1)) if R else mpf(1)
        return c_star * peak**power * (r / R if R else 1)

    return Weights(R, power, each, tail, largest)


def complexity_sum(phi: str | Taylor, weights: Weights, degree: int = 0) -> Sum:
    """Σ w_i |c_i|, infinite where it diverges.

    Raises:
        NotConvergedError: If convergence cannot be decided, or more terms than `MOST_TERMS` are needed.
    """
    f = function_from_text(phi) if isinstance(phi, str) else phi
    if degree:
        f = truncate(f, degree)
    divergence = diverges(f, weights)
    if divergence:
        return Sum(INFINITY, dict.fromkeys(weights.each(1), INFINITY), mpf(0), 0, divergence)
    if f.degree is not None:
        return _summed(f, weights, f.degree + 1)
    largest = _smallest(f, weights.largest, weights) if f.certain else INFINITY
    n = FEWEST_TERMS
    while n <= MOST_TERMS[f.linear]:
        left_out = _smallest(f, partial(weights.tail, n), weights) if f.certain else mpf(0)
        if left_out < INFINITY and left_out <= WANTED * largest:  # else not worth the coefficients
            found = _summed(f, weights, n)
            if found.error <= WANTED * (found.value or 1):
                return found
        n += n // 4
    raise NotConvergedError(
        f"The sum has powers of {shown_number(weights.base)} and needs more than {MOST_TERMS[f.linear]:,} "
        "terms; lower R or C*, or give a degree to use a Taylor polynomial in place of the function."
    )


def diverges(f: Taylor, weights: Weights) -> str:
    """Why the sum diverges; empty where it does not."""
    x, radius = weights.base, f.radius
    at = f"the sum has powers of {shown_number(x)}"
    if x < radius and (f.certain or x < radius * (1 - mpf(10) ** -6)):
        return ""
    if f.decay is not None and (x > radius or f.decay - weights.power <= 1):
        return f"It diverges: φ has radius of convergence {shown_number(radius)}, and {at}."
    if not f.certain and x > radius * (1 + mpf(10) ** -6):
        return f"It diverges: by |cᵢ|^(1/i) at i = 10⁹ the radius is {shown_number(radius)}, and {at}."
    judged = _judged_radius(f)
    if f.decay is None and f.certain and x > judged * mpf("1.05"):
        return (
            f"It diverges: by the first {NUM_LOOKED_AT} coefficients the radius of convergence is about "
            f"{shown_number(judged, 3)}, and {at}."
        )
    raise NotConvergedError(
        f"Whether the sum converges could not be decided: φ has radius of convergence about "
        f"{shown_number(judged, 4)}, and {at}; choose another R or C*, or write φ in a simpler way."
    )


def _summed(f: Taylor, weights: Weights, n: int) -> Sum:
    sizes = [abs(c) for c in f.coefficients(n)]
    each = weights.each(n)
    parts = {name: context.fdot(zip(sizes, numbers, strict=True)) for name, numbers in each.items()}
    value = context.fsum(parts.values())
    if f.certain or f.degree is not None:
        truncation = mpf(0) if f.degree is not None else _smallest(f, partial(weights.tail, n), weights)
        rounding = f.num_steps * (n + 5) ** 2 * ROUNDOFF * _smallest(f, weights.largest, weights)
        error = truncation + rounding
        why = f"It is a finite sum of {n:,} terms."
        if f.degree is None:
            share = shown_number(error / value, 2) if value else "0"
            why = f"It converges: {n:,} terms were summed, and the rest is at most {share} of the sum."
        return Sum(value, parts, error, n, why)
    terms = [
        context.fsum(s * w[i] for w in each.values())
        for i, s in enumerate(sizes[-2 * BLOCK :], n - 2 * BLOCK)
    ]
    before, last = context.fsum(terms[:BLOCK]), context.fsum(terms[BLOCK:])
    error = last * last / (before - last) if before > last else (mpf(0) if last == 0 else INFINITY)
    why = (
        f"It converges if the terms beyond the {n:,} that were summed keep falling as the last of them did: "
        "a rule in i can be inspected, but not proven to converge."
    )
    return Sum(value, parts, error, n, why)


def _smallest(f: Taylor, factor: Callable[[Number], Number], weights: Weights) -> Number:
    """The least of factor(r) Σ ĉ_i r^i over some r between the weights' base and the radius."""
    x = weights.base or mpf(1)
    steps = [mpf(2) ** -k for k in range(16, 0, -1)]
    if f.radius < INFINITY:
        radii = [x + (f.radius - x) * t for s in steps for t in (s, 1 - s)]
    else:
        radii = [x * (1 + s) for s in steps] + [x * mpf(2) ** (mpf(k) / 8) for k in range(8, 80)]
    bounds = []
    for r in radii:
        total = f.majorant(r)
        if total < INFINITY:
            bounds.append(factor(r) * total)
    return min(bounds, default=INFINITY)


def _judged_radius(f: Taylor) -> Number:
    found = f.coefficients(NUM_LOOKED_AT)
    later = range(NUM_LOOKED_AT // 2, NUM_LOOKED_AT)
    largest = max(context.power(abs(found[i]), mpf(1) / i) for i in later)
    return 1 / largest if largest else INFINITY


def _powers(x: Number, n: int) -> Series:
    powers = [mpf(1)]
    for _ in range(n - 1):
        powers.append(powers[-1] * x)
    return powers


def _name(phi: str | Taylor) -> str:
    return phi if isinstance(phi, str) else "φ"


def star_constant(c_star: float) -> Constant:
    """C*: the paper's where it is the example that the paper gives."""
    return Constant(c_star, c_star != C_STAR, "in C_ε and C_s, “a sufficiently large constant (e.g., 10⁴)”")


def _found(
    total: Sum, formula: str, filled: str, degree: int, c_star: float, source: Citation | None = None
) -> Found:
    relative = as_float(total.error / total.value) if total.value else 0.0
    logarithms = {f"log10 {part}": log10(value) for part, value in total.parts.items()}
    truncated = (f"φ is replaced by its Taylor polynomial of degree {degree}.",) if degree else ()
    return Found(
        total.value,
        formula,
        f"{filled} = {shown_number(total.value)}",
        logarithms | {"terms summed": total.num_terms, "relative error of the sum": relative},
        notes=(*truncated, total.why),
        holds=total.value < INFINITY,
        constants={"C*": star_constant(c_star)},
        source=source,
        error=as_float(total.error + total.value * FLOAT_UNIT) if total.value < INFINITY else 0.0,
    )


QUANTITIES = entries(c_epsilon, c_s)
