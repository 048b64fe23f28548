"""One name for each thing, one home for each idea, and flags on the command line alone."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import widenet

PACKAGE = Path(widenet.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
# The doors that every room of the report has, the parts of a figure, and what papers call their theorems.
CONVENTIONS = re.compile(
    r"theorem_|lemma_|corollary_|(files|on_the_way|page|record|screen|sentences|plan|cells|curves|claims)$"
)
CHECKER = PACKAGE / "memorise" / "checker"  # shares nothing with the trainer, not even names by import
HOMES = {
    "DataSummary": "study/data.py",
    "Forecast": "study/forecast.py",
    "Progress": "base/progress.py",
    "Speed": "study/speed.py",
    "Result": "study/result.py",
    "Settings": "study/settings.py",
    "publish": "report/parts/publish.py",
    "near_names": "base/wording.py",
    "code_version": "runs/code.py",
}
CONSTANTS = {
    "BASE_BYTES": "base/memory.py",
    "USABLE_SHARE": "base/memory.py",
    "ASSUMED_BYTES": "base/memory.py",
    "HOUR": "base/wording.py",
}


def defined(path: Path) -> list[tuple[str, bool]]:
    """Public top-level names of a module, and whether each is a function or class."""
    found: list[tuple[str, bool]] = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append((node.name, True))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
            found += [(name.id, False) for name in names]
    return [(name, is_code) for name, is_code in found if not name.startswith("_")]


def test_no_two_public_functions_or_classes_share_a_name():
    places = defaultdict(list)
    for path in MODULES:
        if CHECKER not in path.parents:
            for name, is_code in defined(path):
                if is_code and not CONVENTIONS.match(name):
                    places[name].append(str(path.relative_to(PACKAGE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@pytest.mark.parametrize("name", [*HOMES, *CONSTANTS])
def test_every_shared_idea_has_one_home(name):
    homes = [str(path.relative_to(PACKAGE)) for path in MODULES for each, _ in defined(path) if each == name]
    assert homes == [(HOMES | CONSTANTS)[name]]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_names_flags(path):
    if PACKAGE / "cli" in path.parents:
        return
    strings = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    named = [node.value for node in strings if isinstance(node.value, str) and FLAG.search(node.value)]
    assert named == []


FLAG = re.compile(r"(^|[\s(`'\"])--[a-z]{2,}")
