"""`import widenet` is light, and every public name has its type."""

import ast
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import widenet

ROOT = Path(__file__).resolve().parents[1]
WRONG = {
    "widenet.run_audit(42, nonsense=True)": "call-arg",
    "widenet.run_auditt": "attr-defined",
    'widenet.audit("digits", kernl="relu2-hidden")': "call-arg",
    'widenet.audit("digits", seed="one")': "arg-type",
    'widenet.compare("digits", target=["y"])': "arg-type",
    'widenet.memorise("digits").lost': "attr-defined",
    "widenet.__version__.nothing": "attr-defined",
    'widenet.load("digits").nothing': "attr-defined",
    'widenet.load("digits", prepare="other")': "arg-type",
    "widenet.AuditSettings(eta='fast')": "arg-type",
    'widenet.run_compare("digits")': "arg-type",
    'widenet.run_memorise(widenet.load("digits")).lost': "attr-defined",
    'widenet.kernel_by_name("relu2-hidden").tile(1, 2)': "arg-type",
    "widenet.Serial(3)": "arg-type",
    "widenet.verify(1)": "arg-type",
    "widenet.run_inside(widenet.load('digits'))": "call-arg",
    'widenet.network_by_name("3resnet-all")': "call-arg",
}


def checked(*scripts: Path) -> str:
    """What mypy says of scripts that somebody wrote who has only the package."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, scripts)]
    environment = os.environ | {"MYPYPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment).stdout


def python_blocks(page: Path) -> list[str]:
    parts = page.read_text().split("```python\n")[1:]
    return [part.partition("```")[0] for part in parts]


@pytest.mark.slow
def test_the_type_checker_catches_every_wrong_call_and_passes_the_readme(tmp_path):
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text("\n".join(["import widenet", *WRONG]) + "\n")
    right.write_text("\n".join(python_blocks(ROOT / "README.md")))
    told = checked(wrong, right).splitlines()
    assert [line for line in told if "right.py" in line] == []
    for number, (call, code) in enumerate(WRONG.items(), start=2):
        assert any(f"wrong.py:{number}: error:" in line and f"[{code}]" in line for line in told), call


def test_importing_it_is_light():
    script = "import sys, widenet; print(sorted({'torch', 'numpy', 'pandas', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", widenet.__all__)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(widenet, name)
    assert value is getattr(widenet, name)
    assert value.__doc__


def test_the_version_is_that_of_the_package():
    assert widenet.__version__ == version("widenet")


def test_folders_of_studies_are_called_like_functions():
    """`widenet.audit` is a folder and a function, before and after its modules are imported."""
    script = "import widenet; first = widenet.audit; import widenet.audit.run; print(first is widenet.audit)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert callable(widenet.compare)
    assert callable(widenet.memorise)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="run_auditt"):
        widenet.run_auditt  # noqa: B018
    assert dir(widenet) == widenet.__all__


def test_the_stub_holds_imports_alone():
    body = ast.parse((ROOT / "widenet/__init__.pyi").read_text()).body
    assert all(isinstance(node, ast.ImportFrom) for node in body[1:-1])
    assert ast.unparse(body[-1]) == "__version__: str"
