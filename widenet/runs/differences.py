"""Why a store is of no use to a run: what the nearest trial in it differs in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from widenet.base.progress import Progress
from widenet.base.wording import counted, shown
from widenet.runs.records import unpack_json
from widenet.runs.store import Store
from widenet.runs.trial import Trial, whole_of

MOST_NAMED = 3  # settings of which a sentence tells what they were
NOT_SET = object()


@dataclass(frozen=True)
class Differences:
    """From the stored trial that is most like the one that is not there.

    Attributes:
        path: The store.
        settings: Name, what it was and what it is, of each setting that differs.
        data: What the data's hash was and is; None where that is the same.
        code: What the version of the code was and is; None where that is the same.
    """

    path: Path
    settings: tuple[tuple[str, Any, Any], ...]
    data: tuple[str, str] | None
    code: tuple[str, str] | None

    def told(self) -> str:
        """In one sentence."""
        parts = [f"`{name}` was {_value(was)} and is {_value(now)}" for name, was, now in self.settings]
        if len(parts) > MOST_NAMED:
            parts[MOST_NAMED:] = [f"{counted(len(parts) - MOST_NAMED, 'other setting')} changed"]
        if self.data is not None:
            parts.append("the data changed (hash {} to {})".format(*map(_short, self.data)))
        if self.code is not None:
            parts.append("the code changed (version {} to {})".format(*map(_short, self.code)))
        return f"{self.path} holds work of another run, so this one starts afresh: {', '.join(parts)}."


def what_differs(store: Store, trials: Sequence[Trial]) -> Differences | None:
    """What keeps a run from going on from a store that is not empty; None where nothing does.

    Trials of other work are no concern of this one: a sentence is worth it where nothing that is there could
    be used, or where a trial with the very same settings could not. One sentence is enough for an open store.
    """
    if store.unused is not None and not store.unused:
        return None
    stored, wanted = set(map(whole_of, store.identities())), [trial.identity for trial in trials]
    store.unused = (stored if store.unused is None else store.unused) - set(wanted)
    missing = [identity for identity in wanted if identity not in stored]
    if not missing:
        return None
    parts = unpack_json(missing[0])
    alike = [other for other in map(unpack_json, store.unused) if _is_alike(other, parts)]
    if not alike:
        return None
    nearest = min((_differences(store.path, other, parts) for other in alike), key=_size)
    if nearest.settings and len(missing) < len(wanted):
        return None
    store.unused = set()
    return nearest


def note_differences(store: Store | None, trials: Sequence[Trial], progress: Progress) -> None:
    """Tell the progress of a run what keeps it from going on from its store."""
    found = None if store is None else what_differs(store, trials)
    if found is not None:
        progress.note(found)


def _is_alike(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two trials are of the same kind of work: most names of their settings are the same."""
    names, others = first["settings"].keys(), second["settings"].keys()
    return 2 * len(names & others) > len(names | others)


def _differences(path: Path, other: Mapping[str, Any], wanted: Mapping[str, Any]) -> Differences:
    was, now = other["settings"], wanted["settings"]
    names = [*now, *(name for name in was if name not in now)]
    pairs = [(name, was.get(name, NOT_SET), now.get(name, NOT_SET)) for name in names]
    changed = {
        part: (other[part], wanted[part]) if other[part] != wanted[part] else None
        for part in ("data", "code")
    }
    return Differences(path, tuple(each for each in pairs if each[1] != each[2]), **changed)


def _size(differences: Differences) -> tuple[int, int, str]:
    other = (differences.data is not None) + (differences.code is not None)
    return len(differences.settings), other, differences.told()


def _value(value: Any) -> str:
    if value is NOT_SET or value is None:
        return "not set"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "none"
    return str(value) if isinstance(value, bool | int | float) else shown(value)


def _short(version: str) -> str:
    """With the first digits of long hashes only."""
    return re.sub(r"\b([0-9a-f]{8})[0-9a-f]{24,}\b", r"\1", version) or "none"
