"""What a stored trial depends on besides its settings and data: the source of the code that computes it."""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import version
from importlib.util import find_spec, resolve_name
from pathlib import Path

from widenet.runs.records import checksum


@cache
def code_version(*roots: str) -> str:
    """The version of widenet and a hash of the source of some modules and of all that they import.

    A change anywhere in that closure makes another version, and trials of the old one count as not run.

    Args:
        roots: Names of the modules that compute, of widenet or of whoever extends it.
    """
    sources = {name: _source(name) for name in sorted(import_closure(roots))}
    parts = (part for name, source in sources.items() for part in (name.encode(), source))
    return f"{version('widenet')} {checksum(*parts).hex()}"


def has_source(name: str) -> bool:
    """Whether a module has a file to be read; what is typed into a prompt has none."""
    return _path(name) is not None


def import_closure(roots: Iterable[str]) -> set[str]:
    """The modules, and all of widenet and of their own packages that they import, directly or not."""
    roots = tuple(roots)
    packages = {"widenet", *(root.partition(".")[0] for root in roots)}
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [each for each in imports_of(name) if each.partition(".")[0] in packages]
    return found


def imports_of(name: str) -> Iterator[str]:
    """Modules that a module imports, inside its functions too, but not those for types alone."""
    for node in _statements(ast.parse(_source(name))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), _package(name))
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if _path(inner) is not None else module


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            child = ast.Module(child.orelse, [])
        yield child
        yield from _statements(child)


def _package(name: str) -> str:
    """The package that a module's relative imports start from."""
    path = _path(name)
    return name if path is not None and path.name == "__init__.py" else name.rpartition(".")[0]


@cache
def _path(name: str) -> Path | None:
    """The file of a module; None where there is no such module, or it is not Python."""
    spec = _spec(name)
    origin = getattr(sys.modules.get(name), "__file__", None) or (spec and spec.origin)
    return Path(origin) if origin and origin.endswith(".py") else None


def _spec(name: str) -> ModuleSpec | None:
    """Where a module is found, without importing it or its packages: they may do more than compute."""
    package, _, _ = name.rpartition(".")
    if not package:
        try:
            return find_spec(name)
        except ValueError:  # a script, which knows its file all the same
            return None
    parent = _spec(package)
    places = None if parent is None else parent.submodule_search_locations
    return None if places is None else PathFinder.find_spec(name, places)


def _source(name: str) -> bytes:
    path = _path(name)
    return b"" if path is None else path.read_bytes()
