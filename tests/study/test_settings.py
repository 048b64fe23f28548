"""Settings refuse what is out of range, whoever sets it, and tell what is allowed."""

import math
from dataclasses import FrozenInstanceError, dataclass

import pytest

from widenet.base.errors import InputError
from widenet.study.settings import LARGEST_SEED, Meaning, Settings, required, seed_setting, setting


@dataclass(frozen=True)
class Toy(Settings):
    width: int = required("Neurons.", low=1, high=100)
    rate: float | None = setting(None, "Step size.", low=0, strict=True, otherwise="1/λ_max")
    kind: str = setting("slow", "Kind.", choices=("slow", "fast"))
    sizes: tuple[int, ...] = setting((1, 2), "Sizes.", low=1)
    seed: int = seed_setting()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"width": 0}, "`width` is 0, but must be from 1 to 100."),
        ({"width": 101}, "`width` is 101, but must be from 1 to 100."),
        ({"rate": 0.0}, "`rate` is 0.0, but must be finite and above 0."),
        ({"rate": math.nan}, "`rate` is nan, but must be finite and above 0."),
        ({"rate": math.inf}, "`rate` is inf, but must be finite and above 0."),
        ({"kind": "fats"}, "`kind` is 'fats', but must be one of slow, fast; did you mean 'fast'."),
        ({"sizes": (3, 0)}, "`sizes` is 3,0, but must be at least 1."),
        ({"seed": -1}, f"`seed` is -1, but must be from 0 to {LARGEST_SEED:g}."),
        ({"seed": 2**63}, f"`seed` is {2**63}, but must be from 0 to {LARGEST_SEED:g}."),
    ],
)
def test_what_is_out_of_range_is_refused_in_one_sentence(given, message):
    with pytest.raises(InputError) as caught:
        Toy(**{"width": 5, **given})
    assert str(caught.value) == message


def test_what_is_in_range_is_kept():
    toy = Toy(width=100, rate=1e-300, kind="fast", sizes=(1,), seed=LARGEST_SEED)
    assert (toy.width, toy.sizes) == (100, (1,))
    with pytest.raises(FrozenInstanceError):
        toy.width = 3


@pytest.mark.parametrize(
    ("meaning", "words"),
    [
        (Meaning("", low=1), "at least 1"),
        (Meaning("", low=0, strict=True), "finite and above 0"),
        (Meaning("", high=7), "at most 7"),
        (Meaning("", low=0, high=1, strict=True), "between 0 and 1"),
        (Meaning("", choices=(2, 3)), "one of 2, 3"),
        (Meaning("", low=2, high=2**20), "from 2 to 1,048,576"),
        (Meaning("", low=0.001, high=1), "from 0.001 to 1"),
    ],
)
def test_ranges_in_words(meaning, words):
    assert meaning.range == words
