"""Small drawings say the same in numbers and in places."""

import re

import pytest

from widenet.report.parts.sketch import HEIGHT, MARGIN, WIDTH, amount_sketch, curve_sketch


def places(sketch: str, kind: str) -> list[tuple[float, float]]:
    """Left end and width of each rectangle of a kind."""
    shape = rf'<rect x="([^"]*)" y="[^"]*" width="([^"]*)" height="[^"]*" rx="2" class="{kind}">'
    found = re.findall(shape, sketch)
    return [(float(x), float(width)) for x, width in found]


def test_an_amount_lies_between_its_ends():
    sketch = amount_sketch(0.2, 0.1, 0.4, 0.5, ("none", "half"), "20%")
    assert places(sketch, "interval") == [pytest.approx((0.2 * WIDTH, 0.6 * WIDTH))]
    assert places(sketch, "mark") == [pytest.approx((0.4 * WIDTH - 2, 4))]
    assert 'aria-label="20%"' in sketch
    assert "<span>none</span><span>half</span>" in sketch


@pytest.mark.parametrize("value", [-1.0, 0.0, 2.0, 1e9])
def test_what_lies_outside_is_drawn_at_the_end(value):
    ((mark, width),) = places(amount_sketch(value, value, value, 1.0, ("", ""), ""), "mark")
    assert 0 <= mark <= WIDTH - width


def test_no_mark_where_nothing_is_known():
    assert not places(amount_sketch(None, 0.0, 0.5, 1.0, ("", ""), ""), "mark")


def test_a_curve_falls_over_equal_steps_of_the_logarithm():
    sketch = curve_sketch((10, 20, 40), (0.4, 0.2, 0.1), (0.4, 0.1, 0.0), (0.4, 0.3, 0.2), 2, "falls")
    dots = re.findall(r'<circle cx="(.*?)" cy="(.*?)" r="4" class="(.*?)">', sketch)
    assert [kind for _, _, kind in dots] == ["measured", "measured", "ahead"]
    x, y = zip(*((float(x), float(y)) for x, y, _ in dots), strict=True)
    assert x == pytest.approx((MARGIN, WIDTH / 2, WIDTH - MARGIN))
    span = HEIGHT - 2 * MARGIN
    assert y == pytest.approx((MARGIN, MARGIN + span / 2, MARGIN + 0.75 * span))


def test_a_curve_of_zeros_and_of_one_size_can_be_drawn():
    assert "nan" not in curve_sketch((10, 10), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), 2, "")
