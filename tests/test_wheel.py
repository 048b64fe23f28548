"""What people install: a wheel that is built, put into a fresh place, and run there without the sources."""

import os
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "widenet"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("wheel")]  # it is built once for all of them
TABLE = "a,y\n" + "1.5,no\n2.5,yes\n0.5,no\n3.5,yes\n" * 5


def own_files() -> list[Path]:
    return [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The package as a wheel brings it, built from a copy of the sources that is then removed."""
    sources, folder = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("installed")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    shutil.copytree(PACKAGE, sources / "widenet", ignore=shutil.ignore_patterns("__pycache__"))
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=sources, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*pip, str(folder / "place"), str(wheel)], check=True, capture_output=True)
    shutil.rmtree(sources)
    return folder / "place"


@pytest.fixture
def run(installed, tmp_path):
    """Runs Python, or the command that the wheel brings, in another folder and with the installed package."""

    def run(*arguments: str, command: bool = True) -> subprocess.CompletedProcess[str]:
        first = [str(installed / "bin" / "widenet")] if command else ["-c"]
        environment = os.environ | {"PYTHONPATH": str(installed)}
        return subprocess.run(
            [sys.executable, *first, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


def test_the_command_runs_from_the_wheel(run, installed):
    where = run("import widenet; print(widenet.__file__, widenet.__version__)", command=False)
    assert where.stdout.split() == [
        str(installed / "widenet" / "__init__.py"),
        SETTINGS["project"]["version"],
    ]
    assert run("--version").stdout.strip().endswith(SETTINGS["project"]["version"])
    listed = run("data")
    assert listed.returncode == 0
    assert "digits" in listed.stdout


def test_an_audit_from_the_wheel_finds_all_that_its_page_needs(run, tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    done = run("audit", "table.csv", "--out", "out", "--quiet")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    for name in ("page.css", "page.js"):
        lines = (PACKAGE / "report" / "parts" / name).read_text().splitlines()
        assert max(lines, key=len).strip() in page


def test_wrong_names_are_told_without_importing_torch(run, tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    script = (
        "import sys\nfrom widenet import cli\nsys.argv = ['widenet', 'audit', *{}]\n"
        "try:\n    cli.main()\nfinally:\n    print('torch' in sys.modules)"
    )
    for arguments, said in (
        (["table.csv", "--target", "zz"], "no column 'zz'"),
        (["no.csv"], "no file 'no.csv'"),
    ):
        done = run(script.format(arguments), command=False)
        assert (done.returncode, done.stdout) == (2, "False\n")
        assert said in done.stderr


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
