"""What the commands share: options that mean the same everywhere, names of folders, stages of long work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

FAILED, WRONG_INPUT, FAILED_TRIALS, INTERRUPTED = 1, 2, 3, 130

data_argument = click.argument("data", default="digits")
target_option = click.option(
    "--target", metavar="COL", help="Column to predict; found by its name or taken as the last."
)
prepare_option = click.option(
    "--prepare",
    type=click.Choice(["unit", "standard"]),
    help="Map of the rows to the unit sphere.  [default: unit for images, standard for tables]",
)
impute_option = click.option(
    "--impute", is_flag=True, help="Fill missing values in instead of refusing them."
)
seed_option = click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
force_option = click.option("--force", is_flag=True, help="Replace the folder of an earlier result.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No messages on the way.")
debug_option = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")


def out_option(command: str) -> Callable[..., Callable[..., object]]:
    """The option for the folder to write."""
    return click.option(
        "--out", type=click.Path(path_type=Path), help=f"Folder to write.  [default: widenet-{command}-DATA]"
    )


def short_name(data: str) -> str:
    """DATA as a part of a folder's name: without its folder, ending and options."""
    from widenet.data import is_concept

    return data.partition(":")[0] if is_concept(data) else Path(data).stem


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Tell the stage of long work: one changing line on a terminal, a plain line for each stage elsewhere."""
    console = Console(stderr=True, quiet=quiet)
    if not console.is_terminal:
        told: set[str] = set()

        def tell(stage: str) -> None:
            name = stage.partition(":")[0]  # what follows the colon is how far it is
            if name not in told:
                console.print(stage, markup=False, highlight=False)
            told.add(name)

        yield tell
        return
    with console.status("starting") as status:
        yield lambda stage: status.update(Text(stage))
