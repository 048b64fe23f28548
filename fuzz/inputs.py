"""Damaged and hostile files: every one is loaded or refused with an `InputError`, within seconds.

`python -m fuzz.inputs 2000 0` changes small real files of every kind that `widenet.load` reads, with a seed.
"""

import gzip
import io
import json
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from fuzz.report import FuzzReport
from widenet import load
from widenet.base.errors import InputError

SECONDS = 10  # that a file may take
TOKENS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1a", b"\r", b"\n", b"\r\n", b",", b";", b"\t", b"|", b'"',
    b'""', b"'", b"\\", b"{", b"}", b"[", b"]", b"?", b"%", b"@data", b"1e999", b"-inf", b"nan", b"9" * 400,
    b"9" * 5000, b"\\ud800", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\x1b[31m", b"2020-13-45", b"99999-01-01",
    b"0001-01-01", b"<!ENTITY a 'b'>", b"&lt;", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"1,234.5",
    b"(5)", b"=1+1", b"=cmd()",
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-32", "utf-8-sig", "utf-16-be", "cp1252", "cp037")


class HangError(Exception):
    """A file took longer than it may."""


def originals() -> dict[str, bytes]:
    """Small files by name: the same table in every kind."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "width": rng.normal(size=24).round(2),
            "day": [f"2020-01-{k + 1:02}" for k in range(24)],
            "colour": rng.choice(["red", "green", "blue"], 24),
            "y": rng.choice(["no", "yes"], 24),
        }
    )
    text, found = frame.to_csv(index=False).encode(), dict[str, bytes]()
    found |= {"t.csv": text, "t.csv.gz": gzip.compress(text, mtime=0)}
    found["t.tsv"] = frame.to_csv(index=False, sep="\t").encode()
    found["t.txt"] = frame.to_string(index=False).encode()
    found["german.csv"] = frame.to_csv(index=False, sep=";", decimal=",").encode()
    found["t.json"] = frame.to_json(orient="records").encode()
    found["t.jsonl"] = frame.to_json(orient="records", lines=True).encode()
    rows = "\n".join(",".join(map(str, row)) for row in frame.itertuples(index=False))
    head = "@relation r\n@attribute width real\n@attribute day string\n@attribute colour {red,green,blue}\n"
    found["t.arff"] = f"{head}@attribute 'y' {{no,yes}}\n@data\n{rows}\n".encode()
    found["sparse.arff"] = (
        f"{head}@attribute y {{no,yes}}\n@data\n{{0 1.5, 3 yes}}\n{{0 2, 2 blue}}\n".encode()
    )
    found |= {name: _written(name, write) for name, write in _binary_writers(frame).items()}
    with io.BytesIO() as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("inside/t.csv", text)
        found["t.zip"] = packed.getvalue()
    return found


def _binary_writers(frame: pd.DataFrame) -> dict[str, Callable[[Path], object]]:
    X = frame[["width"]].assign(other=1.5 * frame["width"] ** 2).to_numpy()
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    return {
        "t.parquet": frame.to_parquet,
        "t.xlsx": lambda path: frame.to_excel(path, index=False),
        "t.dta": lambda path: frame.astype({"colour": "category"}).to_stata(path, write_index=False),
        "t.npz": lambda path: np.savez(path, X=X, y=frame["y"].to_numpy().astype("U3")),
        "t.png": lambda path: Image.fromarray(pixels).save(path),
        "t.gif": lambda path: Image.fromarray(pixels).save(path),
        "t.jpg": lambda path: Image.fromarray(pixels).save(path),
        "t.tif": lambda path: Image.fromarray(pixels).save(path, compression="tiff_lzw"),
    }


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def mutated(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """The bytes after one to four changes: flips, cuts, splices, repeats, tokens, another encoding."""
    for _ in range(int(rng.integers(1, 5))):
        content = CHANGES[int(rng.integers(len(CHANGES)))](content, others, rng)
    return content


def _flipped(content: bytes, _: list[bytes], rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for place in rng.integers(0, max(len(changed), 1), size=int(rng.integers(1, 9))).tolist():
        if changed:
            changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(content: bytes, _: list[bytes], rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    return content[:start] + content[stop:]


def _repeated(content: bytes, _: list[bytes], rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    return content[:stop] + content[start:stop] * int(rng.integers(1, 30)) + content[stop:]


def _spliced(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    other = others[int(rng.integers(len(others)))]
    (_, stop), (start, end) = _span(content, rng), _span(other, rng)
    return content[:stop] + other[start:end] + content[stop:]


def _with_token(content: bytes, _: list[bytes], rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    token = TOKENS[int(rng.integers(len(TOKENS)))]
    return content[:start] + token + content[stop if rng.random() < 0.5 else start :]


def _swapped(content: bytes, _: list[bytes], rng: np.random.Generator) -> bytes:
    """Two fields of text change places, or a number in a binary header becomes a huge one."""
    parts = content.split(b",")
    if len(parts) > 2:
        i, j = rng.integers(0, len(parts), size=2).tolist()
        parts[i], parts[j] = parts[j], parts[i]
        return b",".join(parts)
    start = _span(content, rng)[0]
    return content[:start] + b"\xff" * 8 + content[start + 8 :]


def _encoded(content: bytes, _: list[bytes], rng: np.random.Generator) -> bytes:
    encoding = ENCODINGS[int(rng.integers(len(ENCODINGS)))]
    return content.decode("latin-1").encode(encoding, errors="replace")


def _span(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start, stop = sorted(rng.integers(0, len(content) + 1, size=2).tolist())
    return start, min(stop, start + int(rng.integers(1, 200)))


CHANGES = (_flipped, _flipped, _cut, _repeated, _spliced, _with_token, _with_token, _swapped, _encoded)


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise a `HangError` in what takes longer."""

    def stop(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(path: Path) -> tuple[str, str]:
    """How loading ends: loaded, refused, or a failure and where it happened."""
    try:
        with within(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("error")
            load(path)
    except InputError as error:
        return ("refused", "") if str(error).strip() else ("failed", "an empty message")
    except HangError:
        return "failed", f"took longer than {SECONDS} s"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "failed", f"{type(error).__name__}: {str(error)[:200]!r} at {place.filename}:{place.lineno}"
    return "loaded", ""


def placed(name: str, content: bytes, folder: Path) -> Path:
    """The file in a folder, or, of an image, a folder of images by class with it among them."""
    if Path(name).suffix not in (".png", ".gif", ".jpg", ".tif"):
        (folder / name).write_bytes(content)
        return folder / name
    for label in "ab":
        (folder / "pictures" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((8, 8), 90 + ord(label), np.uint8)).save(
            folder / "pictures" / label / "0.png"
        )
    (folder / "pictures" / "a" / name).write_bytes(content)
    return folder / "pictures"


def run(count: int, seed: int) -> FuzzReport:
    """Load so many changed files."""
    rng, start = np.random.default_rng(seed), time.perf_counter()
    files = originals()
    names, others = list(files), list(files.values())
    outcomes, failures = Counter[str](), list[str]()
    for number in range(count):
        name = names[number % len(names)]
        content = mutated(files[name], others, rng)
        with tempfile.TemporaryDirectory() as folder:
            how, why = outcome(placed(name, content, Path(folder)))
        outcomes[how] += 1
        if why:
            failures.append(f"input {number} of seed {seed} ({name}): {why}")
    return FuzzReport("inputs", count, dict(outcomes), failures, time.perf_counter() - start)


if __name__ == "__main__":
    report = run(int(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps({"tried": report.tried, **report.outcomes, "seconds": round(report.seconds, 1)}))
    print("\n".join(report.failures))
    sys.exit(bool(report.failures))
