"""Files as people have them: how many are audited at the first try, and what is said of the others.

The files come from the packages in `peers/people.txt`, in the environment that `make bench` makes. A folder
of images is made of scikit-learn's digits.
"""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image
from sklearn.datasets import load_digits

import widenet
from widenet.base.errors import InputError
from widenet.data.noise import subset
from widenet.files.opening import ending_of

PYTHON = Path(".bench/people/bin/python")
SCRIPT = Path(__file__).parent / "peers" / "export_people.py"
MOST_ROWS = 150  # of a file that are audited: whether it opens is the question here
NUM_IMAGES = 200


@dataclass(frozen=True)
class Opened:
    """What became of one file.

    Attributes:
        file: Its name.
        kind: Its ending, or `folder`.
        rows: Rows that were read; 0 where it was refused.
        used: Columns that are used, and how many were left out and imputed.
        target: Which column is predicted, and why.
        refused: What was said where it was refused.
    """

    file: str
    kind: str
    rows: int = 0
    used: tuple[int, int, int] = (0, 0, 0)
    target: str = ""
    refused: str = ""


@dataclass(frozen=True)
class People:
    """All files.

    Attributes:
        files: How many there are.
        accepted: How many were audited at the first try.
        kinds: Accepted and all files of each kind.
        refused: What was said of each of the others.
        opened: Each of them.
    """

    files: int
    accepted: int
    kinds: dict[str, str]
    refused: dict[str, str]
    opened: tuple[Opened, ...]


def run() -> People:
    """Audit every file, at most MOST_ROWS rows of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([str(PYTHON), str(SCRIPT), name], check=True)
        targets = json.loads((folder / "files.json").read_text())
        _write_images(folder / "digits")
        opened = [open_file(folder / file, target or None) for file, target in targets.items()]
        return summary((*opened, open_file(folder / "digits", None)))


def open_file(path: Path, target: str | None) -> Opened:
    """Load a file and audit some of its rows, as `widenet audit` does; a refusal is kept."""
    kind = "folder" if path.is_dir() else ending_of(path)
    try:
        dataset = widenet.load(path, target=target)
        rows = torch.randperm(dataset.n, generator=torch.Generator().manual_seed(0))[:MOST_ROWS]
        widenet.audit(subset(dataset, rows))
    except InputError as error:
        return Opened(path.name, kind, refused=str(error))
    columns = dataset.columns
    used = (len(columns.used), len(columns.dropped), len(columns.imputed))
    why = next((note for note in dataset.provenance if note.startswith("The target is column")), "")
    return Opened(path.name, kind, dataset.n, used, why)


def summary(opened: tuple[Opened, ...]) -> People:
    """Counts over files."""
    kinds = {}
    for kind in sorted({each.kind for each in opened}):
        alike = [each for each in opened if each.kind == kind]
        kinds[kind] = f"{sum(not each.refused for each in alike)} of {len(alike)}"
    refused = {each.file: each.refused for each in opened if each.refused}
    return People(len(opened), len(opened) - len(refused), kinds, refused, opened)


def _write_images(folder: Path) -> None:
    """Some digits as images, a folder for each class."""
    digits = load_digits()
    for row in range(NUM_IMAGES):
        place = folder / str(digits.target[row])
        place.mkdir(parents=True, exist_ok=True)
        shades = (digits.images[row] * (255 / 16)).astype("uint8")
        Image.fromarray(shades).save(place / f"{row}.png")
