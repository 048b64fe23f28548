"""Smooth functions by their Taylor series at zero, with what is needed to bound the terms left out.

A function is put together from z and numbers by +, −, ·, /, powers and the functions in `elementary`. Beside
its coefficients c_i each carries a majorant: numbers ĉ_i ≥ |c_i|, known through their sum Σ ĉ_i r^i, so that
|c_i| ≤ r^−i Σ_j ĉ_j r^j for every r where that sum is finite. The majorant of a sum is the sum of majorants,
of a product the product, and of sin(u) it is sinh(û): the series with all signs made positive.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from widenet.base.errors import InputError
from widenet.theory.numbers import INFINITY, Number, context, mpf
from widenet.theory.smooth import series
from widenet.theory.smooth.budget import FUNCTION_COST, HIGHEST_DEGREE, NO_COST, Cost
from widenet.theory.smooth.series import Series

LARGEST_ARGUMENT = 10**7  # of exp: what is beyond e^10⁷ is of no use as a bound
LARGEST_POWER = 1000
HALVINGS = 60
SUM_COST = 3  # operations for each pair of terms: a product, a sum, a place in the result
FARTHEST_RADIUS = mpf(10) ** 30  # radius beyond which none is looked for


@dataclass(frozen=True)
class Taylor:
    """A function φ(z) = Σ c_i z^i.

    Attributes:
        coefficients: The first n of the c_i.
        majorant: Σ ĉ_i r^i of r ≥ 0; infinite where it diverges or is beyond use.
        radius: φ's series converges for |z| below it.
        decay: Where the radius is sharp, |c_i| radius^i falls like i^−decay; None where it is only a lower
            bound.
        degree: Of a polynomial; None for all others.
        num_steps: Operations in the formula, by which rounding errors are counted.
        linear: Whether n coefficients cost n steps rather than n².
        certain: Whether majorant and radius are proven; False for a rule whose terms were only looked at.
        cost: Operations that n coefficients take; of a polynomial, those that it took.
    """

    coefficients: Callable[[int], Series]
    majorant: Callable[[Number], Number]
    radius: Number = INFINITY
    decay: float | None = None
    degree: int | None = None
    num_steps: int = 1
    linear: bool = True
    certain: bool = True
    cost: Cost = NO_COST

    def __post_init__(self) -> None:
        """Keep what was computed, as a power needs its series again and again, and count what it costs."""
        self.cost.require(1)
        object.__setattr__(self, "majorant", cache(self.majorant))
        if self.degree is None:
            object.__setattr__(self, "coefficients", _affordable(self.coefficients, self.cost))

    @property
    def constant(self) -> Number:
        return self.coefficients(1)[0]


@dataclass(frozen=True)
class OuterFunction:
    """A function ψ to be applied to a series u with u(0) = 0.

    Attributes:
        of: The series of ψ(u).
        majorant: Of ψ, as a function of a number.
        limit: Radius of convergence of ψ.
        decay: Its coefficients fall like limit^−i i^−decay.
        linear: Whether the recurrence costs n steps for a polynomial u.
        num_products: Products of series that it costs for any other.
    """

    of: Callable[[Series], Series]
    majorant: Callable[[Number], Number]
    limit: Number = INFINITY
    decay: float | None = None
    linear: bool = True
    num_products: int = 1


def _affordable(coefficients: Callable[[int], Series], cost: Cost) -> Callable[[int], Series]:
    """The same, each length computed once, until the budget is used up."""
    spent = 0

    @cache
    def found(n: int) -> Series:
        nonlocal spent
        cost.require(n, before=spent)
        spent += cost.operations(n)
        return coefficients(n)

    return found


def polynomial(coefficients: list[Number]) -> Taylor:
    """Σ c_i z^i with finitely many coefficients."""
    degree = max((i for i, c in enumerate(coefficients) if c), default=0)
    kept = [mpf(c) for c in coefficients[: degree + 1]]
    sizes = [abs(c) for c in kept]
    return Taylor(
        lambda n: (kept + [mpf(0)] * n)[:n],
        lambda r: context.fsum(size * r**i for i, size in enumerate(sizes) if size),
        degree=degree,
    )


def constant(c: Number) -> Taylor:
    """A function of one value."""
    return polynomial([mpf(c)])


VARIABLE = polynomial([mpf(0), mpf(1)])


def add(f: Taylor, g: Taylor) -> Taylor:
    """The sum f + g."""
    if f.degree is not None and g.degree is not None:
        n = max(f.degree, g.degree) + 1
        total = [a + b for a, b in zip(f.coefficients(n), g.coefficients(n), strict=True)]
        return replace(
            polynomial(total),
            majorant=lambda r: f.majorant(r) + g.majorant(r),
            num_steps=f.num_steps + g.num_steps + 1,
            cost=f.cost + g.cost + Cost(fixed=n),
        )
    inner, outer = sorted((f, g), key=lambda part: part.radius)
    return Taylor(
        lambda n: [a + b for a, b in zip(f.coefficients(n), g.coefficients(n), strict=True)],
        lambda r: f.majorant(r) + g.majorant(r),
        inner.radius,
        inner.decay if inner.radius < outer.radius else None,
        num_steps=f.num_steps + g.num_steps + 1,
        linear=f.linear and g.linear,
        certain=f.certain and g.certain,
        cost=f.cost + g.cost + Cost(linear=1),
    )


def multiply(f: Taylor, g: Taylor) -> Taylor:
    """The product f · g."""
    if f.degree is not None and g.degree is not None:
        n = f.degree + g.degree + 1
        if n > HIGHEST_DEGREE + 1:
            raise InputError(
                f"A polynomial of degree {n - 1:,} is too long; the highest degree is {HIGHEST_DEGREE:,}."
            )
        cost = _both_costs(f, g) + Cost(fixed=SUM_COST * _num_terms(f) * _num_terms(g))
        cost.require(1)
        total = series.product(f.coefficients(n), g.coefficients(n))
        return replace(
            polynomial(total),
            majorant=lambda r: f.majorant(r) * g.majorant(r),
            num_steps=f.num_steps + g.num_steps + 1,
            cost=cost,
        )
    if any(part.degree == 0 and not part.constant for part in (f, g)):
        return constant(0)
    monomial = next((part for part in (f, g) if _is_monomial(part)), None)
    other = g if monomial is f else f
    return Taylor(
        lambda n: series.product(f.coefficients(n), g.coefficients(n)),
        lambda r: _times(f.majorant(r), g.majorant(r)),
        min(f.radius, g.radius),
        other.decay if monomial is not None else None,
        num_steps=f.num_steps + g.num_steps + 1,
        linear=f.linear and g.linear and (f.degree is not None or g.degree is not None),
        certain=f.certain and g.certain,
        cost=_both_costs(f, g) + _passes(f if f.degree is not None else g),
    )


def apply(outer: OuterFunction, u: Taylor) -> Taylor:
    """ψ(u) for a series u with u(0) = 0."""
    if u.degree == 0:
        return constant(outer.of([mpf(0)])[0])
    is_linear = outer.linear and u.degree is not None
    cost = u.cost + (_passes(u) if is_linear else Cost(square=outer.num_products))
    if outer.limit < INFINITY:
        cost += Cost(fixed=HALVINGS * FUNCTION_COST * u.num_steps)  # of looking for the radius
    cost.require(1)
    return Taylor(
        lambda n: outer.of(u.coefficients(n)),
        lambda r: _within(outer, u.majorant(r)),
        *_edge(outer, u),
        num_steps=u.num_steps + 1,
        linear=is_linear,
        certain=u.certain,
        cost=cost,
    )


def raise_to(f: Taylor, exponent: Taylor) -> Taylor:
    """f^exponent, where the exponent is a number."""
    if exponent.degree != 0:
        raise InputError("A power must be a number, as in z**3; write others with exp and log.")
    a = exponent.constant
    if abs(a) > LARGEST_POWER:
        raise InputError(f"A power of {context.nstr(a, 6)} is too large; the largest is {LARGEST_POWER}.")
    if a == int(a) and a >= 0:
        return _whole_power(f, int(a))
    at_zero = f.constant
    if at_zero == 0 or (at_zero < 0 and a != int(a)):
        raise InputError(
            f"A function that is {context.nstr(at_zero, 6)} at zero has no Taylor series to the power "
            f"{context.nstr(a, 6)}."
        )
    u = multiply(without_constant(f), constant(1 / at_zero))
    outer = OuterFunction(lambda U: series.power(U, a), lambda v: (1 - v) ** -abs(a), mpf(1), float(1 + a))
    return multiply(constant(at_zero**a), apply(outer, u))


def divide(f: Taylor, g: Taylor) -> Taylor:
    """The quotient f / g, for g(0) ≠ 0."""
    if g.constant == 0:
        raise InputError("Dividing by a function that is zero at zero leaves no Taylor series there.")
    return multiply(f, raise_to(g, constant(mpf(-1))))


def negate(f: Taylor) -> Taylor:
    """The negative −f."""
    return multiply(constant(mpf(-1)), f)


def subtract(f: Taylor, g: Taylor) -> Taylor:
    """The difference f − g."""
    return add(f, negate(g))


def truncate(f: Taylor, degree: int) -> Taylor:
    """The Taylor polynomial of a degree."""
    return replace(polynomial(f.coefficients(degree + 1)), num_steps=f.num_steps, certain=f.certain)


def _whole_power(f: Taylor, exponent: int) -> Taylor:
    result = constant(mpf(1))
    for digit in bin(exponent)[2:]:
        result = multiply(result, result)
        result = multiply(result, f) if digit == "1" else result
    return result


def _both_costs(f: Taylor, g: Taylor) -> Cost:
    """What two functions cost beside each other; the same one is computed once."""
    return f.cost if f is g else f.cost + g.cost


def _passes(f: Taylor) -> Cost:
    """What a product with f costs: n for each term of a polynomial, else n²."""
    return Cost(square=1) if f.degree is None else Cost(linear=_num_terms(f))


def _num_terms(f: Taylor) -> int:
    return len(series.support(f.coefficients((f.degree or 0) + 1)))


def without_constant(f: Taylor) -> Taylor:
    """The function less its value at 0."""
    if f.constant == 0:
        return f
    return replace(
        add(f, constant(-f.constant)),
        majorant=lambda r: f.majorant(r) - abs(f.constant),
        radius=f.radius,
        decay=f.decay,
    )


def _is_monomial(f: Taylor) -> bool:
    return f.degree is not None and len(series.support(f.coefficients(f.degree + 1))) == 1


def _times(a: Number, b: Number) -> Number:
    """A product in which a zero outweighs an infinity, as for a series that is zero."""
    return mpf(0) if a == 0 or b == 0 else a * b


def _within(outer: OuterFunction, v: Number) -> Number:
    return outer.majorant(v) if v < min(outer.limit, LARGEST_ARGUMENT) else INFINITY


def _edge(outer: OuterFunction, u: Taylor) -> tuple[Number, float | None]:
    """Radius of convergence of ψ(u), and the decay of its coefficients there where the radius is sharp."""
    if outer.limit == INFINITY:
        return u.radius, None
    if _is_monomial(u):
        k, c = series.support(u.coefficients((u.degree or 0) + 1))[0]
        return (outer.limit / abs(c)) ** (mpf(1) / k), outer.decay
    high = mpf(1)
    while high < min(u.radius, FARTHEST_RADIUS) and u.majorant(high) < outer.limit:
        high *= 2
    low, high = mpf(0), min(high, u.radius)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if u.majorant(middle) < outer.limit else (low, middle)
    return low, None
