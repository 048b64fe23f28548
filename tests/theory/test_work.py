"""Quantities that are measured refuse what would take days, in one sentence."""

import pytest

from widenet.base.errors import InputError
from widenet.theory.names import entry_by_name
from widenet.theory.work import MOST_OPERATIONS, require_work

LONG = {
    "resnet-lemma-b.3": "m=10000000 B=4 num_draws=1000000",
    "resnet-lemma-c.1": "m=10000000 k=1 d=400",
    "resnet-lemma-e.1": "phi=sin m=10000000 d=4 k=100 p=100",
    "resnet-rademacher": "frobenius=1 N=1000000 d=10000 num_signs=10000",
    "fine-grained-auxiliary": "data=three-sines n=1000 m=1000000 steps=100000",
    "fine-grained-definition-5.1": "data=three-sines n=5000 floor=0.1 num_samples=100000",
    "memorisation-lemma-8": "n=5000 d=400",
}


@pytest.mark.parametrize("name", LONG)
def test_days_are_refused_at_once(name):
    with pytest.raises(InputError, match=r"more than the 1e\+13 of some minutes: make .* smaller"):
        entry_by_name(name)(dict(pair.split("=", 1) for pair in LONG[name].split()))


def test_minutes_are_not():
    require_work(MOST_OPERATIONS, "n")
