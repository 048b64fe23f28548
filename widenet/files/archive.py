"""Zip archives: the one table inside, or the one that is named, as in `archive.zip/train.csv`."""

import shutil
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import counted, listed, near_names, shown
from widenet.files.packed import COPIES, UNREADABLE, refuse_bomb

ZIP = ".zip"
ABOUT = {"readme", "read_me", "license", "licence", "changelog", "citation"}  # texts that are no tables
ASIDE = (".json", ".txt")  # beside one larger table of another kind, these are about it
# A RuntimeError: encrypted, or packed in a way that is not known.
UNREADABLE_ARCHIVE = (*UNREADABLE, zipfile.BadZipFile, RuntimeError)


@dataclass(frozen=True)
class Opened:
    """A plain file, or a folder.

    Attributes:
        path: Where it is, for as long as it is read.
        notes: Sentences that tell what beside it was not read.
    """

    path: Path
    notes: tuple[str, ...] = ()


def archive_of(path: Path) -> Path | None:
    """The zip archive that a path is, or leads into; None for all others."""
    return next(
        (each for each in (path, *path.parents) if each.suffix.lower() == ZIP and each.is_file()), None
    )


@contextmanager
def unpacked(path: Path, archive: Path, endings: Collection[str]) -> Iterator[Opened]:
    """The table that a path into an archive means, as a file of its own for as long as it is read.

    Args:
        path: The archive, or a file in it.
        archive: The archive.
        endings: Those of files that are tables.
    """
    wanted = path.relative_to(archive).as_posix() if path != archive else ""
    with ExitStack() as held:
        try:
            folder = held.enter_context(tempfile.TemporaryDirectory(prefix="widenet-"))
            table = _unpack(archive, wanted, endings, Path(folder))
        except UNREADABLE_ARCHIVE as error:
            told = f"{shown(archive.name)} cannot be unpacked ({str(error) or type(error).__name__})"
            raise InputError(f"{told}: unpack it first.") from error
        yield table  # outside the clause: errors of who reads it are none of the archive


def _unpack(archive: Path, wanted: str, endings: Collection[str], folder: Path) -> Opened:
    with zipfile.ZipFile(archive) as opened:
        member, others = _member(opened, archive, wanted, endings)
        name = shown(member.filename)
        refuse_bomb(archive.name, member.file_size, member.compress_size)
        require_memory(COPIES * member.file_size, f"{name} of {shown(archive.name)}, unpacked,")
        target = folder / _plain_name(member)
        with opened.open(member) as source, target.open("wb") as plain:
            shutil.copyfileobj(source, plain)
    notes = (f"Other files in {shown(archive.name)} were not read: {listed(others)}.",) if others else ()
    return Opened(target, notes)


def _member(
    archive: zipfile.ZipFile, path: Path, wanted: str, endings: Collection[str]
) -> tuple[zipfile.ZipInfo, list[str]]:
    """The table that is wanted, or the only one, and the names of what may be tables but is about it."""
    tables = [
        each
        for each in archive.infolist()
        if _is_table(each, endings) or PurePosixPath(each.filename).name == path.name
    ]
    names = [each.filename for each in tables]
    if wanted:
        found = [each for each in tables if each.filename == wanted]
        if not found:
            raise InputError(f"{shown(path.name)} has no table {shown(wanted)}: {near_names(wanted, names)}")
        return found[0], []
    aside = [each for each in tables if each.filename.lower().endswith(ASIDE)]
    others = [each for each in tables if not each.filename.lower().endswith(ASIDE)]
    if len(others) == 1 and all(each.file_size < others[0].file_size for each in aside):
        return others[0], [each.filename for each in aside]
    if not tables:
        raise InputError(f"{shown(path.name)} holds no table that is read: unpack it.")
    if len(tables) > 1:
        raise InputError(
            f"{shown(path.name)} holds {counted(len(tables), 'table')}, {listed(names)}: choose one, as in "
            f"{shown(f'{path}/{names[0]}')}."
        )
    return tables[0], []


def _is_table(member: zipfile.ZipInfo, endings: Collection[str]) -> bool:
    """Whether a member is a table, and not what desktops add for themselves."""
    parts = PurePosixPath(member.filename).parts
    is_hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    is_about = bool(parts) and PurePosixPath(parts[-1]).stem.lower() in ABOUT
    is_read = member.filename.lower().endswith(tuple(endings))
    return is_read and not (member.is_dir() or is_hidden or is_about)


def _plain_name(member: zipfile.ZipInfo) -> str:
    """A name within one folder, whatever the archive calls it: its last part, cut where it is long.

    Some programs call a member as they call the archive, `table.csv.zip` or `table.zip`, though it is not
    packed again: then it is text.
    """
    name = PurePosixPath(member.filename.replace("\\", "/")).name.replace("\0", "")
    if name.lower().endswith(ZIP):
        name = name[: -len(ZIP)]
        name = name if PurePosixPath(name).suffix else f"{name}.csv"
    return name if len(name.encode(errors="replace")) <= 200 else name[-60:]
