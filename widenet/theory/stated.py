"""Theorems as functions: what each finds, and what its paper adds: name, source, symbols, constants."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, ParamSpec, get_args, get_origin

from widenet.theory.demand import Demand, all_met, in_words
from widenet.theory.entry import Argument, Entry
from widenet.theory.numbers import Number, as_float, log10, mpf
from widenet.theory.quantity import Citation, Constant, Quantity

P = ParamSpec("P")


@dataclass(frozen=True)
class Found:
    """What a theorem finds: a `Quantity` before it has a name, its numbers still without limit.

    Attributes:
        value: The number; where it is an mpf, its logarithm is told as well.
        formula: The formula in Unicode, with its symbols.
        filled: The formula with the numbers in it.
        terms: The parts that the value is made of, by name.
        demands: What the theorem requires.
        notes: What else is to know, after what is required.
        holds: Whether what it requires besides the demands is met; None where that is nothing.
        constants: By symbol, besides those that the paper hides.
        source: Where to read it, if that depends on the arguments.
        error: A bound on the error of `value`.
    """

    value: Number | float
    formula: str
    filled: str
    terms: Mapping[str, Number | float] = field(default_factory=dict)
    demands: Sequence[Demand] = ()
    notes: tuple[str, ...] = ()
    holds: bool | None = None
    constants: Mapping[str, Constant] = field(default_factory=dict)
    source: Citation | None = None
    error: float = 0.0


class Stated(Generic[P]):
    """A theorem: a function of numbers that returns a `Quantity`, and its entry in the list of all.

    Attributes:
        function: What it finds.
        entry: Its name, arguments and summary.
    """

    def __init__(
        self,
        function: Callable[P, Found],
        source: Citation,
        name: str,
        arguments: Mapping[str, Argument],
        summary: str,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function, self._source = function, source
        self.entry = Entry(name, self, arguments, summary)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Quantity:
        found = self.function(*args, **kwargs)
        given = inspect.signature(self.function).bind(*args, **kwargs)
        given.apply_defaults()
        hidden = {
            name: Constant(given.arguments[name], True, argument.hidden)
            for name, argument in self.entry.arguments.items()
            if argument.hidden
        }
        return Quantity(
            name=self.entry.name,
            value=_plain(found.value),
            formula=found.formula,
            filled=found.filled,
            terms={name: _plain(term) for name, term in found.terms.items()},
            applies=all_met(found.demands) and found.holds is not False if _conditional(found) else None,
            why=(*in_words(found.demands), *found.notes),
            source=found.source or self._source,
            log10=log10(found.value) if isinstance(found.value, mpf) else None,
            constants={**found.constants, **hidden},
            error=found.error,
        )


@dataclass(frozen=True)
class Paper:
    """A paper, as its theorems are cited and written.

    Attributes:
        id: By which it is cited.
        prefix: With which the names of its quantities begin.
        symbols: What the arguments of its theorems mean, and their ranges; kinds and defaults are those of
            the functions.
    """

    id: str
    prefix: str
    symbols: Mapping[str, Argument]

    def states(
        self, place: str, summary: str, name: str = "", /, **symbols: Argument | str
    ) -> Callable[[Callable[P, Found]], Stated[P]]:
        """Make a theorem of a function.

        Args:
            place: Where the paper states it, as "Theorem 5.1".
            summary: One line for the list.
            name: By which `widenet theory` knows it; the prefix and the place by default.
            symbols: Those that mean something of their own here; a text says where a constant stands that
                the paper hides.
        """
        meanings = {**self.symbols, **{key: _symbol(key, told) for key, told in symbols.items()}}

        def decorate(function: Callable[P, Found]) -> Stated[P]:
            arguments = {
                key: replace(
                    meanings[key],
                    kind=_kind(parameter.annotation),
                    default=None if parameter.default is parameter.empty else parameter.default,
                )
                for key, parameter in inspect.signature(function).parameters.items()
            }
            known = name or f"{self.prefix}-{place.lower().replace(' ', '-')}"
            return Stated(function, Citation(self.id, place), known, arguments, summary)

        return decorate


def entries(*theorems: Stated[Any]) -> tuple[Entry, ...]:
    """What a module computes, in this order."""
    return tuple(theorem.entry for theorem in theorems)


def _symbol(name: str, told: Argument | str) -> Argument:
    if isinstance(told, Argument):
        return told
    return Argument(f"constant {name} that the paper hides", low=0.0, strict=True, hidden=told)


def _kind(annotation: Any) -> type:
    """Of an annotation: tuple for a sequence, and of alternatives the kind of the first."""
    if get_origin(annotation) is Sequence:
        return tuple
    first = (*get_args(annotation), annotation)[0]
    return first if isinstance(first, type) else type(first)


def _conditional(found: Found) -> bool:
    return bool(found.demands) or found.holds is not None


def _plain(value: Number | float) -> float:
    return as_float(value) if isinstance(value, mpf) else value
