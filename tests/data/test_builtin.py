import gzip
import hashlib
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import widenet.data.builtin as builtin
from widenet.base.errors import InputError
from widenet.data import builtin_names, describe, held_out, load
from widenet.data.places import Part, content, places
from widenet.files.table import Table


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache and no $WIDENET_DATA."""
    monkeypatch.delenv("WIDENET_DATA", raising=False)
    monkeypatch.setattr("widenet.data.places.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def part_of(packed: bytes, **changes) -> Part:
    unpacked = gzip.decompress(packed)
    known = {
        "path": "set/file.gz",
        "num_bytes": len(unpacked),
        "sha256": hashlib.sha256(unpacked).hexdigest(),
        "url": "https://example.org/file.gz",
        "url_hash": "sha256:" + hashlib.sha256(packed).hexdigest(),
    }
    return Part(**(known | changes))


PACKED = gzip.compress(b"rows of a data set")
PART = part_of(PACKED)


def offline(url: str, known_hash: str, folder: Path) -> Path:
    raise OSError("offline")


def test_digits():
    from sklearn.datasets import load_digits

    data = load("digits")
    raw = load_digits().data
    np.testing.assert_allclose(data.X, raw / np.linalg.norm(raw, axis=1, keepdims=True), rtol=1e-15)
    assert data.labels.tolist() == load_digits().target.tolist()
    assert data.images.shape == (1797, 8, 8)
    assert int(data.images.max()) == 255
    assert data.task == "multiclass"
    assert torch.equal(data.preparation.apply(load_digits().images), data.X)
    assert load("digits", prepare="standard").names[-1] == "constant"


@pytest.mark.slow
def test_descriptions_match_what_is_loaded(data_dir):
    for name in builtin_names():
        told, data = describe(name), load(name)
        assert (told.n, told.d, told.classes) == (data.n, data.d, data.classes)
        assert data.Y.shape[1] == told.num_outputs or data.images.shape[0] == data.n
        assert told.places == () or told.places[0].found


def test_describe_tells_where_it_looked(cache):
    places_of = describe("mnist").places
    assert [place.kind for place in places_of] == ["variable", "cache", "network"]
    assert not any(place.found for place in places_of)
    with pytest.raises(InputError, match="did you mean 'mnist'"):
        describe("mnits")


def test_mnist_2(data_dir):
    pixels = np.frombuffer(
        gzip.decompress((data_dir / "mnist/train-images-idx3-ubyte.gz").read_bytes()), np.uint8, offset=16
    )
    labels = np.frombuffer(
        gzip.decompress((data_dir / "mnist/train-labels-idx1-ubyte.gz").read_bytes()), np.uint8, offset=8
    )
    kept = [i for i, label in enumerate(labels) if label in (0, 1)][:10_000]
    raw = pixels.reshape(60_000, 784)[kept].astype(float)
    data = load("mnist-2")
    np.testing.assert_allclose(data.X, raw / np.linalg.norm(raw, axis=1, keepdims=True), rtol=1e-14)
    assert data.Y[:, 0].tolist() == [1.0 if labels[i] == 0 else -1.0 for i in kept]
    assert np.array_equal(data.images.reshape(10_000, -1), raw)


def test_cifar10_2(data_dir):
    records = np.frombuffer(
        gzip.decompress((data_dir / "cifar10-two-classes/train.bin.gz").read_bytes()), np.uint8
    )
    records = records.reshape(10_000, 3073)
    data = load("cifar10-2")
    assert data.classes == ("airplane", "automobile")
    assert data.Y[:, 0].tolist() == [1.0 - 2.0 * label for label in records[:, 0].tolist()]
    row, i, j = 17, 3, 30
    for channel in range(3):
        assert int(data.images[row, i, j, channel]) == records[row, 1 + 1024 * channel + 32 * i + j]
    norms = np.linalg.norm(records[:50, 1:].astype(float), axis=1)
    np.testing.assert_allclose(
        data.X[:50].numpy() * norms[:, None], data.images[:50].reshape(50, -1), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("name", "counts"),
    [("mnist-2", [980, 1135]), pytest.param("cifar10-2", [1000, 1000], marks=pytest.mark.slow)],
)
def test_held_out_rows(data_dir, name, counts):
    train = load(name, prepare="standard")
    test = held_out(name, like=train)
    assert torch.bincount(test.labels).tolist() == counts
    assert test.preparation is train.preparation
    assert test.names == train.names
    assert torch.equal(test.X, train.preparation.apply(test.images))
    assert torch.equal(test.Y[:, 0], 1.0 - 2.0 * test.labels)


def test_held_out_of_mnist(data_dir):
    test = held_out("mnist", like=load("mnist"))
    expected = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert torch.bincount(test.labels).tolist() == expected


def test_digits_have_no_held_out_rows():
    with pytest.raises(InputError, match="no held-out rows; 'mnist'"):
        held_out("digits", like=load("digits"))


def test_held_out_rows_of_images_cannot_be_asked_for_by_number():
    with pytest.raises(InputError, match="leave `n` out"):
        held_out("mnist-2", like=load("digits"), n=10)


def test_image_sets_take_no_options():
    for ask in (load, describe):
        with pytest.raises(InputError, match="'digits' takes no options"):
            ask("digits:n=10")


def test_raw_pixels():
    raw, digits = load("digits", prepare="raw"), load("digits")
    assert float(raw.X.max()) == 16
    torch.testing.assert_close(raw.X / raw.X.norm(dim=1, keepdim=True), digits.X)
    assert raw.names == digits.names
    assert "Rows were left unchanged." in raw.provenance


def test_offline_error_names_all_three_places(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_DATA", str(tmp_path / "given"))
    monkeypatch.setattr("widenet.data.places._fetch", offline)
    with pytest.raises(InputError) as error:
        load("mnist-2")
    message = str(error.value)
    assert str(tmp_path / "given" / "mnist" / "train-images-idx3-ubyte.gz") in message
    assert str(cache / "mnist" / "train-images-idx3-ubyte.gz") in message
    assert "https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz" in message
    assert "\n" not in message
    monkeypatch.delenv("WIDENET_DATA")
    with pytest.raises(InputError, match=r"\$WIDENET_DATA \(not set\)"):
        load("cifar10-2")


def test_places_are_tried_in_order(cache, tmp_path, monkeypatch):
    for folder in (tmp_path / "given", cache):
        (folder / "set").mkdir(parents=True)
        (folder / PART.path).write_bytes(PACKED)
    monkeypatch.setenv("WIDENET_DATA", str(tmp_path / "given"))
    assert [place.found for place in places(PART)] == [True, True, False]
    (cache / PART.path).write_bytes(b"not read")
    assert content(PART, offline) == b"rows of a data set"
    (tmp_path / "given" / PART.path).unlink()
    with pytest.raises(InputError, match="cannot be unpacked"):
        content(PART, offline)


def test_a_file_packed_again_is_the_same_file(cache):
    (cache / "set").mkdir(parents=True)
    (cache / PART.path).write_bytes(gzip.compress(b"rows of a data set", compresslevel=1, mtime=5))
    assert content(PART, offline) == b"rows of a data set"


@pytest.mark.parametrize("unpacked", [b"rows of a data sat", b"rows", b"rows of a data set and more"])
def test_another_file_is_refused(cache, unpacked):
    (cache / "set").mkdir(parents=True)
    (cache / PART.path).write_bytes(gzip.compress(unpacked))
    with pytest.raises(InputError, match="not the expected file"):
        content(PART, offline)


def test_fetched_with_pooch_and_its_hash_checked(cache, tmp_path, monkeypatch):
    """The real fetcher, with only the transfer replaced."""
    import pooch

    (tmp_path / "served.gz").write_bytes(PACKED)

    def transfer(url, output_file, pooch, check_only=False):
        assert url == PART.url
        shutil.copy(tmp_path / "served.gz", output_file)

    monkeypatch.setattr(pooch.core, "choose_downloader", lambda url, progressbar=False: transfer)
    assert content(PART) == b"rows of a data set"
    assert (cache / PART.path).read_bytes() == PACKED
    (cache / PART.path).unlink()
    (tmp_path / "served.gz").write_bytes(gzip.compress(b"rows of a data sat"))
    with pytest.raises(InputError, match="failed"):
        content(PART)
    assert not (cache / PART.path).exists()


def test_two_classes_are_taken_from_the_archive(cache, tmp_path):
    rng = np.random.default_rng(0)
    batches = [rng.integers(0, 256, (20, 3073), dtype=np.uint8) for _ in range(3)]
    for batch in batches:
        batch[:, 0] %= 4
    with tarfile.open(tmp_path / "served.tar.gz", "w:gz") as archive:
        for index, batch in enumerate(batches):
            (tmp_path / "batch").write_bytes(batch.tobytes())
            archive.add(tmp_path / "batch", f"batches/{index}.bin")
    expected = b"".join(bytes(record) for batch in batches[:2] for record in batch if record[0] < 2)
    part = part_of(gzip.compress(expected), members=("batches/0.bin", "batches/1.bin"))

    def fetch(url: str, known_hash: str, folder: Path) -> Path:
        return Path(shutil.copy(tmp_path / "served.tar.gz", folder))

    assert content(part, fetch) == expected
    assert content(part, offline) == expected
    absent = part_of(gzip.compress(expected), path="set/other.gz", members=("batches/9.bin",))
    with pytest.raises(InputError, match="KeyError"):
        content(absent, fetch)
    assert sorted(path.name for path in (cache / "set").iterdir()) == ["file.gz", "served.tar.gz"]


def test_addresses_of_the_built_in_files():
    for part in (*builtin.MNIST_TRAIN, *builtin.MNIST_TEST):
        assert part.url.endswith(part.path.removeprefix("mnist/"))
        assert part.url_hash.startswith("sha256:")
    assert len(builtin.CIFAR_TRAIN.members) == 5
    assert builtin.CIFAR_TRAIN.num_bytes == 10_000 * 3073


def test_packed_hashes_are_those_of_the_files(data_dir):
    for part in (*builtin.MNIST_TRAIN, *builtin.MNIST_TEST):
        assert "sha256:" + hashlib.sha256((data_dir / part.path).read_bytes()).hexdigest() == part.url_hash


def weather(days: int, offset: int) -> Table:
    """A table of two columns, and whether it rained."""
    hours = np.arange(offset, offset + days)
    features = pd.DataFrame({"wind": np.sin(hours), "sky": np.where(hours % 3, "grey", "blue")})
    return Table(features, pd.Series(np.where(np.sin(hours) > 0, "rain", "dry"), name="weather"))


@pytest.fixture
def table(monkeypatch) -> builtin.Builtin:
    """A table by name, added from outside by one line."""
    known = builtin.Builtin("Rain.", "Nobody", train=lambda: weather(40, 0), test=lambda: weather(9, 40))
    monkeypatch.setitem(builtin.BUILTINS, "rain", known)
    return known


def test_a_table_by_name(table):
    data, told = load("rain"), describe("rain")
    assert (told.n, told.d, told.classes, told.num_outputs) == (40, 2, ("dry", "rain"), 0)
    assert (data.n, data.classes, data.task, data.preparation.kind) == (
        40,
        ("dry", "rain"),
        "binary",
        "standard",
    )
    assert data.names == ("wind", "sky=blue", "sky=grey", "constant")
    assert data.provenance[0] == "Rain."
    assert load("rain", prepare="unit").preparation.kind == "unit"
    assert "rain" in builtin_names()
    with pytest.raises(InputError, match="'rain' has its own targets, so `target` does not apply"):
        load("rain", target="wind")


def test_held_out_rows_of_a_table_are_encoded_as_its_training_rows(table):
    train = load("rain")
    test, expected = held_out("rain", like=train), weather(9, 40)
    assert test.given == tuple(expected.target)
    assert [test.classes[label] for label in test.labels] == list(expected.target)
    assert torch.equal(test.X, train.preparation.apply(expected.features))
    assert test.images is None


def test_held_out_numbers_are_in_the_units_of_the_training_rows(monkeypatch):
    frames = [
        pd.DataFrame({"x": np.arange(n) + 0.5, "y": np.linspace(3, last, n)})
        for n, last in ((30, 9), (5, 70))
    ]
    parts = [Table(frame[["x"]], frame["y"]) for frame in frames]
    known = builtin.Builtin("A line.", "Nobody", lambda: parts[0], lambda: parts[1])
    monkeypatch.setitem(builtin.BUILTINS, "line", known)
    train = load("line")
    test = held_out("line", like=train)
    assert describe("line").num_outputs == 1
    for data, frame in ((train, frames[0]), (test, frames[1])):
        np.testing.assert_allclose(data.target_scale.in_units(data.Y)[:, 0], frame["y"], rtol=1e-12)


def test_held_out_classes_written_as_numbers(monkeypatch):
    def digits(values) -> Table:
        return Table(pd.DataFrame({"x": np.arange(len(values)) ** 0.5}), pd.Series(values, name="y"))

    known = builtin.Builtin("Codes.", "Nobody", lambda: digits([1, 2] * 10), lambda: digits([2.0, 1.0, 2.0]))
    monkeypatch.setitem(builtin.BUILTINS, "codes", known)
    train = load("codes")
    assert held_out("codes", like=train).labels.tolist() == [1, 0, 1]
    for wrong in ([1, 3], [1, 1.4], [1, "rain"]):
        monkeypatch.setitem(builtin.BUILTINS, "codes", replace(known, test=lambda wrong=wrong: digits(wrong)))
        with pytest.raises(InputError, match=r"Row 2, column 'y'.*a class that no training row has"):
            held_out("codes", like=train)
