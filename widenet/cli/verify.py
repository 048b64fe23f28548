"""`widenet verify`: a certificate checked, which is no study but the opposite of one."""

from pathlib import Path

import click

from widenet.cli.common import DEBUG, EXIT_CODES, JSON, QUIET, Command, tell_result


def _verify(folder: Path, data: str | None, as_json: bool, quiet: bool) -> int:
    from widenet.memorise.checker.verify import verify as verify_folder
    from widenet.report import verify as room
    from widenet.study.progress import told_progress

    with told_progress(quiet=quiet) as progress:
        found = verify_folder(folder, data, progress=progress)
    tell_result(found, room, as_json=as_json)
    return EXIT_CODES[found.outcome.value]


verify = Command(
    "verify",
    params=[
        click.Argument(["folder"], metavar="DIR", type=click.Path(path_type=Path)),
        click.Argument(["data"], required=False),
        JSON,
        QUIET,
        DEBUG,
    ],
    callback=_verify,
    short_help="Check the certificate of a memorised data set with independent code.",
    help="Check the certificate that `widenet memorise` wrote to DIR, with code that shares nothing with the "
    "trainer.\n\nDATA is a built-in name or a file; by default, the one that the certificate names. Exit "
    "code 1: something is not as the certificate says; 3: something could be neither proved nor refuted.",
)
