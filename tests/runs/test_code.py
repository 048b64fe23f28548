"""What a stored trial depends on: all code that its computation imports, and nothing else."""

import sys
import types
from importlib.metadata import version

import pytest

from widenet.runs import code
from widenet.runs.code import code_version, has_source, import_closure, imports_of


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write modules of a package outside of widenet, as whoever extends it would; versions start afresh."""
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(**sources):
        for name, source in {"__init__": "", **sources}.items():
            (folder / f"{name}.py").write_text(source)
        for cached in (code_version, code._path):
            cached.cache_clear()

    yield write
    write()
    for name in [name for name in sys.modules if name.partition(".")[0] == "outside"]:
        del sys.modules[name]


LAYERS = {
    "top": "import math\n\nfrom outside import middle\n",
    "middle": "def late():\n    from outside.bottom import VALUE\n    return VALUE\n",
    "bottom": "VALUE = 1\n",
    "beside": "VALUE = 1\n",
}


def test_the_closure_is_followed_into_functions(package):
    package(**LAYERS)
    assert import_closure(["outside.top"]) == {"outside.top", "outside.middle", "outside.bottom"}


def test_a_change_deep_in_the_closure_is_another_version(package):
    package(**LAYERS)
    first = code_version("outside.top")
    assert first.startswith(f"{version('widenet')} ")
    package(**LAYERS)
    assert code_version("outside.top") == first
    package(**LAYERS | {"beside": "VALUE = 2\n"})
    assert code_version("outside.top") == first
    package(**LAYERS | {"bottom": "VALUE = 2\n"})
    assert code_version("outside.top") != first


TYPED = """\
import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import outside.bottom
if typing.TYPE_CHECKING:
    from outside import middle
else:
    import outside.beside
"""


def test_imports_for_types_alone_do_not_count(package):
    package(**LAYERS, typed=TYPED)
    assert import_closure(["outside.typed"]) == {"outside.typed", "outside.beside"}


def test_names_are_found_in_modules_and_modules_in_packages(package):
    whole = "from outside import middle\nfrom outside.bottom import VALUE\nimport outside.beside\n"
    relative = "from . import middle, beside\nfrom .bottom import VALUE\n"
    package(**LAYERS, whole=whole, relative=relative)
    expected = {"outside.middle", "outside.bottom", "outside.beside"}
    assert set(imports_of("outside.whole")) == set(imports_of("outside.relative")) == expected


def test_a_module_outside_brings_what_it_takes_of_widenet(package):
    package(**LAYERS, own="from widenet.base.wording import shown\nimport numpy\n")
    closure = import_closure(["outside.own"])
    assert closure == {"outside.own", "widenet.base.wording"}


def test_several_roots_are_one_closure_in_any_order(package):
    package(**LAYERS)
    roots = ("outside.beside", "outside.middle")
    assert import_closure(roots) == {*roots, "outside.bottom"}
    assert code_version(*roots) == code_version(*reversed(roots))
    assert code_version("outside.beside") != code_version("outside.bottom")


def test_a_module_that_cannot_be_found_has_no_source(package):
    package(**LAYERS)
    assert import_closure(["outside.missing"]) == {"outside.missing"}
    assert code_version("outside.missing") != code_version("outside.absent")


def test_a_script_that_was_started_has_a_source_and_a_prompt_has_none(package, monkeypatch, tmp_path):
    package()
    main = types.ModuleType("__main__")  # without a spec, as when a script is started
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert not has_source("__main__")
    versions = []
    for source in ("x = 1", "x = 2"):
        main.__file__ = str(tmp_path / "script.py")
        (tmp_path / "script.py").write_text(source)
        package()
        assert has_source("__main__")
        versions.append(code_version("__main__"))
    assert versions[0] != versions[1]
