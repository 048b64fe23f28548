"""What is in the repository is in the wheel: every folder is a package, every other file is package data."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "widenet"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())


def own_files() -> list[Path]:
    return [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_every_folder_is_a_package():
    folders = {path.parent for path in own_files()}
    assert sorted(folder for folder in folders if not (folder / "__init__.py").exists()) == []


def test_every_other_file_is_package_data():
    patterns = SETTINGS["tool"]["setuptools"]["package-data"]["widenet"]
    others = [str(path.relative_to(PACKAGE)) for path in own_files() if path.suffix != ".py"]
    assert "py.typed" in others
    assert [name for name in others if not any(fnmatch(name, pattern) for pattern in patterns)] == []


def test_readers_are_part_of_the_plain_install():
    names = {each.partition(">")[0] for each in SETTINGS["project"]["dependencies"]}
    assert names >= {"pandas", "pyarrow", "openpyxl", "pillow"}
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert names - {"matplotlib"} <= pinned
