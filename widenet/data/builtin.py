"""The built-in data sets by name: what they are, where they come from, how their rows are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.data.concept_names import CONCEPTS, is_concept, parse_draw, shown_options
from widenet.data.places import RECORD, Part, Place, content, places
from widenet.data.targets import encode_targets
from widenet.files.table import Table

MNIST_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
CIFAR_URL = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
CIFAR_HASH = "md5:c32a1d4ab5d03f1284b67883e8d87530"
NUM_TRAIN_TWO = 10_000  # images of the two-class sets [fine-grained, Section 3]


@dataclass(frozen=True)
class Pixels:
    """Rows of an image set as they are stored."""

    raw: np.ndarray  # what is prepared, shape (n, height, width) or (n, height, width, 3)
    images: np.ndarray  # what is drawn, uint8, of the same shape
    labels: np.ndarray  # index of each row's class, shape (n,)


@dataclass(frozen=True)
class Builtin:
    """A built-in data set, of images or of a table.

    Attributes:
        description: What it is, in one line.
        source: Who made it.
        train: Reads its rows.
        test: Reads its held-out rows; None where there are none.
        parts: Files it is read from; empty if it is inside scikit-learn.
        n: Number of rows; None for that of the table that is read.
        d: Number of raw columns; None for that of the table.
        classes: Names of the classes of images; rows of the first are +1 where there are two. Those of a
            table are read off its target.
    """

    description: str
    source: str
    train: Callable[[], Pixels | Table]
    test: Callable[[], Pixels | Table] | None = None
    parts: tuple[Part, ...] = ()
    n: int | None = None
    d: int | None = None
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Description:
    """What `widenet data` tells of a built-in set.

    Attributes:
        name: Name, with the options that were given.
        description: What it is, in one line.
        n: Number of rows.
        d: Number of raw columns.
        classes: Names of the classes; empty where the targets are numbers.
        source: Who made it.
        places: Where its first file is looked for; empty where there is none.
        num_outputs: Numbers to predict for each row; 0 where there are classes.
        options: What may follow its name, with the default values.
    """

    name: str
    description: str
    n: int
    d: int
    classes: tuple[str, ...]
    source: str
    places: tuple[Place, ...]
    num_outputs: int = 0
    options: tuple[str, ...] = ()


def _mnist_part(name: str, num_bytes: int, sha256: str, packed_sha256: str) -> Part:
    return Part(f"mnist/{name}.gz", num_bytes, sha256, f"{MNIST_URL}{name}.gz", f"sha256:{packed_sha256}")


MNIST_TRAIN = (
    _mnist_part(
        "train-images-idx3-ubyte",
        47_040_016,
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    _mnist_part(
        "train-labels-idx1-ubyte",
        60_008,
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
)
MNIST_TEST = (
    _mnist_part(
        "t10k-images-idx3-ubyte",
        7_840_016,
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    _mnist_part(
        "t10k-labels-idx1-ubyte",
        10_008,
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
)
CIFAR_TRAIN = Part(
    "cifar10-two-classes/train.bin.gz",
    30_730_000,
    "712b54b98090b4b687849195aeb8162809d7d691e956aeea1cf51089d9c6c2b2",
    CIFAR_URL,
    CIFAR_HASH,
    tuple(f"cifar-10-batches-bin/data_batch_{k}.bin" for k in range(1, 6)),
)
CIFAR_TEST = Part(
    "cifar10-two-classes/test.bin.gz",
    6_146_000,
    "b6e88c881dd1b7d0886ab296c67c67403408f5575f66eb24e4926ac16ad3ef2f",
    CIFAR_URL,
    CIFAR_HASH,
    ("cifar-10-batches-bin/test_batch.bin",),
)


def _digits() -> Pixels:
    from sklearn.datasets import load_digits

    digits = load_digits()
    shades = digits.images.astype(np.uint8)  # 0 to 16
    return Pixels(shades, np.minimum(shades.astype(np.uint16) * 16, 255).astype(np.uint8), digits.target)


def _mnist(parts: tuple[Part, Part]) -> Pixels:
    """All rows of an IDX pair: headers of 16 and 8 bytes, then bytes, row-major."""
    pixels, labels = (content(part) for part in parts)
    images = np.frombuffer(pixels, np.uint8, offset=16).reshape(-1, 28, 28)
    return Pixels(images, images, np.frombuffer(labels, np.uint8, offset=8))


def _first_two(pixels: Pixels, limit: int | None) -> Pixels:
    """The first `limit` rows of classes 0 and 1, in file order."""
    kept = np.flatnonzero(pixels.labels < 2)[:limit]
    return Pixels(pixels.raw[kept], pixels.images[kept], pixels.labels[kept])


def _cifar(part: Part) -> Pixels:
    records = np.frombuffer(content(part), np.uint8).reshape(-1, RECORD)
    planes = records[:, 1:].reshape(-1, 3, 32, 32)
    images = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
    return Pixels(images, images, records[:, 0])


LECUN = "Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database of handwritten digits"
TEN_DIGITS = tuple("0123456789")

BUILTINS: dict[str, Builtin] = {
    "digits": Builtin(
        description="Handwritten digits of 8 × 8 pixels, ten classes; inside scikit-learn, no download.",
        source="E. Alpaydin, C. Kaynak, Optical recognition of handwritten digits, UCI; the copy in "
        "scikit-learn",
        train=_digits,
        n=1797,
        d=64,
        classes=TEN_DIGITS,
    ),
    "mnist": Builtin(
        description="Handwritten digits of 28 × 28 pixels, ten classes, all training images.",
        source=LECUN,
        train=lambda: _mnist(MNIST_TRAIN),
        test=lambda: _mnist(MNIST_TEST),
        parts=MNIST_TRAIN,
        n=60_000,
        d=784,
        classes=TEN_DIGITS,
    ),
    "mnist-2": Builtin(
        description="The first 10,000 training images of MNIST that show a 0 or a 1.",
        source=LECUN,
        train=lambda: _first_two(_mnist(MNIST_TRAIN), NUM_TRAIN_TWO),
        test=lambda: _first_two(_mnist(MNIST_TEST), None),
        parts=MNIST_TRAIN,
        n=NUM_TRAIN_TWO,
        d=784,
        classes=("0", "1"),
    ),
    "cifar10-2": Builtin(
        description="The 10,000 training images of the first two classes of CIFAR-10, 32 × 32 pixels in "
        "colour.",
        source="A. Krizhevsky, Learning multiple layers of features from tiny images, 2009",
        train=lambda: _cifar(CIFAR_TRAIN),
        test=lambda: _cifar(CIFAR_TEST),
        parts=(CIFAR_TRAIN,),
        n=NUM_TRAIN_TWO,
        d=3072,
        classes=("airplane", "automobile"),
    ),
}


def builtin_names() -> tuple[str, ...]:
    """Names of the built-in sets and of the concept classes."""
    return (*BUILTINS, *CONCEPTS)


def get_builtin(name: str) -> Builtin:
    """The built-in set of that name, which takes no options."""
    base, colon, _ = name.partition(":")
    if colon and base in BUILTINS:
        raise InputError(f"{shown(base)} takes no options: leave out what follows it.")
    if name not in BUILTINS:
        raise InputError(f"There is no built-in data set {shown(name)}: {near_names(base, builtin_names())}")
    return BUILTINS[name]


def describe(name: str) -> Description:
    """What a built-in set is and where it is looked for; only a table that does not tell its size is read."""
    if is_concept(name):
        return _describe_concept(name)
    known = get_builtin(name)
    looked = places(known.parts[0]) if known.parts else ()
    n, d, classes = known.n, known.d, known.classes
    if n is None or d is None:
        n, d, classes = _read_size(known)
    outputs = 0 if classes else 1
    return Description(name, known.description, n, d, classes, known.source, looked, outputs)


def _read_size(known: Builtin) -> tuple[int, int, tuple[str, ...]]:
    """Rows, raw columns and classes, as they are read."""
    rows = known.train()
    if isinstance(rows, Table):
        return len(rows.target), rows.features.shape[1], encode_targets(rows.target).classes
    return len(rows.labels), rows.raw[0].size, known.classes


def _describe_concept(source: str) -> Description:
    draw = parse_draw(source)
    known, concept = CONCEPTS[draw.name], draw.concept
    about = (source, known.description, draw.n, concept.d, (), known.source, ())
    return Description(*about, concept.num_outputs, shown_options(draw.name))
