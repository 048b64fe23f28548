import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from widenet.base.errors import InputError
from widenet.data import Dataset, load
from widenet.data.dataset import UsedColumns
from widenet.data.deciding import LeftOut

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = np.arange(30) % 2


@pytest.fixture
def save(tmp_path):
    def saver(**arrays) -> str:
        np.savez_compressed(tmp_path / "data.npz", **arrays)
        return str(tmp_path / "data.npz")

    return saver


@pytest.fixture
def pack(tmp_path):
    """Write members as given, so that headers can lie."""

    def packer(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> str:
        with zipfile.ZipFile(tmp_path / "data.npz", "w", compression) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return str(tmp_path / "data.npz")

    return packer


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npy_header(text: str, version: tuple[int, int] = (1, 0)) -> bytes:
    body = text.encode() + b"\n"
    size = struct.pack("<H" if version == (1, 0) else "<I", len(body))
    return b"\x93NUMPY" + bytes(version) + size + body


def outcome(source: str) -> Dataset | str:
    try:
        return load(source)
    except InputError as error:
        return str(error)


def refusal(source: str, **options) -> str:
    with pytest.raises(InputError) as error:
        load(source, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_plain_arrays(save):
    data = load(save(X=X, y=Y))
    assert (data.n, data.d, data.task, data.classes) == (30, 5, "binary", ("0", "1"))
    assert data.names == ("x1", "x2", "x3", "x4", "constant")
    assert data.images is None
    assert torch.equal(data.preparation.apply(X), data.X)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.int64, np.float16, np.float32, ">f8", ">i4", np.longdouble]
)
def test_numeric_types_agree_with_float64(save, dtype):
    raw = RNG.integers(0, 2, (30, 4))
    expected = load(save(X=raw.astype(float), y=Y)).X
    assert torch.equal(load(save(X=raw.astype(dtype), y=Y)).X, expected)


def test_fortran_order_is_the_same_array(save):
    assert torch.equal(load(save(X=np.asfortranarray(X), y=Y)).X, load(save(X=X, y=Y)).X)


@pytest.mark.parametrize(
    "y", [np.where(Y, "no", "yes"), np.where(Y, b"no", b"yes"), np.where(Y, "no", "yes")[:, None]]
)
def test_text_targets(save, y):
    data = load(save(X=X, y=y))
    assert data.classes == ("no", "yes")
    assert data.given[:2] == ("yes", "no")


def test_float_and_big_endian_targets(save):
    values = RNG.normal(size=30)
    assert torch.equal(load(save(X=X, y=values)).Y, load(save(X=X, y=values.astype(">f8"))).Y)


@pytest.mark.parametrize("shape", [(30, 5, 4), (30, 5, 4, 1), (30, 5, 4, 3)])
def test_images(save, shape):
    pixels = RNG.integers(1, 256, shape, dtype=np.uint8)
    data = load(save(X=pixels, y=Y))
    assert data.preparation.kind == "unit"
    assert data.images.dtype == torch.uint8
    assert np.array_equal(data.images.numpy(), pixels[..., 0] if shape[-1] == 1 else pixels)
    flat = pixels.reshape(30, -1).astype(float)
    np.testing.assert_allclose(data.X, flat / np.linalg.norm(flat, axis=1, keepdims=True), rtol=1e-15)
    assert len(data.names) == data.d
    assert data.names[-1] == ("pixel 5,4 blue" if shape[-1] == 3 else "pixel 5,4")


def test_pixels_given_as_rows_are_a_table(save):
    data = load(save(X=RNG.integers(0, 256, (30, 64), dtype=np.uint8), y=Y))
    assert data.images is None
    assert data.preparation.kind == "standard"


class Mine:
    """What a pickle would run on loading."""

    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


def test_pickles_are_never_loaded(save, pack):
    assert "pickled" in refusal(save(X=np.array([[Mine()]] * 30, dtype=object), y=Y))
    assert "pickled" in refusal(save(X=X, y=np.array([Mine()] * 30, dtype=object)))
    header = npy_header("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (30,)}")
    assert "structured" in refusal(pack({"X.npy": header + bytes(240), "y.npy": npy(Y)}))


def test_extra_arrays_are_left_alone(save):
    data = load(save(X=X, y=Y, extra=np.array([Mine()], dtype=object)))
    assert any("not read: 'extra'" in sentence for sentence in data.provenance)


@pytest.mark.parametrize(
    "shape",
    [
        "(2**40, 784)",
        "(1099511627776, 784)",
        "(99999999999999999999999999,)",
        "(4611686018427387904, 4, 2)",
        "(-1, 4)",
    ],
)
def test_terabyte_headers_are_refused(pack, shape):
    header = npy_header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}")
    message = refusal(pack({"X.npy": header + bytes(64), "y.npy": npy(Y)}))
    assert "damaged" in message


def test_what_exceeds_the_memory_is_refused(save, monkeypatch):
    path = save(X=X, y=Y)
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 1000)
    assert "Array 'X' of shape 30 × 4 needs about" in refusal(path)


def test_zip_bombs_are_refused(pack):
    header = npy_header("{'descr': '|u1', 'fortran_order': False, 'shape': (80000, 1000)}")
    message = refusal(pack({"X.npy": header + bytes(80_000_000), "y.npy": npy(np.zeros(80_000))}))
    assert "times its size" in message


def test_a_directory_that_lies_about_sizes_is_refused(pack):
    """Header and zip directory agree on 80 MB; the member holds 64 bytes."""
    header = npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10000, 1000)}")
    path = Path(pack({"X.npy": header + bytes(64), "y.npy": npy(Y)}, zipfile.ZIP_STORED))
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = struct.pack("<I", len(header) + 80_000_000)  # uncompressed size
    path.write_bytes(content)
    assert "times its size" in refusal(str(path))
    content[entry + 20 : entry + 24] = struct.pack("<I", len(header) + 80_000_000)  # compressed size, too
    path.write_bytes(content)
    assert "times its size" in refusal(str(path))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": X}, ["no arrays X and y, only 'X'"]),
        ({"fold0-x": X, "y": Y}, ["no arrays X and y", "numpy.savez"]),
        ({"x": X, "X": X, "Y": Y}, ["more than one array x or y"]),
        ({"arr_0": X[:, 0], "arr_1": Y}, ["'arr_0' has shape 30 "]),
        ({"arr_0": X, "arr_1": X}, ["'arr_1' has shape 30 × 4", "each row of arr_0"]),
        ({"Data": X, "target": Y[:-1]}, ["Array 'Data' has 30 rows and array 'target' has 29"]),
        ({"x": X[:, :0], "y": Y}, ["Array 'x' has shape 30 × 0"]),
        ({"X": X, "y": Y[:-1]}, ["30 rows", "29"]),
        ({"X": X[:1], "y": Y[:1]}, ["1 row"]),
        ({"X": X[:0], "y": Y[:0]}, ["0 rows"]),
        ({"X": X[:, :0], "y": Y}, ["empty"]),
        ({"X": X[:, 0], "y": Y}, ["shape 30 "]),
        ({"X": X.reshape(30, 2, 2, 1, 1), "y": Y}, ["30 × 2 × 2 × 1 × 1", "images"]),
        ({"X": np.float64(3), "y": Y}, ["()"]),
        ({"X": X, "y": X}, ["'y' has shape 30 × 4"]),
        ({"X": X + 1j, "y": Y}, ["<c16"]),
        ({"X": np.full((30, 2), "a"), "y": Y}, ["'X'", "numbers"]),
        ({"X": np.zeros((30, 2), "M8[s]"), "y": Y}, ["M8"]),
        ({"X": np.zeros(30, [("a", "f8"), ("b", "f8")]), "y": Y}, ["structured"]),
        ({"X": X, "y": np.zeros(30, [("a", "f8")])}, ["'y'", "structured"]),
        ({"X": X, "y": np.zeros(30)}, ["single value"]),
        ({"X": X, "y": np.where(Y, np.nan, 1.0)}, ["single value"]),
        ({"X": X, "y": np.where(Y, np.inf, 1.0)}, ["Row 2", "infinite"]),
        ({"X": X, "y": np.full(30, b"\xff")}, ["UTF-8"]),
    ],
)
def test_refused_arrays(save, arrays, said):
    message = refusal(save(**arrays))
    for words in said:
        assert words in message


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="long doubles are doubles here")
def test_long_doubles_out_of_range_are_missing(save):
    spoiled = np.column_stack([X.astype(np.longdouble), np.full(len(X), np.longdouble("1e4000"))])
    data = load(save(X=spoiled, y=Y))
    assert "30 infinite values were taken as missing." in data.provenance
    assert data.columns.used == ("x1", "x2", "x3", "x4")


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_missing_ones_and_told(save, value):
    spoiled, gap = X.copy(), X.copy()
    spoiled[6, 2], gap[6, 2] = value, np.nan
    data, expected = load(save(X=spoiled, y=Y)), load(save(X=gap, y=Y))
    assert torch.equal(data.X, expected.X)
    assert data.columns.imputed == ("x3",)
    assert "1 infinite value was taken as missing." in data.provenance


def test_imputation(save):
    spoiled = X.copy()
    spoiled[6, 2] = np.nan
    data = load(save(X=spoiled, y=Y))
    assert data.preparation.columns[2].fill == np.nanmedian(spoiled[:, 2])
    assert data.names == ("x1", "x2", "x3", "x3 is missing", "x4", "constant")
    assert data.columns == UsedColumns(("x1", "x2", "x3", "x4"), (), ("x3",))
    assert torch.equal(data.preparation.apply(spoiled), data.X)
    filled = np.where(np.isnan(spoiled), np.nanmedian(spoiled, axis=0), spoiled)
    marked = np.column_stack([filled[:, :3], np.isnan(spoiled[:, 2]), filled[:, 3]])
    Z = (marked - marked.mean(0)) / np.where(np.arange(5) == 3, 1, marked.std(0))
    Z[:, 2:4] /= np.sqrt(1 + marked[:, 3].var())  # a deviation is as far as present is from missing
    expected = np.column_stack([Z / 2, np.ones(30)])
    np.testing.assert_allclose(data.X, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-12)


def test_a_column_without_a_value_is_left_out(save):
    spoiled = X.copy()
    spoiled[:, 2] = np.nan
    data = load(save(X=spoiled, y=Y))
    assert data.columns == UsedColumns(("x1", "x2", "x4"), (LeftOut("x3", "never varies"),), ())


def test_rows_without_a_target_are_left_out_and_the_others_keep_their_numbers(save):
    y = Y.astype(float)
    y[[0, 7]] = np.nan
    data = load(save(X=X, y=y))
    assert data.n == 28
    assert data.rows.tolist() == [row for row in range(1, 31) if row not in (1, 8)]
    assert "2 rows of 30 have no target and were left out." in data.provenance


def test_damaged_files_are_refused(save, pack, tmp_path):
    path = tmp_path / "data.npz"
    whole = Path(save(X=X, y=Y)).read_bytes()
    for content in (b"PK", b"not a zip file", whole[:-30], whole[: len(whole) // 2]):
        path.write_bytes(content)
        assert "not a valid .npz" in refusal(str(path))
    assert "header" in refusal(pack({"X.npy": b"nothing", "y.npy": npy(Y)}))
    assert "header" in refusal(pack({"X.npy": npy_header("__import__('os')"), "y.npy": npy(Y)}))
    assert "header" in refusal(pack({"X.npy": npy_header("(" * 5000), "y.npy": npy(Y)}))
    assert "header" in refusal(pack({"X.npy": npy_header("{}", (3, 0)), "y.npy": npy(Y)}))
    assert "bytes" in refusal(pack({"X.npy": npy(X)[:-8], "y.npy": npy(Y)}))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
        for member in (X, X + 1):
            archive.writestr("X.npy", npy(member))
        archive.writestr("y.npy", npy(Y))
    assert "more than one" in refusal(str(tmp_path / "data.npz"))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 255)), min_size=1, max_size=4), st.booleans())
def test_any_changed_bytes_are_read_or_refused(tmp_path_factory, changes, compressed):
    path = tmp_path_factory.mktemp("fuzz") / "data.npz"
    (np.savez_compressed if compressed else np.savez)(path, X=X[:6], y=Y[:6])
    content = bytearray(path.read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    path.write_bytes(content)
    result = outcome(str(path))
    assert "\n" not in result if isinstance(result, str) else torch.isfinite(result.X).all()


@pytest.mark.parametrize(
    ("rows", "targets"),
    [("x_train", "y_train"), ("Data", "Target"), ("train_images", "train_labels"), ("arr_0", "arr_1")],
)
def test_arrays_by_other_names(save, rows, targets):
    data = load(save(**{rows: X, targets: Y, "x_test": X[:3]}))
    assert data.n == len(X)
    assert f"Read {rows} of shape" in data.provenance[0]
    assert "'x_test'" in data.provenance[1]


@pytest.mark.parametrize("other", ["x", "Y"])
def test_arrays_named_as_they_should_be_come_before_others(save, other):
    """A one-hot Y beside y, say."""
    data = load(save(**{"X": X, other: np.eye(2)[Y], "y": Y}))
    assert (data.n, data.columns.used) == (len(X), ("x1", "x2", "x3", "x4"))
    assert f"not read: '{other}'." in data.provenance[1]


def test_members_that_are_no_arrays_are_told(pack):
    assert "'data.npz' holds no arrays: save it with" in refusal(pack({"X": npy(X), "y": npy(Y)}))
    assert "no arrays X and y, only 'X'" in refusal(pack({"X.npy": npy(X), "y": npy(Y)}))
