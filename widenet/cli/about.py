"""`widenet data` and `widenet doctor`: what there is to work with."""

import os

import click

from widenet.base.wording import counted
from widenet.cli.common import DEBUG, Command
from widenet.cli.printing import say


def _data(name: str | None) -> None:
    from widenet.data import builtin_names, describe

    if name is None:
        for each in map(describe, builtin_names()):
            say(f"{each.name:<12} {each.n:>6,} rows, {each.d:>4} columns. {each.description}")
        return
    known = describe(name)
    say(f"{known.name}: {known.n:,} rows, {known.d} columns. {known.description}")
    if known.classes:
        say(f"Classes: {', '.join(known.classes)}")
    else:
        say(f"Targets: {known.num_outputs} for each row")
    if known.options:
        say(f"Options: {', '.join(known.options)}, as in {known.name}:{known.options[0]}=...")
    say(f"Source: {known.source}")
    for place in known.places:
        found = "download" if place.kind == "network" else "found" if place.found else "not found"
        say(f"{found:>9}  {place.text}")


def _doctor() -> None:
    import platform
    from importlib.metadata import version

    import torch

    from widenet.base.memory import available_bytes

    free = available_bytes()
    say(f"widenet   {version('widenet')}")
    say(f"python    {platform.python_version()}")
    say(f"torch     {torch.__version__}, {counted(torch.get_num_threads(), 'thread')}")
    say(f"memory    {'unknown' if free is None else f'{free / 2**30:.1f} GiB free'}")
    say(f"data      WIDENET_DATA={os.environ.get('WIDENET_DATA', 'not set')}")


data = Command(
    "data",
    params=[click.Argument(["name"], required=False), DEBUG],
    callback=_data,
    short_help="List the built-in data sets, or describe one.",
    help="List the built-in data sets, or say where NAME is looked for and what it holds.",
)
doctor = Command(
    "doctor",
    params=[DEBUG],
    callback=_doctor,
    short_help="Show versions, threads, memory and data of this machine.",
    help="Show what widenet finds on this machine: versions, threads, memory, data.",
)
