import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image

from widenet.report.parts.pictures import EXACT_SIDE, LARGEST_SIDE, picture_uri


def read_back(uri: str) -> np.ndarray:
    head, body = uri.split(",")
    assert head == "data:image/webp;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(body))).convert("RGB"))


def random_pixels(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, shape, generator=generator, dtype=torch.uint8)


@pytest.mark.parametrize("shape", [(8, 8), (28, 20), (EXACT_SIDE, EXACT_SIDE, 3), (1, 5), (7, 3, 3)])
def test_small_pictures_are_kept_bit_for_bit(shape):
    pixels = random_pixels(*shape)
    colours = pixels if len(shape) == 3 else pixels[..., None].expand(*shape, 3)
    assert np.array_equal(read_back(picture_uri(pixels)), colours.numpy())


@pytest.mark.parametrize("shape", [(400, 200, 3), (193, 7), (1000, 1)])
def test_large_pictures_are_scaled_down(shape):
    small = read_back(picture_uri(random_pixels(*shape)))
    assert max(small.shape[:2]) == LARGEST_SIDE


def test_scaling_down_takes_means_over_blocks():
    checkers = torch.zeros(2 * LARGEST_SIDE, 2 * LARGEST_SIDE, dtype=torch.uint8)
    checkers[::2] = 200
    assert np.abs(read_back(picture_uri(checkers)).astype(int) - 100).max() <= 3
