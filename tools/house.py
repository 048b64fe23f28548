"""Draw the house from its imports, and refuse what is against its rules.

    python -m tools.house            write docs/house.md and docs/images/house.svg
    python -m tools.house --check    say what is against the rules or out of date; exit code 1 if anything is

Each folder of widenet/ is a room. Imports inside functions count; those under `if TYPE_CHECKING` do not.
"""

import ast
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "widenet"
PAGE, PICTURE = Path("docs/house.md"), Path("docs/images/house.svg")

FRONT, PARTS, REPORT = "front door", "report/parts", "report"
STUDIES = ("audit", "compare", "memorise", "inside")
FLOORS: tuple[tuple[str, ...], ...] = (  # from the ground up; rooms of one floor do not import each other
    ("base",),
    ("files",),
    ("data",),
    ("kernels",),
    ("spectrum",),
    ("predict",),
    ("theory",),
    ("networks",),
    ("runs",),
    ("training",),
    ("study",),
    STUDIES,
    ("papers",),
    (PARTS,),
    (REPORT,),
    ("cli",),
    (FRONT,),
)
FLOOR_OF = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
ONLY = {PARTS: ("base", "study")}  # rooms that may import less than their floor allows


@dataclass(frozen=True)
class House:
    """The modules and what they import.

    Attributes:
        paths: File of each module, from the root of the repository.
        imports: Modules of the package that each module imports.
        descriptions: First line of the docstring of each room's `__init__`; empty where there is none.
    """

    paths: dict[str, Path]
    imports: dict[str, set[str]]
    descriptions: dict[str, str]

    def modules(self, room: str) -> list[str]:
        """The modules of a room, in order."""
        return [name for name in self.paths if room_of(name) == room]

    def edges(self, room: str) -> Counter[str]:
        """Other rooms that a room imports, with the number of imports."""
        found = Counter(room_of(target) for name in self.modules(room) for target in self.imports[name])
        return Counter({other: found[other] for other in FLOOR_OF if other != room and found[other]})


def read_house(root: Path) -> House:
    """Every module under `root`/widenet, by its source alone."""
    files = sorted((root / PACKAGE).rglob("*.py"))
    paths = {_module(file.relative_to(root)): file.relative_to(root) for file in files}
    trees = {name: ast.parse((root / path).read_text(encoding="utf-8")) for name, path in paths.items()}
    imports = {name: set(_imports(trees[name], name, paths)) - {name} for name in paths}
    descriptions = {room: _description(trees.get(_home(room)), room) for room in FLOOR_OF}
    return House(paths, imports, descriptions)


def room_of(module: str) -> str:
    """The room of a module: its folder, or the front door; `report/parts` is a room of its own."""
    parts = module.split(".")
    if len(parts) == 1 or parts[1] in ("__main__", "testing"):
        return FRONT
    return PARTS if parts[1:3] == ["report", "parts"] else parts[1]


def problems(house: House) -> list[str]:
    """Everything that is against the rules, a sentence each."""
    return [*_unplaced(house), *_undescribed(house), *_against_order(house), *_cycle(house)]


def _unplaced(house: House) -> Iterator[str]:
    for name, path in house.paths.items():
        if room_of(name) not in FLOOR_OF:
            yield f"{path} is in no room of the picture: move it, or add {room_of(name)} to FLOORS."


def _undescribed(house: House) -> Iterator[str]:
    for room, description in house.descriptions.items():
        if house.modules(room) and not description:
            yield f"{_home(room).replace('.', '/')}/__init__.py has no docstring to describe it."


def _against_order(house: House) -> Iterator[str]:
    for name, targets in house.imports.items():
        for target in sorted(targets):
            below = _refusal(room_of(name), room_of(target))
            if below:
                yield f"{house.paths[name]} imports {target}: {below}."


def _refusal(room: str, other: str) -> str:
    """Why one room must not import another; empty where it may."""
    if room == other or room not in FLOOR_OF or other not in FLOOR_OF:
        return ""
    if room in ONLY and other not in ONLY[room]:
        return f"{room} may import {' and '.join(ONLY[room])} only"
    if FLOOR_OF[room] == FLOOR_OF[other]:
        return f"{room} and {other} stand on one floor and do not import each other"
    return f"{room} stands below {other}" if FLOOR_OF[room] < FLOOR_OF[other] else ""


def _cycle(house: House) -> Iterator[str]:
    try:
        TopologicalSorter(house.imports).prepare()
    except CycleError as error:
        yield f"Modules import each other in a circle: {' <- '.join(error.args[1])}."


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _description(tree: ast.Module | None, room: str) -> str:
    """The first line of a docstring, without the name of the room before it."""
    line = "" if tree is None else (ast.get_docstring(tree) or "").partition("\n")[0]
    told = line.removeprefix(f"{room.capitalize()}: ").replace("->", "→")
    return told[:1].upper() + told[1:]


def _home(room: str) -> str:
    return PACKAGE if room == FRONT else f"{PACKAGE}.{room.replace('/', '.')}"


def _imports(tree: ast.AST, module: str, paths: dict[str, Path]) -> Iterator[str]:
    """Modules of the package that the source of a module names."""
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in paths)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, module, paths)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield from (name for name in (inner if inner in paths else source,) if name in paths)


def _absolute(node: ast.ImportFrom, module: str, paths: dict[str, Path]) -> str:
    if not node.level:
        return node.module or ""
    package = module if paths[module].name == "__init__.py" else module.rpartition(".")[0]
    for _ in range(node.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{node.module}" if node.module else package


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only the type checker sees."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield other
                yield from _nodes(other)
            continue
        yield child
        yield from _nodes(child)


def page(house: House) -> str:
    """docs/house.md: the picture and the table."""
    rooms = [room for floor in reversed(FLOORS) for room in floor if house.modules(room)]
    rows = "\n".join(_row(house, room) for room in rooms)
    return f"""# The house

<!-- Written by `python -m tools.house` from the imports; change the code, not this page. -->

Each folder of `{PACKAGE}/` is a room, and imports only point down.
The four studies stand on one floor and do not import each other.
`report/parts` knows no study: it may import `base` and what all studies share, `study`, only.
`python -m tools.house --check` refuses what is against these rules, and so do the tests.

![The rooms of widenet, each with what it imports](images/house.svg)

| Room | What | Modules | Imports |
| --- | --- | --- | --- |
{rows}
"""


def _row(house: House, room: str) -> str:
    links = " ".join(f"[{_short(name, room)}](../{house.paths[name]})" for name in house.modules(room))
    edges = ", ".join(f"{other} {count}" for other, count in house.edges(room).items()) or "nothing"
    what = house.descriptions[room].replace("|", "\\|")
    return f"| **{room}** | {what} | {links} | {edges} |"


def _short(module: str, room: str) -> str:
    inside = module.removeprefix(_home(room)).lstrip(".")
    return inside.replace(".", "/").replace("__main__", "\\_\\_main\\_\\_") or "\\_\\_init\\_\\_"


WIDTH, MARGIN, GAP, PADDING = 960, 20, 8, 12
LINE, ROOF = 17, 70
LETTER = 7.0  # width of a letter at 13 px, a little more than the mean
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2933 }
.room { font-weight: 600; font-size: 15px }
.edges { font-size: 12px; fill: #52606d }
rect { fill: #ffffff; stroke: #9aa5b1 }
.study { fill: #eef6ff; stroke: #5a8fc8 }
.ground, .roof { fill: none; stroke: #9aa5b1; stroke-width: 2 }
.sky { fill: #f7f9fb; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e7eb }
  .edges { fill: #9aa5b1 }
  rect { fill: #1f2933; stroke: #616e7c }
  .study { fill: #16304d; stroke: #5a8fc8 }
  .sky { fill: #12181f }
}
"""


def picture(house: House) -> str:
    """docs/images/house.svg: a box for each room, with its description and what it imports."""
    parts: list[str] = []
    y = ROOF + GAP
    for floor in reversed(FLOORS):
        rooms = [room for room in floor if house.modules(room)]
        if not rooms:
            continue
        width = (WIDTH - 2 * MARGIN - GAP * (len(rooms) - 1)) / len(rooms)
        told = [_told(house, room, width) for room in rooms]
        height = 2 * PADDING + LINE * max(map(len, told)) - 3
        for column, (room, lines) in enumerate(zip(rooms, told, strict=True)):
            parts += _box(MARGIN + column * (width + GAP), y, width, height, lines, is_study=room in STUDIES)
        y += height + GAP
    ground = y + 4
    roof = f"M{MARGIN - 12},{ROOF} L{WIDTH / 2:g},14 L{WIDTH - MARGIN + 12},{ROOF} Z"
    body = "\n".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {ground + 30}" role="img">
<title>The rooms of widenet; imports only point down</title>
<style>{STYLE}</style>
<rect class="sky" width="{WIDTH}" height="{ground + 30}"/>
<path class="roof" d="{roof}"/>
<text class="room" x="{WIDTH / 2:g}" y="{ROOF - 16}" text-anchor="middle">widenet</text>
{body}
<path class="ground" d="M4,{ground} H{WIDTH - 4}"/>
<text class="edges" x="{MARGIN}" y="{ground + 20}">Imports only point down. A number counts them.</text>
</svg>
"""


def _told(house: House, room: str, width: float) -> list[tuple[str, str]]:
    """The lines of a box, each with its class."""
    letters = int((width - 2 * PADDING) / LETTER)
    edges = " · ".join(f"{other}\N{NO-BREAK SPACE}{count}" for other, count in house.edges(room).items())
    described = textwrap.wrap(house.descriptions[room].replace("`", ""), letters)
    listed = textwrap.wrap(f"imports {edges or 'nothing'}", letters)
    return [("room", room), *(("what", line) for line in described), *(("edges", line) for line in listed)]


def _box(
    x: float, y: float, width: float, height: float, lines: list[tuple[str, str]], *, is_study: bool
) -> list[str]:
    kind = ' class="study"' if is_study else ""
    box = f'<rect{kind} x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>'
    texts = [
        f'<text class="{style}" x="{x + PADDING:g}" y="{y + PADDING + 12 + LINE * index:g}">'
        f"{escape(line)}</text>"
        for index, (style, line) in enumerate(lines)
    ]
    return [box, *texts]


def documents(house: House) -> dict[Path, str]:
    """Every file that is made from the imports, by its path from the root."""
    return {PAGE: page(house), PICTURE: picture(house)}


def outdated(root: Path, made: dict[Path, str], command: str) -> list[str]:
    """Files that are not as they would be written now, a sentence each."""
    return [
        f"{path} is out of date: run `{command}`."
        for path, text in made.items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]


def write(root: Path, made: dict[Path, str]) -> None:
    """Write files by their paths from the root."""
    for path, text in made.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write or check; returns the exit code."""
    house = read_house(ROOT)
    found = problems(house)
    made = documents(house)
    if "--check" in arguments:
        found += outdated(ROOT, made, "python -m tools.house")
    else:
        write(ROOT, made)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
