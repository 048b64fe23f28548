"""`widenet verify`: a certificate checked, which is no study but the opposite of one."""

from pathlib import Path

import click

from widenet.cli.common import DEBUG, EXIT_CODES, JSON, QUIET, Command, tell_result


def _verify(folder: Path, data: str | None, trust: Path | None, as_json: bool, quiet: bool) -> int:
    from widenet.files.opening import checked_path, looks_like_path

    if data is not None and looks_like_path(data):
        checked_path(data)
    from widenet.memorise.checker.verify import verify as verify_folder
    from widenet.report import verify as room
    from widenet.study.progress import told_progress

    with told_progress(quiet=quiet) as progress:
        found = verify_folder(folder, data, trust=trust, progress=progress)
    tell_result(found, room, as_json=as_json)
    return EXIT_CODES[found.outcome.value]


verify = Command(
    "verify",
    params=[
        click.Argument(["folder"], metavar="DIR", type=click.Path(path_type=Path)),
        click.Argument(["data"], required=False),
        click.Option(
            ["--trust"],
            type=click.Path(path_type=Path),
            metavar="KEY",
            help="Demand a signature by the owner of this public key, ed25519 in PEM.",
        ),
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
