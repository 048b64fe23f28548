"""`widenet theory` as users meet it: the list, one quantity, JSON, and one sentence for every wrong input."""

import json

import pytest

from widenet.theory.names import quantity_groups


def test_the_list_has_every_quantity_by_paper(widenet):
    code, out, err = widenet("theory")
    assert (code, err) == (0, "")
    for heading, entries in quantity_groups().items():
        assert heading in out
        for entry in entries:
            assert f"  {entry.name} " in out
    assert "inside" in out
    assert "separation" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_list_as_json(widenet):
    record = json.loads(widenet("theory", "--json")[1])
    assert record["schema"] == "widenet/theory/1"
    by_name = {each["name"]: each for each in record["quantities"]}
    assert by_name["c-s"]["arguments"]["R"]["default"] == 1.0
    assert by_name["resnet-theorem-2"]["paper"] == "resnet-beyond-kernels"


def test_a_quantity_shows_formula_numbers_constants_range_and_source(widenet):
    code, out, _ = widenet("theory", "resnet-theorem-2", "d=60", "d1=40", "k=3", "N=9", "alpha=0.3")
    assert code == 0
    for words in (
        "0.005625",
        "α²/16",
        "0.3²/16",
        "inside the range",
        "N = 9 ≤ C(d1,k)/1000 = 9.88",
        "Theorem 2",
    ):
        assert words in out
    assert max(map(len, out.splitlines())) <= 80


def test_hidden_constants_are_shown_as_ours(widenet):
    out = widenet("theory", "resnet-corollary-7.1", "d=60", "d1=40", "k=3", "alpha=0.01", "c_N=2")[1]
    assert "c_N = 2 (our value; the paper hides it)" in out


def test_what_overflows_is_shown_by_its_logarithm(widenet):
    out = widenet("theory", "c-epsilon", "phi=sin(z)", "epsilon=0.1")[1]
    assert "10^4342" in out


def test_divergence_is_said(widenet):
    code, out, _ = widenet("theory", "c-epsilon", "phi=z*arctan(z/2)", "epsilon=0.1")
    assert code == 0
    assert "infinite" in out
    assert "diverges" in out
    assert "outside the range" in out


@pytest.mark.parametrize("arguments", [("c-s", "phi=sin", "--json"), ("--json", "c-s", "phi=sin")])
def test_json_is_the_quantity_with_schema_and_version(widenet, arguments):
    code, out, err = widenet("theory", *arguments)
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert record["schema"] == "widenet/theory/1"
    assert set(record) == {
        "schema",
        "version",
        "name",
        "value",
        "formula",
        "filled",
        "terms",
        "applies",
        "why",
        "source",
        "log10",
        "constants",
        "error",
        "verdict",
    }
    assert record["value"] == pytest.approx(1e4 * 2.7182818284590452)
    assert record["source"] == {"paper": "resnet-beyond-kernels", "place": "Section 4"}


def test_json_of_what_diverges_is_strict(widenet):
    record = json.loads(widenet("theory", "c-s", "phi=arctan", "--json")[1], parse_constant=pytest.fail)
    assert record["value"] is None
    assert record["applies"] is False


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["c-z"], "'c-s'"),
        (["resnet-theorm-2"], "'resnet-theorem-2'"),
        (["insid"], "'inside'"),
        (["c-s"], "phi"),
        (["c-s", "phi"], "key=value"),
        (["c-s", "phi="], "key=value"),
        (["c-s", "phi=sin", "phi=cos"], "more than once"),
        (["c-s", "phi=sin", "R=-1"], "a number ≥ 0"),
        (["c-s", "phi=sin", "R=much"], "a number ≥ 0"),
        (["c-s", "phi=sin", "radius=1"], "no argument radius"),
        (["c-s", "phi=sinn(z)"], "'sin'"),
        (["c-epsilon", "phi=sin", "epsilon=1"], "0 < value < 1"),
        (["resnet-theorem-2", "d=60.5", "d1=40", "k=3", "N=9", "alpha=0.3"], "whole number"),
        (["concept", "name=resnet-cub"], "'resnet-cube'"),
    ],
)
def test_wrong_input_gets_one_sentence(widenet, arguments, word):
    code, out, err = widenet("theory", *arguments)
    assert code == 2
    assert out == ""
    assert word in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


def test_what_cannot_be_decided_fails_in_one_sentence(widenet):
    code, _, err = widenet("theory", "c-s", "phi=1/cosh(z)", "R=1.5")
    assert code == 1
    assert "decided" in err
    assert len(err.strip().splitlines()) == 1


def test_help_of_a_quantity_tells_its_arguments(widenet):
    code, out, _ = widenet("theory", "c-epsilon", "--help")
    assert code == 0
    assert "epsilon: accuracy ε, a number with 0 < value < 1" in out
    assert "c_star" in out


@pytest.mark.slow
def test_inside_on_digits(widenet):
    options = ("--data", "digits", "--width", "10000", "--eta", "1e-3", "--kappa", "1e-2")
    code, out, err = widenet("theory", "inside", *options)
    assert code == 0
    assert "reading digits" in err
    assert "astronomical" in out
    assert max(map(len, out.splitlines())) <= 80
    by_flag, by_group = (
        json.loads(widenet("theory", *arguments)[1])
        for arguments in (("inside", *options, "--json", "-q"), ("--json", "inside", *options, "-q"))
    )
    assert by_group == by_flag
    record = by_flag
    assert record["schema"] == "widenet/inside/1"
    assert {answer["paper"] for answer in record["answers"]} >= {"fine-grained", "mild-memorisation"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "--width"),
        (["--width", "0"], "--width"),
        (["--width", "10", "--eta", "0"], "--eta"),
        (["--width", "10", "--delta", "1"], "--delta"),
        (["--width", "10", "--data", "digit"], "digits"),
    ],
)
def test_wrong_options_of_inside(widenet, arguments, word):
    code, out, err = widenet("theory", "inside", "-q", *arguments)
    assert code == 2
    assert out == ""
    assert word in err


@pytest.mark.parametrize("given", [["resnet-cube:n=40"], ["--data", "resnet-cube:n=40"]])
def test_data_is_an_argument_or_an_option(widenet, given):
    code, out, err = widenet("theory", "inside", *given, "--width", "64", "--json")
    assert code == 0
    assert json.loads(out)["data"].startswith("resnet-cube")
    assert "Forecast: " in err


def test_data_is_given_once(widenet):
    code, out, err = widenet("theory", "inside", "digits", "--data", "mnist", "--width", "64", "-q")
    assert (code, out) == (2, "")
    assert "DATA is 'digits' and --data is 'mnist'" in err


def test_a_width_beyond_every_float_is_a_width(widenet):
    width = "1" + 400 * "0"
    code, out, _ = widenet("theory", "inside", "resnet-cube:n=40", "--width", width, "--json", "-q")
    assert code == 0
    assert str(json.loads(out)["setting"]["width"]) == width
