"""Write the reference of the public names from their docstrings, without importing anything.

    python -m tools.api            write docs/api/
    python -m tools.api --check    say what is out of date or has no docstring; exit code 1 if anything is

Public are the names that `widenet/__init__.pyi` imports, and those that a lower room defines and lists in
its `__all__`. Each stands on the page of the room in which it is defined.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.house import FLOOR_OF, PACKAGE, outdated, read_house, room_of, write

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path("docs/api")
LIBRARY = ("data", "kernels", "spectrum", "predict", "theory", "networks", "training")
WIDEST = 100  # columns of a signature on one line
SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields|Example|Examples):")
ENTRY = re.compile(r"([\w*]+): (.+)")
Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Name:
    """A public name.

    Attributes:
        name: As it is imported.
        home: Module that defines it.
        node: Its definition.
        is_front: Whether `widenet` itself has it.
    """

    name: str
    home: str
    node: Definition
    is_front: bool

    @property
    def docstring(self) -> str:
        """Its docstring; empty where it has none."""
        return _docstring(self.node)


def public_names(root: Path) -> dict[str, list[Name]]:
    """The public names of each room, in the order of the rooms and then of the alphabet."""
    front = dict(_imported(_tree(root, PACKAGE, stub=True)))
    names = [_defined(root, home, name, is_front=True) for name, home in front.items()]
    for room in LIBRARY:
        home = f"{PACKAGE}.{room}"
        listed = [_defined(root, home, name, is_front=False) for name in _listed(_tree(root, home))]
        names += [each for each in listed if each.name not in front and room_of(each.home) == room]
    names.sort(key=lambda each: (each.name.casefold(), each.name))
    by_room = {room: [each for each in names if room_of(each.home) == room] for room in FLOOR_OF}
    return {room: members for room, members in by_room.items() if members}


def problems(names: dict[str, list[Name]]) -> list[str]:
    """Public functions and classes without a docstring, a sentence each."""
    return [
        f"{each.home}.{each.name} is public and has no docstring."
        for members in names.values()
        for each in members
        if isinstance(each.node, ast.FunctionDef | ast.ClassDef) and not each.docstring
    ]


def documents(root: Path) -> dict[Path, str]:
    """Every page of docs/api, by its path from the root."""
    names = public_names(root)
    descriptions = read_house(root).descriptions
    pages = {
        FOLDER / f"{_file(room)}.md": _page(root, room, descriptions[room], members)
        for room, members in names.items()
    }
    return {FOLDER / "index.md": _index(names, descriptions), **pages}


def _index(names: dict[str, list[Name]], descriptions: dict[str, str]) -> str:
    lists = "\n".join(
        f"- [{room}]({_file(room)}.md): {descriptions[room]}\n  "
        + " ".join(f"[`{name}`]({_file(room)}.md#{anchor})" for name, anchor in _anchors(members).items())
        for room, members in names.items()
    )
    return f"""# Public names

<!-- Written by `python -m tools.api` from the docstrings; change those, not this page. -->

Names on a page whose signatures begin with `widenet.` alone are imported from `widenet` itself.
The others are imported from their room, as in `from widenet.spectrum import eigenvalue_floor`.

{lists}
"""


def _anchors(members: list[Name]) -> dict[str, str]:
    """Where a page has each name; of two that differ in capitals alone, the second gets a number."""
    found: dict[str, str] = {}
    for each in members:
        anchor = each.name.casefold()
        found[each.name] = f"{anchor}-1" if anchor in found.values() else anchor
    return found


def _page(root: Path, room: str, description: str, members: list[Name]) -> str:
    body = "\n\n".join(_entry(root, room, each) for each in members)
    return f"""# {room}

<!-- Written by `python -m tools.api` from the docstrings; change those, not this page. -->

{description}

{body}
"""


def _file(room: str) -> str:
    return room.replace("/", "-").replace(" ", "-")


def _entry(root: Path, room: str, name: Name) -> str:
    prefix = PACKAGE if name.is_front else f"{PACKAGE}.{room}"
    path = _path(root, name.home)
    parts = [
        f"## {name.name}",
        f"```python\n{prefix}.{_signature(name.node, name.name, _constants(_tree(root, name.home)))}\n```",
        f"Defined in [{path}](../../{path}).",
        as_markdown(name.docstring),
    ]
    if isinstance(name.node, ast.ClassDef):
        parts += [_meanings(name.node), _methods(name.node)]
    return "\n\n".join(filter(None, parts))


def _constants(tree: ast.Module) -> dict[str, str]:
    """Constants that a module defines, by name, as the source has their values."""
    assigned = [
        each for each in tree.body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
    ]
    return {name: ast.unparse(each.value) for each in assigned for name in _assigned(each)}


def _signature(node: Definition, name: str, constants: dict[str, str]) -> str:
    """What one writes to call it; the value, of a constant."""
    if isinstance(node, ast.FunctionDef):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return _call(name, _arguments(node.args), returns)
    if not isinstance(node, ast.ClassDef):
        return (
            ast.unparse(node) if isinstance(node, ast.Assign) else f"{name}: {ast.unparse(node.annotation)}"
        )
    made = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    if made:
        return _call(name, _arguments(made[0].args)[1:], "")
    return _call(name, [_shown_field(field, constants) for field in _fields(node)], "")


def _call(name: str, arguments: list[str], returns: str) -> str:
    line = f"{name}({', '.join(arguments)}){returns}"
    if len(line) <= WIDEST:
        return line
    inside = "".join(f"    {argument},\n" for argument in arguments)
    return f"{name}(\n{inside}){returns}"


def _arguments(arguments: ast.arguments) -> list[str]:
    """Each argument with its type and default, and the star before those that must be named."""
    shown = ast.unparse(arguments)
    tree = ast.parse(f"def f({shown}): ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    positional = [*tree.args.posonlyargs, *tree.args.args]
    defaults = [None] * (len(positional) - len(tree.args.defaults)) + list(tree.args.defaults)
    told = [_argument(each, default) for each, default in zip(positional, defaults, strict=True)]
    if tree.args.vararg:
        told.append(f"*{_argument(tree.args.vararg, None)}")
    elif tree.args.kwonlyargs:
        told.append("*")
    named = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
    told += [_argument(each, default) for each, default in named]
    return told + ([f"**{_argument(tree.args.kwarg, None)}"] if tree.args.kwarg else [])


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    shown = ast.unparse(argument)
    return shown if default is None else f"{shown} = {ast.unparse(default)}"


def _fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """The fields of a dataclass, without those of the class itself."""
    if not any("dataclass" in ast.unparse(each) for each in node.decorator_list):
        return []
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    return [each for each in fields if "ClassVar" not in ast.unparse(each.annotation)]


def _shown_field(field: ast.AnnAssign, constants: dict[str, str]) -> str:
    kind = f"{ast.unparse(field.target)}: {ast.unparse(field.annotation)}"
    default = _default(field)
    return f"{kind} = {constants.get(default, default)}" if default else kind


def _default(field: ast.AnnAssign) -> str:
    """The default of a field; empty where there is none."""
    value = field.value
    if not isinstance(value, ast.Call):
        return ast.unparse(value) if value else ""
    function = ast.unparse(value.func)
    if function in ("setting", "seed_setting"):
        return ast.unparse(value.args[0]) if value.args else "0"
    options = {each.arg: ast.unparse(each.value) for each in value.keywords}
    if function in ("field", "aside"):
        return options.get("default", "..." if "default_factory" in options else "")
    return "" if function == "required" else ast.unparse(value)


def _meanings(node: ast.ClassDef) -> str:
    """What the fields of settings mean, in their own words: the second argument of `setting`."""
    calls = {
        ast.unparse(field.target): field.value.args[-1]
        for field in _fields(node)
        if isinstance(field.value, ast.Call) and ast.unparse(field.value.func) in ("setting", "required")
    }
    items = [f"- `{name}`: {_escaped(str(ast.literal_eval(text)))}" for name, text in calls.items()]
    return "\n".join(["Settings:", "", *items]) if items else ""


def _methods(node: ast.ClassDef) -> str:
    """Public methods and properties that have a docstring, each with its first line."""
    told = []
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and _docstring(each):
            is_property = any(ast.unparse(mark) == "property" for mark in each.decorator_list)
            shown = each.name if is_property else _call(each.name, _arguments(each.args)[1:], "")
            line = " ".join(_docstring(each).partition("\n\n")[0].split())
            told.append(f"- `{' '.join(shown.split())}`: {_escaped(line)}")
    return "\n".join(["Methods:", "", *told]) if told else ""


def as_markdown(docstring: str) -> str:
    """A docstring in Google's style: sections become lists, and examples blocks."""
    paragraphs = re.split(r"\n\s*\n", docstring)
    return "\n\n".join(_paragraph(each) for each in paragraphs if each.strip())


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if lines[0].lstrip().startswith(">>>"):
        return "```pycon\n" + "\n".join(line.removeprefix(_indent(lines[0])) for line in lines) + "\n```"
    match = SECTION.fullmatch(lines[0].strip())
    if not match:
        return "\n".join(_escaped(line.strip()) for line in lines)
    return "\n".join([f"{match[1]}:", "", *_items(lines[1:])])


def _items(lines: list[str]) -> Iterator[str]:
    """The entries of a section, continuation lines joined."""
    first = _indent(lines[0]) if lines else ""
    entry = ""
    for line in lines:
        if _indent(line) == first and entry:
            yield _item(entry)
            entry = ""
        entry = f"{entry} {line.strip()}".strip()
    if entry:
        yield _item(entry)


def _item(entry: str) -> str:
    match = ENTRY.fullmatch(entry)
    return f"- `{match[1]}`: {_escaped(match[2])}" if match else f"- {_escaped(entry)}"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _escaped(text: str) -> str:
    """Text in which Markdown finds nothing but its code in backquotes."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<|])", r"\\\1", part) for part in parts)


def _defined(root: Path, module: str, name: str, is_front: bool) -> Name:
    """Follow imports from one module to the next until one defines the name."""
    for node in _tree(root, module).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return Name(name, module, node, is_front)
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in _assigned(node):
            return Name(name, module, node, is_front)
    imported = dict(_imported(_tree(root, module)))
    if name not in imported:
        raise LookupError(f"{module} has no {name}, which is listed as public.")
    return _defined(root, imported[name], name, is_front)


def _assigned(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that a module imports from others of the package, without renaming them, and from where."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            yield from (
                (each.name, node.module or "") for each in node.names if each.asname in (None, each.name)
            )


def _listed(tree: ast.Module) -> list[str]:
    """The names in `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and "__all__" in _assigned(node):
            return list(ast.literal_eval(node.value))
    return []


def _docstring(node: Definition) -> str:
    return (ast.get_docstring(node) or "") if isinstance(node, ast.FunctionDef | ast.ClassDef) else ""


def _path(root: Path, module: str, *, stub: bool = False) -> Path:
    path = Path(*module.split("."))
    package = path / ("__init__.pyi" if stub else "__init__.py")
    return package if (root / package).is_file() else path.with_suffix(".py")


@cache
def _tree(root: Path, module: str, *, stub: bool = False) -> ast.Module:
    return ast.parse((root / _path(root, module, stub=stub)).read_text(encoding="utf-8"))


def main(arguments: list[str]) -> int:
    """Write or check; returns the exit code."""
    found = problems(public_names(ROOT))
    made = documents(ROOT)
    if "--check" in arguments:
        found += outdated(ROOT, made, "python -m tools.api") + leftover(ROOT, made)
    else:
        write(ROOT, made)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


def leftover(root: Path, made: dict[Path, str]) -> list[str]:
    """Pages of docs/api that would not be written now, a sentence each."""
    there = sorted((root / FOLDER).glob("*.md"))
    return [
        f"{path.relative_to(root)} is about no room: remove it."
        for path in there
        if path.relative_to(root) not in made
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
