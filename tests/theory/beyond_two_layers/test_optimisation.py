"""Lemma 6.7's promise, round by round."""

import pytest

from widenet.theory.beyond_two_layers.optimisation import lemma_6_7


def test_rounds_lead_to_the_limit():
    found = lemma_6_7(0.8, 0.1, 0.01, 0.2, 0.05, c=0.5)
    value, rounds = 0.8, 0
    assert found.value == pytest.approx(0.8 * (1 - 0.05 * 0.2 / 4))
    limit = 1.2 * 0.1 + 0.5 * 0.01 / 0.2
    while value > limit:
        value *= 1 - 0.05 * 0.2 / 4
        rounds += 1
    assert found.terms["limit"] == pytest.approx(limit)
    assert found.terms["rounds to the limit"] == rounds
    assert found.applies
    assert not lemma_6_7(0.1, 0.1, 0.01).applies
    assert not lemma_6_7(0.8, 0.1, 0.01, 0.3).applies
    assert lemma_6_7(0.1, 0.1, 0.01).terms["rounds to the limit"] == 0
