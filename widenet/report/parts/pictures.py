"""Rows that are images, as pictures inside the page."""

import base64
import io

from PIL import Image
from torch import Tensor

LARGEST_SIDE = 64  # pixels; a larger picture is scaled down, so that a page stays light
EXACT_SIDE = 32  # pixels up to which a picture is kept bit for bit


def picture_uri(pixels: Tensor) -> str:
    """A `data:` address that shows an image.

    Args:
        pixels: uint8, shape (height, width) in grey or (height, width, 3) in colour.
    """
    image = Image.fromarray(pixels.numpy())
    image.thumbnail((LARGEST_SIDE, LARGEST_SIDE), Image.Resampling.BOX)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", lossless=max(image.size) <= EXACT_SIDE, quality=80)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
