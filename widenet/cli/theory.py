"""`widenet theory`: quantities by name, and the studies that hold a network against the theorems."""

import textwrap
from collections.abc import Sequence

import click

from widenet.cli.common import DEBUG, JSON, Command, tell_result
from widenet.cli.options import split_pairs
from widenet.cli.printing import say, screenful
from widenet.cli.study import study_command
from widenet.study.study import named

STUDIES = {  # commands with options of their own, by their names: where their `Study` stands
    "inside": "widenet.inside.study:INSIDE",
    "separation": "widenet.papers.resnet_beyond_kernels.separation.study:SEPARATION",
}


class TheoryGroup(click.Group):
    """A group whose commands are the studies of the theory, and the name of every quantity."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(STUDIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        return study_command(named(STUDIES[cmd_name])) if cmd_name in STUDIES else quantity_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return args[0], self.get_command(ctx, args[0]), args[1:]


def _theory(as_json: bool) -> None:
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        context.default_map = {context.invoked_subcommand: {"as_json": as_json}}
        return
    from widenet.report import theory as room
    from widenet.report.parts.files import to_json
    from widenet.theory.names import quantity_groups

    if as_json:
        say(to_json(room.listing(quantity_groups())))
    else:
        commands = {name: named(place).summary for name, place in STUDIES.items()}
        say(screenful(lambda console: room.list_screen(quantity_groups(), commands, console)), nl=False)
        say("widenet theory NAME key=value ... computes one; NAME --help lists its arguments.")


theory = TheoryGroup(
    "theory",
    params=[JSON, DEBUG],
    callback=_theory,
    invoke_without_command=True,
    subcommand_metavar="[NAME [KEY=VALUE]...]",
    short_help="Compute a quantity or theorem of the papers by NAME.",
    help="Compute a quantity or theorem of the papers by NAME; without NAME, list them all.",
)


def quantity_command(name: str) -> click.Command:
    """The command that computes a quantity, with its arguments in the help."""
    from widenet.report import theory as room
    from widenet.theory.names import entry_by_name

    entry = entry_by_name(name, commands=tuple(STUDIES))

    def compute(pairs: tuple[str, ...], as_json: bool) -> None:
        tell_result(entry(split_pairs(entry.name, pairs)), room, as_json=as_json)

    return Command(
        entry.name,
        params=[click.Argument(["pairs"], nargs=-1, metavar="[KEY=VALUE]..."), JSON, DEBUG],
        callback=compute,
        help=_help(entry.summary, room.argument_lines(entry.arguments)),
    )


def _help(summary: str, lines: Sequence[str]) -> str:
    told = [textwrap.fill(line, 76, initial_indent="  ", subsequent_indent="      ") for line in lines]
    return f"{summary}.\n\n\b\nArguments:\n" + "\n".join(told)
