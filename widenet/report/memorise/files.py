"""The folder that memorising leaves behind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from widenet.memorise.checker.verify import CERTIFICATE_FILE, WEIGHTS_FILE
from widenet.memorise.run import Memorised
from widenet.report.memorise.page import memorise_page
from widenet.report.parts.files import to_json, write_folder

MEMORISE_FILES = ("report.html", "result.json", WEIGHTS_FILE, "config.json", CERTIFICATE_FILE)


def write_memorised(out: Path, done: Memorised, config: Mapping[str, Any], *, force: bool) -> None:
    """Write report, result, weights, settings, and the certificate if there is one; all of them or none."""
    contents = (memorise_page(done.result), to_json(done.result.to_dict()), done.weights, to_json(config))
    files: dict[str, str | bytes] = dict(zip(MEMORISE_FILES, contents, strict=False))
    if done.certificate is not None:
        files[CERTIFICATE_FILE] = done.certificate
    write_folder(out, files, force=force, replaceable=[CERTIFICATE_FILE])
