"""Formulas that would never end: one sentence, from counted operations rather than a clock."""

import pytest

from widenet.base.errors import InputError, WidenetError
from widenet.theory.smooth import budget
from widenet.theory.smooth.complexity import c_epsilon, c_s
from widenet.theory.smooth.functions import function_from_text

TOO_LARGE = [
    "2**(2**i)",
    "10**(10**(10*i))",
    "2**-(2**i)",
    "i**-i**i",
    "(i+1)**9**9**9",
    "factorial(factorial(i))",
    "factorial(10**8)**factorial(10**8)**i",
    "sin(2**i)",
    "i%(2**i)",
    "9**9**9",
    "z**(9**9)",
    "((z+1)**1000)**1000",
    "(z+1)**1000*" * 9 + "z",
    "arctan(" * 45 + "z" + ")" * 45,
    "sin((9**1000)**1000)*z",
]


@pytest.mark.parametrize("phi", TOO_LARGE, ids=lambda phi: phi[:20])
def test_a_formula_that_would_never_end_is_refused(phi, monkeypatch):
    monkeypatch.setattr(budget, "MOST_OPERATIONS", 100_000)  # the same refusals, sooner
    for compute in (c_s, lambda phi: c_epsilon(phi, 0.1)):
        with pytest.raises(InputError) as error:
            compute(phi)
        assert "\n" not in str(error.value)


def test_long_and_deep_formulas_are_refused():
    with pytest.raises(InputError, match="too long"):
        function_from_text("(" * 10_000 + "z" + ")" * 10_000)
    with pytest.raises(InputError, match="too many parts"):
        function_from_text("+".join("z" * 120))
    assert function_from_text("(" * 150 + "z" + ")" * 150).degree == 1
    with pytest.raises(InputError, match="not a formula"):
        function_from_text("-" * 398 + "(")


def test_a_series_that_never_converges_ends(monkeypatch):
    monkeypatch.setattr(budget, "MOST_OPERATIONS", 100_000)
    for phi in (
        "log(log(log(i+9)))/1.001**i",
        "exp(exp(exp(exp(z))))",
        "((sin(z)**1000)**1000)**1000",
        "(1+sin(z)/9)**1000",
    ):
        with pytest.raises(WidenetError):
            c_s(phi)


def test_the_budget_counts_operations_of_all_lengths_together():
    cost = budget.Cost(fixed=1, linear=2, square=4) + budget.Cost(linear=1)
    assert cost.operations(10) == 1 + 3 * 10 + 2 * 100
    cost.require(10, before=budget.MOST_OPERATIONS - 231)
    with pytest.raises(InputError, match="operations"):
        cost.require(10, before=budget.MOST_OPERATIONS - 230)


def test_powers_of_a_series_compute_it_once():
    """A power multiplies its series with itself; without keeping it, each doubling would double the work."""
    lengths = []
    inner = function_from_text("sin(z)")
    coefficients = inner.coefficients
    object.__setattr__(inner, "coefficients", lambda n: lengths.append(n) or coefficients(n))
    from widenet.theory.smooth.taylor import constant, raise_to

    power = raise_to(inner, constant(64))
    assert power.coefficients(70)[64] == 1
    assert lengths.count(70) == 1
