"""Rows of a concept class for a trial: to train on, to choose on, and to test on, all independent."""

from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor

from widenet.data.concept_names import TEST, TRAIN, parse_draw

VALIDATION = 2  # the stream of random numbers after those of training and test rows


@dataclass(frozen=True)
class DrawnRows:
    """Inputs (n, d) and targets (n, k) of one set of rows, float64."""

    X: Tensor
    Y: Tensor


@dataclass(frozen=True)
class Draws:
    """What one trial sees."""

    train: DrawnRows
    validation: DrawnRows
    test: DrawnRows


@lru_cache(maxsize=8)
def draws(source: str, num_held_out: int) -> Draws:
    """The rows that a name with options stands for, such as `resnet-cube:n=500,seed=1`.

    Args:
        source: Name, options, number of training rows and seed.
        num_held_out: Validation rows, and as many test rows.
    """
    draw = parse_draw(source)
    return Draws(
        train=DrawnRows(*draw.rows(draw.n, TRAIN)),
        validation=DrawnRows(*draw.rows(num_held_out, VALIDATION)),
        test=DrawnRows(*draw.rows(num_held_out, TEST)),
    )


def draw_shape(source: str) -> tuple[int, int, int]:
    """Numbers of training rows, of their columns and of outputs, without drawing them."""
    draw = parse_draw(source)
    return draw.n, draw.concept.d, draw.concept.num_outputs
