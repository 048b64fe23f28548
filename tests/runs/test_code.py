"""What counts as the code of a trial: the modules that compute and all that they import."""

import sys
import types
from importlib.metadata import version

import pytest

from widenet.base.errors import InputError
from widenet.runs import code
from widenet.runs.code import code_version, import_closure


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Writes modules of a package `outside` that is not part of widenet, and forgets what was read before."""
    (tmp_path / "outside").mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def write(**sources: str) -> None:
        for name, source in {"__init__": "", **sources}.items():
            (tmp_path / "outside" / f"{name}.py").write_text(source)
        code_version.cache_clear()
        code._path.cache_clear()
        for name in [name for name in sys.modules if name.partition(".")[0] == "outside"]:
            del sys.modules[name]

    return write


def test_a_version_follows_the_source_of_a_module_and_of_all_that_it_imports(outside):
    outside(net="from outside import inner", inner="x = 1", other="x = 1")
    first = code_version("outside.net")
    outside(net="from outside import inner", inner="x = 1", other="x = 2")
    assert code_version("outside.net") == first
    outside(net="from outside import inner", inner="x = 2")
    assert code_version("outside.net") != first
    assert len({code_version(*roots) for roots in (["outside.net"], ["outside.inner"])}) == 2
    assert first.startswith(version("widenet"))


@pytest.mark.parametrize(
    "line",
    [
        "import outside.inner",
        "from outside.inner import x",
        "from . import inner",
        "from .inner import x",
        "def late():\n    from outside.inner import x",
    ],
)
def test_every_way_to_import_counts(outside, line):
    outside(net=line, inner="x = 1")
    assert "outside.inner" in import_closure(["outside.net"])


def test_imports_for_types_alone_and_other_packages_do_not_count(outside):
    outside(net="import json\nif TYPE_CHECKING:\n    from outside import inner", inner="x = 1")
    assert import_closure(["outside.net"]) == {"outside.net"}


def test_the_closure_goes_on_inside_widenet(outside):
    outside(net="from widenet.networks.fully_connected import TwoLayers")
    closure = import_closure(["outside.net"])
    assert {"widenet.networks.network", "widenet.networks.relu", "widenet.base.errors"} <= closure
    assert "widenet.training.together" not in closure


def test_a_script_that_was_started_has_a_version_and_a_prompt_has_none(tmp_path, monkeypatch):
    (tmp_path / "script.py").write_text("x = 1")
    main = types.ModuleType("__main__")  # without a spec, as when a script is started
    monkeypatch.setitem(sys.modules, "__main__", main)
    for cached in (code_version, code._path):
        cached.cache_clear()
    with pytest.raises(InputError, match="'__main__' has no source file"):
        code_version("__main__")
    code._path.cache_clear()
    main.__file__ = str(tmp_path / "script.py")
    assert code_version("__main__").startswith(version("widenet"))
    for cached in (code_version, code._path):
        cached.cache_clear()
