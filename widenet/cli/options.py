"""Options made from the fields of settings, and the names of fields in messages turned into flags."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.study.settings import Meaning, Settings, meanings

FLAGS = {  # arguments whose flags have names of their own
    "allow_long": "--yes",
    "ca": "--cluster-ca",
    "cert": "--cluster-cert",
    "key": "--cluster-key",
    "insecure": "--cluster-insecure",
}
NAMED = re.compile(r"`([a-z_][a-z_0-9]*)(?:=([^`]*))?`")  # `width` or `layers=3` in a message


class Several(click.ParamType):
    """Values of one kind separated by commas."""

    name = "several"

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        parts = list(filter(None, (part.strip() for part in value.split(","))))
        if self.kind is str:
            return _whole_names(parts)
        try:
            return tuple(self.kind(part) for part in parts)
        except ValueError:
            noun = "whole numbers" if self.kind is int else "numbers"
            named = "" if param is None else f"{param.opts[0]}: "
            raise InputError(f"{named}cannot read {shown(value)}: give {noun} separated by commas.") from None


def _whole_names(parts: Iterable[str]) -> tuple[str, ...]:
    """Names with their options, which have commas too, as in `polynomial:degree=3,offset=1`."""
    names: list[str] = []
    for part in parts:
        if names and "=" in part and ":" not in part and ":" in names[-1]:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return tuple(names)


def options_of(settings: type[Settings]) -> list[click.Option]:
    """One option for each field, with its default, its range and its meaning."""
    hints = get_type_hints(settings)
    return [_option(field, meaning, hints[field.name]) for field, meaning in meanings(settings)]


def _option(field: Field[Any], meaning: Meaning, hint: Any) -> click.Option:
    flag, kind = flag_of(field.name), _kind(hint)
    if kind is bool:
        return click.Option([flag, field.name], is_flag=True, help=meaning.text)
    told = {"type": _type(kind, meaning), "metavar": meaning.metavar}
    if field.default is MISSING:
        return click.Option([flag, field.name], required=True, help=meaning.text, **told)
    default = f"[default: {_default_text(field.default, meaning)}]"
    return click.Option([flag, field.name], default=field.default, help=f"{meaning.text}  {default}", **told)


def parsed_settings(settings: type[Settings], given: Mapping[str, str]) -> dict[str, Any]:
    """Values of fields that are given as text; a name that is no field is refused."""
    hints = get_type_hints(settings)
    known = {field.name: meaning for field, meaning in meanings(settings)}
    values = {}
    for name, text in given.items():
        if name not in known:
            raise InputError(f"There is no setting {shown(name)} here: {near_names(name, tuple(known))}")
        kind = click.types.convert_type(_type(_kind(hints[name]), known[name]))
        values[name] = kind.convert(text, click.Option([f"--set {name}", name]), None)
    return values


def _kind(hint: Any) -> Any:
    """The type of a field without None, and of a Literal's values."""
    if isinstance(hint, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    return type(get_args(hint)[0]) if get_origin(hint) is Literal else hint


def _type(kind: Any, meaning: Meaning) -> Any:
    if meaning.choices:
        return click.Choice(meaning.choices) if kind is str else _NumberChoice(meaning.choices)
    return Several(get_args(kind)[0]) if get_origin(kind) is tuple else kind


class _NumberChoice(click.Choice[Any]):
    """A choice among numbers."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(str(value), param, ctx)


def _default_text(default: Any, meaning: Meaning) -> str:
    if default is None or default == ():
        return meaning.otherwise or "none"
    if isinstance(default, tuple):
        return ",".join(f"{part:g}" if isinstance(part, float) else str(part) for part in default)
    return f"{default:g}" if isinstance(default, float) else str(default)


def flag_of(name: str) -> str:
    """The flag of a field or argument."""
    return FLAGS.get(name, "--" + name.replace("_", "-"))


def in_flags(message: str, known: Iterable[click.Parameter]) -> str:
    """A message of the library with the flags of this command in place of the names in backquotes."""
    flags = {option for parameter in known for option in parameter.opts}

    def flag(found: re.Match[str]) -> str:
        name, value = flag_of(found[1]), found[2]
        if name not in flags:
            return found[0]
        return name if value in (None, "True") else f"{name} {value}"

    return NAMED.sub(flag, message)


def split_pairs(name: str, pairs: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE of the command line as a dictionary."""
    given: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key or not value:
            raise InputError(f"{name} cannot read {pair!r}: give arguments as key=value.")
        if key in given:
            raise InputError(f"{name} is given {key} more than once: keep one.")
        given[key] = value
    return given
