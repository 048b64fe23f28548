import base64
import math
import struct
import zlib

import numpy as np
import pytest
import torch

from widenet.report.parts.pictures import LARGEST_SIDE, picture_uri, png, shrunk


def read_png(file: bytes) -> np.ndarray:
    """Pixels of a PNG file of unfiltered lines with 8 bits a channel, every checksum verified."""
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(file):
        length, kind = struct.unpack(">I4s", file[at : at + 8])
        body = file[at + 8 : at + 8 + length]
        assert struct.unpack(">I", file[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + body),)
        chunks[kind], at = body, at + 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour_type, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, *rest) == (8, 0, 0, 0)
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 0).all()
    return lines[:, 1:].reshape((height, width) if colour_type == 0 else (height, width, 3))


@pytest.mark.parametrize("shape", [(8, 8), (28, 20), (32, 32, 3), (1, 5), (7, 3, 3)])
def test_png_is_read_back(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    assert np.array_equal(read_png(png(pixels)), pixels)


def test_uri_holds_the_file():
    pixels = torch.arange(12, dtype=torch.uint8).reshape(3, 4)
    head, body = picture_uri(pixels).split(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(body) == png(pixels.numpy())


def test_small_images_are_kept():
    pixels = np.random.default_rng(0).integers(0, 256, (LARGEST_SIDE, 20, 3), dtype=np.uint8)
    assert np.array_equal(shrunk(pixels), pixels)


@pytest.mark.parametrize("shape", [(400, 200, 3), (193, 7), (1000, 1)])
def test_large_images_are_averaged_over_blocks(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    block = math.ceil(max(shape) / LARGEST_SIDE)
    small = shrunk(pixels)
    assert max(small.shape[:2]) <= LARGEST_SIDE
    for i, j in ((0, 0), (small.shape[0] - 1, small.shape[1] - 1)):
        tile = pixels[i * block : (i + 1) * block, j * block : (j + 1) * block]
        assert np.array_equal(small[i, j], tile.mean(axis=(0, 1)).round())
