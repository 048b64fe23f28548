"""A folder of images, a folder for each class, as pixels of one size."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.problems import Problems
from widenet.base.wording import counted, encodable, listed, natural_key, shown

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
GREY = ("1", "L", "LA", "I", "I;16", "F")  # Pillow's modes without colours
LONGEST = 64  # pixels of a side; larger images are made smaller, as kernels see single pixels
MOST_PIXELS = 50_000_000  # of one image file
COPIES = 1 + 3 * 8  # bytes held for each pixel: as read, as numbers, prepared


@dataclass(frozen=True)
class Pictures:
    """Images of one size.

    Attributes:
        pixels: uint8, shape (n, height, width), or (n, height, width, 3) where some are in colour.
        labels: Index of each image's class, shape (n,).
        classes: Names of the classes: those of their folders.
        files: Each image's file, from the folder on.
        notes: Sentences that tell what was read.
    """

    pixels: np.ndarray
    labels: np.ndarray
    classes: tuple[str, ...]
    files: tuple[str, ...]
    notes: tuple[str, ...]


def read_pictures(folder: Path) -> Pictures:
    """Read a folder with a folder of images for each class; rows are in their natural order."""
    import numpy as np

    found = picture_files(folder)
    paths = [path for each in found.values() for path in each]
    sizes, is_grey = _sizes(paths, folder)
    height, width = _common_size(sizes)
    shape = (height, width) if is_grey else (height, width, 3)
    num_bytes = COPIES * len(paths) * int(np.prod(shape))
    require_memory(num_bytes, f"{len(paths):,} images of {width} × {height} pixels")
    pixels = np.empty((len(paths), *shape), np.uint8)
    problems = Problems()
    for row, path in enumerate(paths):
        image = problems.attempt(lambda path=path: _pixels(path, folder, (width, height), is_grey))  # type: ignore[misc]
        if image is not None:
            pixels[row] = image
    problems.refuse(shown(folder.name))
    labels = np.repeat(np.arange(len(found)), [len(each) for each in found.values()])
    files = tuple(encodable(path.relative_to(folder).as_posix()) for path in paths)
    notes = _notes(folder, found, sizes, (height, width), is_grey)
    return Pictures(pixels, labels, tuple(map(encodable, found)), files, notes)


def picture_files(folder: Path) -> dict[str, list[Path]]:
    """Image files of each class, in natural order; a folder without two classes is refused."""
    try:
        return _found(folder)
    except OSError as error:
        where = shown(str(error.filename or folder))
        raise InputError(f"{where} cannot be read ({error.strerror}): check who may read it.") from error


def folder_hash(folder: Path) -> str:
    """SHA-256 of the names and contents of all images of a folder."""
    digest = hashlib.sha256()
    for files in picture_files(folder).values():
        for path in files:
            digest.update(path.relative_to(folder).as_posix().encode(errors="surrogateescape") + b"\0")
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _found(folder: Path) -> dict[str, list[Path]]:
    folders = sorted(
        (each for each in folder.iterdir() if each.is_dir()), key=lambda each: natural_key(each.name)
    )
    found = {each.name: _images(each) for each in folders if not each.name.startswith(".")}
    found = {name: files for name, files in found.items() if files}
    if len(found) >= 2:
        return found
    deeper = [
        each.name
        for each in folders
        if len([sub for sub in each.iterdir() if sub.is_dir() and _images(sub)]) > 1
    ]
    if deeper:
        raise InputError(
            f"{shown(folder.name)} has its classes one folder further down: give its folder {listed(deeper)}."
        )
    held = f"only the class {shown(next(iter(found)))}" if found else "no folders with images"
    raise InputError(
        f"{shown(str(folder))} is a folder and holds {held}: give a file, or a folder with a folder of "
        "images for each of at least two classes."
    )


def _images(folder: Path) -> list[Path]:
    files = (
        each for each in folder.iterdir() if each.suffix.lower() in ENDINGS and not each.name.startswith(".")
    )
    return sorted((each for each in files if each.is_file()), key=lambda each: natural_key(each.name))


def _sizes(paths: list[Path], folder: Path) -> tuple[list[tuple[int, int]], bool]:
    """Height and width of each image, from its header alone, and whether all are grey; problems are told."""
    problems, sizes, modes = Problems(), [], set()
    for path in paths:
        for image in _opened(path, folder, problems):
            sizes.append((image.height, image.width))
            modes.add(image.mode)
            if image.height * image.width > MOST_PIXELS:
                problems.add(
                    f"{_told(path, folder)} has {image.height * image.width:,} pixels: make it smaller."
                )
    problems.refuse(shown(folder.name))
    return sizes, modes <= set(GREY)


def _opened(path: Path, folder: Path, problems: Problems) -> Iterator[Image]:
    """The image, opened and not yet decoded; nothing where that fails, which is then a problem."""
    from PIL import Image as Pillow

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large images, which are refused here
            image = Pillow.open(path)
    except Pillow.DecompressionBombError:
        problems.add(f"{_told(path, folder)} declares too many pixels: make it smaller.")
        return
    except Exception as error:  # of many kinds, for files that are damaged
        problems.add(f"{_told(path, folder)} is not an image ({type(error).__name__}): replace or remove it.")
        return
    with image:
        yield image


def _pixels(path: Path, folder: Path, size: tuple[int, int], is_grey: bool) -> np.ndarray:
    """One image, decoded, in grey or in colour, as wide and high as `size`."""
    import numpy as np
    from PIL import Image as Pillow

    try:
        with Pillow.open(path) as opened:
            image: Image = opened
            if opened.mode.startswith("I"):  # 16 bits, which Pillow would cut off at 255
                image = opened.point(lambda value: value / 257)
            image = image.convert("L" if is_grey else "RGB")
            return np.asarray(image if image.size == size else image.resize(size, Pillow.Resampling.LANCZOS))
    except Exception as error:  # of many kinds, for files that are damaged
        raise InputError(
            f"{_told(path, folder)} is damaged ({type(error).__name__}): replace or remove it."
        ) from error


def _common_size(sizes: list[tuple[int, int]]) -> tuple[int, int]:
    """Height and width of all images: the median ones, no side longer than `LONGEST`."""
    height, width = (median(side) for side in zip(*sizes, strict=True))
    shrink = min(1.0, LONGEST / max(height, width))
    return max(1, round(height * shrink)), max(1, round(width * shrink))


def _notes(
    folder: Path,
    found: dict[str, list[Path]],
    sizes: list[tuple[int, int]],
    size: tuple[int, int],
    is_grey: bool,
) -> tuple[str, ...]:
    colour = "grey" if is_grey else "colour"
    notes = [
        f"Read {counted(len(sizes), 'image')} in {colour} of {len(found):,} classes from "
        f"{shown(folder.name)}; rows are in the order of classes and file names."
    ]
    num_resized = sum(each != size for each in sizes)
    if num_resized:
        verb = "was" if num_resized == 1 else "were"
        some = f"{counted(num_resized, 'image')} of another size {verb}"
        some = "All images were" if num_resized == len(sizes) else some
        notes.append(f"{some} resized to {size[1]} × {size[0]} pixels.")
    return tuple(notes)


def _told(path: Path, folder: Path) -> str:
    return shown(path.relative_to(folder).as_posix())
