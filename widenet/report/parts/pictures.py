"""Rows that are images, as pictures inside the page."""

import base64
import struct
import zlib

import numpy as np
from torch import Tensor

LARGEST_SIDE = 96  # pixels; a larger picture is averaged down, so that a page stays light


def picture_uri(pixels: Tensor) -> str:
    """A `data:` address that shows an image.

    Args:
        pixels: uint8, shape (height, width) in grey or (height, width, 3) in colour.
    """
    return "data:image/png;base64," + base64.b64encode(png(shrunk(pixels.numpy()))).decode()


def shrunk(pixels: np.ndarray) -> np.ndarray:
    """The image averaged over square blocks such that no side is longer than `LARGEST_SIDE`."""
    block = -(-max(pixels.shape[:2]) // LARGEST_SIDE)
    means = _block_sums(pixels, block) / _block_sums(np.ones_like(pixels), block)
    return means.round().astype(np.uint8)


def png(pixels: np.ndarray) -> bytes:
    """A PNG file, every line unfiltered [ISO/IEC 15948, sections 5 and 11].

    Args:
        pixels: uint8, shape (height, width) or (height, width, 3).
    """
    height, width = pixels.shape[:2]
    colour_type = 0 if pixels.ndim == 2 else 2
    lines = pixels.reshape(height, -1)
    unfiltered = np.hstack([np.zeros((height, 1), np.uint8), lines]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(unfiltered, 9)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _block_sums(pixels: np.ndarray, block: int) -> np.ndarray:
    """Sums over blocks; those at the far edges hold what is left."""
    rows, columns = (np.arange(0, side, block) for side in pixels.shape[:2])
    return np.add.reduceat(np.add.reduceat(pixels.astype(np.int64), rows, axis=0), columns, axis=1)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
