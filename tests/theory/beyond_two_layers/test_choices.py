"""What the proofs require of widths, by putting the widths back into the proofs' inequalities."""

import math

import pytest

from widenet.theory.beyond_two_layers.choices import (
    lemma_b_4,
    parameter_choices,
    table_sizes,
    three_layer_widths,
    two_layer_widths,
)
from widenet.theory.beyond_two_layers.coupling import lemma_6_5, smoothing_errors, stronger_coupling
from widenet.theory.numbers import context, mpf


def test_two_layers_at_their_widths():
    """Lemma B.1's, B.3's and B.4's errors are ε, each at its own width."""
    C_s, C, k, p, epsilon = 30.0, 500.0, 2.0, 3.0, 0.01
    widths = two_layer_widths(*map(mpf, (C_s, C, k, p, epsilon)))
    for name, width in widths.items():
        m = float(width)
        eta, T, a = 1 / (epsilon * k * m), C_s**2 * k**3 * p**2 / epsilon**2, epsilon
        if "B.1" in name:
            error = k * p * C / math.sqrt(m)
        elif "B.3" in name:
            error = a * k * (a * eta * T) ** 2 * m**1.5
        else:
            of_gradients = a**2 * k * eta * T * m**1.5 + a**4 * k**2 * (eta * T) ** 2 * m**2.5
            second = a**4 * k**2 * (eta * T) ** 2 * m**2.5
            assert second <= of_gradients <= 1.1 * second  # Δ of the paper is its second part
            error = (math.sqrt(k) * a * eta * T + k * p * C / (a * m)) * second
        assert error == pytest.approx(epsilon), name


def test_lemma_b_4_of_a_linear_function():
    """C_s(z, 1) = C*·2^1.75 and C_ε(z, 1) = C*(1 + √log(1/ε))."""
    star, epsilon = 2.0, 1e-4
    C_s, C = star * 2**1.75, star * (1 + math.sqrt(math.log(1 / epsilon)))
    found = lemma_b_4("z", 1, 1, epsilon, c_star=star, c=7.0)
    assert found.value == pytest.approx(7 * ((C_s**2 / epsilon**2 + C / epsilon) * C_s**4 / epsilon**3) ** 2)
    assert found.applies
    assert lemma_b_4("tanh", 1, 1, 0.01).applies is False


def test_table_1_is_consistent():
    m1, m2, epsilon0, epsilon, C_0 = map(mpf, (1e6, 4e6, 0.01, 1e-5, 50.0))
    found = table_sizes(m1, m2, epsilon0, epsilon, C_0, 2.0)
    # λ_v‖V⋇‖_F² and λ_w‖W⋇‖_{2,4}⁴ at lemma 6.2's norms, moved by m1^0.005
    of_v = context.sqrt(m2) * context.sqrt(m1) / m2 / m1 ** mpf("0.005")
    of_w = m1 ** mpf(0.25) * C_0 / m1 * m1 ** mpf("0.005")
    assert float(found["lambda_v"] * of_v**2) == pytest.approx(2 * 0.01)
    assert float(found["lambda_w"] * of_w**4) == pytest.approx(2 * 0.01)
    total = epsilon0 ** mpf(0.75) * context.sqrt(m2) * m1 ** mpf(0.25) * found["tau'_w"] * found["tau'_v"]
    assert float(total) == pytest.approx(50)
    assert float(found["sigma_v"]) == pytest.approx((1e-5 / 50) ** 2 / 2000)
    sizes = {name: float(found[name]) for name in ("tau_w", "tau_v", "sigma_w", "sigma_v")}
    assert lemma_6_5(1e6, 1e6, **sizes).applies
    assert sizes["tau_w"] > float(m1) ** -0.75  # room for 1/√λ above τ'


def test_three_layers_at_their_widths():
    """At the width of each lemma its error is ε, or ε/k, at Table 1's sizes."""
    epsilon0, epsilon, C_0, k = 0.01, 0.1, 1.5, 2
    widths = three_layer_widths(*map(mpf, (epsilon0, epsilon, C_0, k)))
    for name, m in widths.items():
        at = table_sizes(m, m, mpf(epsilon0), mpf(epsilon), mpf(C_0))
        if "6.6" in name:  # ‖D'_v‖_0·‖v⋇‖·√m1·‖w⋇‖ with lemma 6.2's norms
            flipped = at["tau_v"] ** (mpf(2) / 3) * m
            error = flipped * (context.sqrt(m) / m) * context.sqrt(m) * (C_0 / m)
        elif "6.5" in name:
            error = at["tau_v"]
        elif "6.9" in name:
            steps = C_0 / m ** mpf("0.995"), m ** mpf("0.495") / m
            errors = smoothing_errors(m, m, *steps, at["sigma_w"], at["sigma_v"])
            error = errors["signs of the first layer"]
            assert sum(errors.values()) < 1.001 * error
        else:
            which = ("first", "second", "third").index(name.split()[1])
            errors = stronger_coupling(m, m, at["tau'_w"], at["tau'_v"])
            error = k * list(errors.values())[which]
        assert float(error) == pytest.approx(epsilon, rel=1e-6), name
    found = parameter_choices(100, 200, epsilon0, epsilon, C_0, k)
    assert found.log10 == pytest.approx(1500 * math.log10(15))
    assert found.terms["log10 m for the cross term of Lemma 6.5"] == pytest.approx(1000)
