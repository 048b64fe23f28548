"""The registry: every name works, and its arguments are those of its function."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from widenet.base.errors import InputError
from widenet.theory.entry import Entry
from widenet.theory.names import MODULES, TITLES, entry_by_name, quantity_groups

ENTRIES = [entry for group in quantity_groups().values() for entry in group]


def test_names_are_unique_and_lower_case():
    names = [entry.name for entry in ENTRIES]
    assert len(set(names)) == len(names)
    assert all(name == name.casefold() and " " not in name for name in names)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_arguments_are_those_of_the_function(entry: Entry):
    parameters = inspect.signature(entry.function).parameters
    assert set(entry.arguments) <= set(parameters)
    needed = {name for name, each in parameters.items() if each.default is inspect.Parameter.empty}
    assert needed <= set(entry.arguments)
    for name, argument in entry.arguments.items():
        default = parameters[name].default
        if default is not inspect.Parameter.empty and argument.default is not None:
            assert argument.default == default
        assert (argument.default is None) == (name in needed)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_entry_says_what_it_is(entry: Entry):
    assert entry.summary
    assert not entry.summary.endswith(".")
    assert all(argument.meaning for argument in entry.arguments.values())


def test_every_module_with_quantities_is_registered():
    """A theorem is a new module, and its name in `MODULES`."""
    theory = import_module("widenet.theory")
    (folder,) = theory.__path__
    holders = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in Path(folder).rglob("*.py")
        if "\nQUANTITIES = " in path.read_text()
    }
    registered = (module.__name__ for modules in MODULES.values() for module in modules)
    assert holders == {name.removeprefix("widenet.theory.") for name in registered}


def test_papers_have_titles():
    assert {heading for heading in MODULES if " and " not in heading} == set(TITLES)


def test_unknown_names_suggest_near_ones():
    assert entry_by_name("C-S").name == "c-s"
    with pytest.raises(InputError, match="resnet-theorem-1"):
        entry_by_name("resnet-theorm-1")
    with pytest.raises(InputError, match="separation"):
        entry_by_name("seperation", commands=("inside", "separation"))
