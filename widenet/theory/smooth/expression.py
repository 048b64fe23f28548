"""Formulas as text, read by a small grammar of their own and never executed.

A formula has numbers, one variable, pi and e, the signs + - * / ** (or ^) % and brackets, and functions of
one argument. What these mean is told by an `Algebra`: the same formula is a series, a number or a tensor.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown

T = TypeVar("T")
LONGEST = 400  # characters of a formula
MOST_NODES = 200
CONSTANTS = ("pi", "e")


@dataclass(frozen=True)
class Algebra(Generic[T]):
    """What the parts of a formula mean.

    Attributes:
        number: Of a number, given as a whole number or as its decimal text, or of "pi" and "e".
        operators: By their name in Python's grammar: Add, Sub, Mult, Div, Pow, Mod, USub.
        functions: Of one argument, by name.
    """

    number: Callable[[int | str], T]
    operators: Mapping[str, Callable[..., T]]
    functions: Mapping[str, Callable[[T], T]]


def parse(text: str, variable: str) -> ast.expr:
    """The tree of a formula; whatever is not in the grammar is refused."""
    if len(text) > LONGEST:
        raise InputError(f"A formula of {len(text)} characters is too long; at most {LONGEST} are read.")
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(
            f"{shown(text)} is not a formula in {variable}; write, for example, sin(3*{variable})."
        ) from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise InputError(f"{shown(text)} has too many parts; a formula can have {MOST_NODES}.")
    return tree


def variables(tree: ast.expr) -> frozenset[str]:
    """Names in a formula that are neither functions nor constants."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called)
    return frozenset(node.id for node in names) - set(CONSTANTS)


def evaluate(tree: ast.expr, algebra: Algebra[T], values: Mapping[str, T]) -> T:
    """The formula's value, where `values` has that of its variable."""

    def value(node: ast.expr) -> T:
        match node:
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                return algebra.number(number)
            case ast.Constant(value=float(number)):
                return algebra.number(repr(number))
            case ast.Name(id=name) if name in values:
                return values[name]
            case ast.Name(id=name) if name in CONSTANTS:
                return algebra.number(name)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return value(operand)
            case ast.UnaryOp(op=operator, operand=operand) if _known(operator, algebra):
                return _known(operator, algebra)(value(operand))
            case ast.BinOp(left=left, op=operator, right=right) if _known(operator, algebra):
                return _known(operator, algebra)(value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in algebra.functions:
                return algebra.functions[name](value(argument))
        raise _refusal(node, algebra, values)

    return value(tree)


def _known(operator: ast.AST, algebra: Algebra[T]) -> Any:
    return algebra.operators.get(type(operator).__name__)


def _refusal(node: ast.expr, algebra: Algebra[Any], values: Mapping[str, Any]) -> InputError:
    """What about a node is outside the grammar, in one sentence."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name = node.func.id
        if name in algebra.functions:
            return InputError(f"{name} in {shown(ast.unparse(node))} takes one argument.")
        return InputError(f"There is no function {shown(name)}: {near_names(name, tuple(algebra.functions))}")
    if isinstance(node, ast.Name):
        names = ", ".join((*values, *CONSTANTS))
        return InputError(f"{shown(node.id)} is unknown in a formula, which can have {names} and functions.")
    return InputError(
        f"{shown(ast.unparse(node))} cannot be part of a formula: use numbers, + - * / **, brackets and "
        "functions."
    )
