import math
from dataclasses import replace

import pytest

from widenet.audit.findings import Suspect
from widenet.report.audit.charts import charts_of
from widenet.report.parts.plots import MOST_POINTS


def test_charts_are_plotlys_and_coloured_by_the_style_sheet(task, result_of, check_charts):
    check_charts(charts_of(result_of(task)).values())


def test_which_charts_are_drawn(result_of):
    everywhere = {"complexity", "alignment", "descent", "trained", "learning", "interpolating", "scores"}
    assert set(charts_of(result_of("regression"))) == everywhere
    assert set(charts_of(result_of("binary"))) == everywhere
    assert set(charts_of(result_of("multiclass"))) == everywhere | {"classes"}


def test_complexity_bars_have_their_bounds(result_of):
    bars = charts_of(result_of("binary"))["complexity"].spec["data"][0]
    assert bars["x"] == [0.8123456, 3.25]
    assert bars["error_x"]["array"] == [0.8123461 - 0.8123456, 0.05]
    assert bars["error_x"]["arrayminus"] == [0.8123456 - 0.8123450, 0.05]


def test_descent_is_a_share_of_the_start(result_of):
    result = result_of("binary")
    lines = {line["name"]: line for line in charts_of(result)["descent"].spec["data"]}
    assert set(lines) == {"these labels", "shuffled labels", "worst case"}
    assert lines["these labels"]["x"] == list(result.curve.steps[1:])
    assert lines["these labels"]["y"][0] == result.curve.loss[1] / result.curve.loss[0]


def test_trained_network_lies_on_its_own_prediction(result_of):
    predicted, run = charts_of(result_of("binary"))["trained"].spec["data"]
    assert run["x"] == predicted["x"]
    assert run["y"] == pytest.approx([1.05 * share for share in predicted["y"]])


def test_losses_without_a_logarithm_are_left_out(result_of):
    result = result_of("binary")
    odd = (result.curve.loss[0], 0.0, math.inf, *result.curve.loss[3:])
    lines = charts_of(replace(result, curve=replace(result.curve, loss=odd)))["descent"].spec["data"]
    assert lines[0]["y"][:2] == [None, None]


def test_learning_curve_joins_measured_and_extrapolated(result_of):
    band, constant, ahead, known = charts_of(result_of("binary"))["learning"].spec["data"]
    assert constant["y"] == [0.5, 0.5]
    assert (known["x"], known["y"]) == ([15, 30, 60], [0.4, 0.2, 0.1])
    assert (ahead["x"], ahead["y"]) == ([60, 120, 240], [0.1, 0.05, 0.025])
    assert len(band["x"]) == len(band["y"]) == 10
    assert min(band["y"]) > 0


def test_a_curve_that_reaches_zero_is_linear(result_of):
    result = result_of("binary")
    zero = (0.0,) * len(result.learning_curve.n)
    curve = replace(
        result.learning_curve, misclassified=zero, misclassified_low=zero, misclassified_high=zero
    )
    layout = charts_of(replace(result, learning_curve=curve))["interpolating"].spec["layout"]
    assert "type" not in layout["yaxis"]


def test_large_errors_are_drawn_in_thousands(result_of):
    def ticks(scale):
        result = result_of("regression")
        scaled = replace(result, data=replace(result.data, target_scale=scale))
        return charts_of(scaled)["learning"].spec["layout"]["yaxis"]["tickformat"]

    assert [ticks(scale) for scale in (5e5, 7.0, 1e-3)] == [".3~s", ".3~g", ".3~g"]


def test_many_rows_stay_few_points(result_of):
    labels = tuple(Suspect(row, "a", "b", 1 / row) for row in range(1, 60001))
    line = charts_of(replace(result_of("binary"), ranking=labels))["scores"].spec["data"][0]
    assert len(line["x"]) <= MOST_POINTS + 1
    assert line["x"][0] == 1
    assert line["x"][-1] == 60000
    assert line["y"][-1] == 1 / 60000
