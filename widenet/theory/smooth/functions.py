"""Smooth functions as people write them: a formula in z, coefficients between commas, or a rule in i."""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.wording import shown
from widenet.theory.numbers import INFINITY, Number, context, mpf
from widenet.theory.smooth import taylor
from widenet.theory.smooth.budget import (
    FUNCTION_COST,
    POWER_COST,
    RULE_COST,
    Cost,
    bounded,
    within_angle,
    within_exponent,
)
from widenet.theory.smooth.elementary import FUNCTIONS
from widenet.theory.smooth.expression import Algebra, evaluate, parse, variables
from widenet.theory.smooth.taylor import Taylor

FAR = 10**9  # index at which the root test looks at a rule
NUM_FAR = 12  # indices in a row, since a rule may be zero at most of them

_CONSTANTS: dict[str, Number] = {"pi": +context.pi, "e": +context.e}


def _number(value: int | str) -> Number:
    return _CONSTANTS[value] if isinstance(value, str) and value in _CONSTANTS else mpf(value)


SERIES = Algebra(
    number=lambda value: taylor.constant(_number(value)),
    operators={
        "Add": taylor.add,
        "Sub": taylor.subtract,
        "Mult": taylor.multiply,
        "Div": taylor.divide,
        "Pow": taylor.raise_to,
        "USub": taylor.negate,
    },
    functions=FUNCTIONS,
)

_ARITHMETIC: dict[str, Callable[..., Any]] = {  # of numbers and of tensors
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "USub": operator.neg,
}

NUMBERS = Algebra(
    number=_number,
    operators={
        name: bounded(function)
        for name, function in (
            _ARITHMETIC
            | {
                "Pow": lambda a, b: _real_power(a, within_exponent(b)),
                "Mod": lambda a, b: within_angle(a) % within_angle(b),
            }
        ).items()
    },
    functions={
        "factorial": lambda a: bounded(context.factorial)(within_exponent(a)),
        "gamma": lambda a: bounded(context.gamma)(within_exponent(a)),
        "exp": lambda a: bounded(context.exp)(within_exponent(min(a, mpf(100 * FAR)))),
        "log": context.log,
        "sqrt": context.sqrt,
        "sin": lambda a: context.sin(within_angle(a)),
        "cos": lambda a: context.cos(within_angle(a)),
        "abs": abs,
    },
)

TENSORS = Algebra(
    number=lambda value: torch.tensor(float(_number(value)), dtype=torch.float64),
    operators=_ARITHMETIC | {"Pow": operator.pow},
    functions={name: getattr(torch, name) for name in FUNCTIONS},
)


def function_from_text(text: str) -> Taylor:
    """The function that a text stands for.

    Args:
        text: A formula in z ("sin(3*z)", or "sin" alone), coefficients c_0, c_1, … between commas
            ("0,1,-1/2"), or a rule for c_i ("1/factorial(i)").
    """
    text = text.strip()
    if text in FUNCTIONS:
        text = f"{text}(z)"
    tree = parse(text, "z")
    if isinstance(tree, ast.Tuple):
        values = {"z": taylor.VARIABLE}
        parts = [evaluate(part, SERIES, values) for part in tree.elts]
        if any(part.degree != 0 for part in parts):
            raise InputError(f"{shown(text)} has a coefficient that is not a number.")
        return taylor.polynomial([part.constant for part in parts])
    if variables(tree) == {"i"}:
        return function_from_rule(_rule(tree, text), cost=_rule_cost(tree))
    return evaluate(tree, SERIES, {"z": taylor.VARIABLE})


def function_from_rule(
    rule: Callable[[int], Any], radius: float | None = None, cost: Cost = RULE_COST
) -> Taylor:
    """The function whose coefficients are c_i = rule(i).

    Args:
        rule: Of i = 0, 1, …
        radius: Radius of convergence. By default it comes from |c_i|^(1/i) at i = 10⁹, which a rule that
            counts up to i does not survive.
        cost: Operations that n coefficients take.
    """
    found = mpf(radius) if radius is not None else _root_test(rule)
    known: list[Number] = []  # each coefficient is computed once, however often more are asked for

    def coefficients(n: int) -> list[Number]:
        cost.require(n)
        known.extend(mpf(rule(i)) for i in range(len(known), n))
        return known[:n]

    return Taylor(coefficients, lambda _r: INFINITY, found, certain=False)


@dataclass(frozen=True)
class Smooth:
    """A function given by a formula in z: both a map of tensors, elementwise, and a Taylor series."""

    text: str

    def __call__(self, z: Tensor) -> Tensor:
        name = self.text if self.text not in FUNCTIONS else f"{self.text}(z)"
        value = evaluate(parse(name, "z"), TENSORS, {"z": z})
        return value.to(z).expand(z.shape)

    @cached_property
    def series(self) -> Taylor:
        return function_from_text(self.text)


@dataclass(frozen=True)
class PowerSum(Smooth):
    """φ(z) = Σ_i c_i zⁱ by its coefficients, however many; its text only names it."""

    coefficients: tuple[float, ...] = ()

    def __call__(self, z: Tensor) -> Tensor:
        values = torch.zeros_like(z)
        for c in reversed(self.coefficients):
            values = values * z + c
        return values

    @cached_property
    def series(self) -> Taylor:
        return taylor.polynomial([mpf(c) for c in self.coefficients])


def power_sum(coefficients: tuple[float, ...]) -> PowerSum:
    """Σ_i c_i zⁱ, both a map of tensors and a Taylor series.

    >>> power_sum((1.0, 0.0, 3.0))(torch.tensor(2.0))
    tensor(13.)
    """
    return PowerSum(",".join(map(repr, coefficients)), coefficients)


def _rule(tree: ast.expr, text: str) -> Callable[[int], Number]:
    def coefficient(i: int) -> Number:
        try:
            value = evaluate(tree, NUMBERS, {"i": mpf(i)})
        except (ValueError, ZeroDivisionError, OverflowError):
            raise InputError(f"{shown(text)} has no value at i = {i}.") from None
        except InputError as error:
            raise InputError(f"{shown(text)} has no value at i = {i}: {error}") from None
        if not isinstance(value, mpf) or not context.isfinite(value):
            raise InputError(f"{shown(text)} is not a real number at i = {i}.")
        return value

    return coefficient


def _rule_cost(tree: ast.expr) -> Cost:
    """What a coefficient costs: each sign a product, powers and functions as many as they take."""
    functions = sum(isinstance(node, ast.Call) for node in ast.walk(tree))
    powers = sum(isinstance(node, ast.Pow) for node in ast.walk(tree))
    signs = sum(isinstance(node, ast.operator) for node in ast.walk(tree))
    return Cost(linear=signs + POWER_COST * powers + FUNCTION_COST * functions)


def _real_power(a: Number, b: Number) -> Number:
    """A power, with signs such as (−1)^i taken by the parity of i."""
    if b == int(b) and a < 0:
        return (-1 if int(b) % 2 else 1) * context.power(-a, b)
    return context.power(a, b)


def _root_test(rule: Callable[[int], Number]) -> Number:
    """1 / lim sup |c_i|^(1/i), by far indices; 0 or infinite where the roots still grow or fall there."""
    nearer, farther = (_largest_root(rule, first) for first in (FAR // 1000, FAR))
    if farther == 0 or farther < nearer * mpf("0.99"):
        return INFINITY
    return 1 / farther if farther < nearer * mpf("1.01") else mpf(0)


def _largest_root(rule: Callable[[int], Number], first: int) -> Number:
    return max(context.power(abs(mpf(rule(i))), mpf(1) / i) for i in range(first, first + NUM_FAR))
