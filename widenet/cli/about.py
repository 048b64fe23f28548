"""`widenet data` and `widenet doctor`: what there is to work with."""

import os

import click

from widenet.cli.common import debug_option


@click.command()
@click.argument("name", required=False)
@debug_option
def data(name: str | None) -> None:
    """List the built-in data sets, or say where NAME is looked for and what it holds."""
    from widenet.data import builtin_names, describe

    if name is None:
        for each in map(describe, builtin_names()):
            click.echo(f"{each.name:<12} {each.n:>6,} rows, {each.d:>4} columns. {each.description}")
        return
    known = describe(name)
    click.echo(f"{known.name}: {known.n:,} rows, {known.d} columns. {known.description}")
    if known.classes:
        click.echo(f"Classes: {', '.join(known.classes)}")
    else:
        click.echo(f"Targets: {known.num_outputs} for each row")
    if known.options:
        click.echo(f"Options: {', '.join(known.options)}, as in {known.name}:{known.options[0]}=...")
    click.echo(f"Source: {known.source}")
    for place in known.places:
        click.echo(f"{'found' if place.found else 'not found':>9}  {place.text}")


@click.command()
@debug_option
def doctor() -> None:
    """Show what widenet finds on this machine: versions, threads, memory, data."""
    import platform
    from importlib.metadata import version

    import torch

    from widenet.data import available_bytes

    free = available_bytes()
    click.echo(f"widenet   {version('widenet')}")
    click.echo(f"python    {platform.python_version()}")
    click.echo(f"torch     {torch.__version__}, {torch.get_num_threads()} threads")
    click.echo(f"memory    {'unknown' if free is None else f'{free / 2**30:.1f} GiB free'}")
    click.echo(f"data      WIDENET_DATA={os.environ.get('WIDENET_DATA', 'not set')}")
