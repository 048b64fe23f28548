import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import builtin_names, describe, held_out, load, resnet_cube, resnet_hard, subset
from widenet.data.concept_names import CONCEPTS, parse_draw, shown_options


@pytest.mark.parametrize("name", CONCEPTS)
def test_a_name_gives_a_sample_of_its_function(name):
    data, told = load(name), describe(name)
    assert name in builtin_names()
    assert (data.n, data.d, data.Y.shape[1]) == (told.n, told.d, told.num_outputs)
    assert torch.equal(data.Y, parse_draw(name).concept.evaluate(data.X))


def test_rows_are_raw_and_targets_in_their_own_units():
    data = load("resnet-cube")
    assert (data.n, data.d, data.Y.shape) == (500, 30, (500, 15))
    assert (data.X.abs() == 1).all()
    assert set(data.Y.abs().mul(10).round().flatten().tolist()) == {7, 13}
    assert (data.task, data.labels, data.classes, data.images) == ("regression", None, (), None)
    assert data.preparation.kind == "raw"
    assert data.names == tuple(f"x{j}" for j in range(1, 31))
    assert data.given[0] == ", ".join(f"{value:.6g}" for value in data.Y[0].tolist())
    assert torch.equal(data.target_scale.in_units(data.Y), data.Y)
    assert data.provenance[1] == "Drew 500 rows of resnet-cube (d=30, alpha=0.3, beta=1) with seed 0."
    assert data.provenance[2:] == (
        "The target is 15 numbers for each row, not standardised.",
        "Rows were left unchanged.",
    )


def test_options_reach_the_function():
    data = load("resnet-cube:n=1000,d=40,k=6,alpha=0.2,beta=0.5,seed=1")
    assert data.name == "resnet-cube:n=1000,d=40,k=6,alpha=0.2,beta=0.5,seed=1"
    assert (data.n, data.d) == (1000, 40)
    expected = resnet_cube(d=40, k=6, alpha=0.2, beta=0.5).evaluate(data.X)
    assert torch.equal(data.Y, expected)
    hard = load("resnet-hard:d=12,d1=6,k=3,alpha=0.1")
    assert torch.equal(hard.Y, resnet_hard(d=12, d1=6, k=3, alpha=0.1).evaluate(hard.X))
    assert load("parity6:d=7,n=20").X.shape == (20, 7)


def test_description_of_what_was_asked_for():
    told = describe("resnet-cube:d=40,n=10")
    assert (told.n, told.d, told.num_outputs, told.classes, told.places) == (10, 40, 20, (), ())
    assert told.source.endswith("Section 8.1")
    assert told.options == ("n=500", "seed=0", "noise=0", "d=30", "k", "alpha=0.3", "beta=1")
    assert describe("resnet-hard").source.endswith("equation (7.1)")
    assert shown_options("three-sines") == ("n=1000", "seed=0", "noise=0")


def test_the_same_seed_gives_the_same_rows():
    first, second, other = (load(f"parity6:n=300,seed={seed}") for seed in (1, 1, 2))
    assert torch.equal(first.X, second.X)
    assert not torch.equal(first.X, other.X)


def test_noise_falls_on_the_targets_alone():
    clean, noisy = load("three-sines:n=4000"), load("three-sines:n=4000,noise=0.2")
    assert torch.equal(clean.X, noisy.X)
    assert float((noisy.Y - clean.Y).std()) == pytest.approx(0.2, rel=0.06)
    assert any("noise of standard deviation 0.2" in sentence for sentence in noisy.provenance)


@pytest.mark.parametrize("kind", ["unit", "standard"])
def test_prepared_rows_keep_the_targets_of_the_raw_ones(kind):
    raw, prepared = load("resnet-cube"), load("resnet-cube", prepare=kind)
    assert torch.equal(raw.Y, prepared.Y)
    torch.testing.assert_close(prepared.X.norm(dim=1), torch.ones(500, dtype=torch.float64))
    assert prepared.provenance[-1] == "The targets were computed before that."
    assert torch.equal(prepared.preparation.apply(raw.X), prepared.X)


@pytest.mark.parametrize("kind", ["raw", "unit", "standard"])
def test_held_out_rows_are_fresh_ones_of_the_same_function(kind):
    name = "resnet-cube:n=2000,alpha=0.4,seed=3"
    train = load(name, prepare=kind)
    test = held_out(name, like=train)
    assert test.n == 10_000
    assert test.preparation is train.preparation
    assert test.names == train.names
    rows, _ = parse_draw(name).rows(10_000, 1)
    assert torch.equal(test.X, train.preparation.apply(rows))
    assert torch.equal(test.Y, resnet_cube(alpha=0.4).evaluate(rows))
    seen = {tuple(row) for row in train.X.sign().tolist()}
    assert not any(tuple(row) in seen for row in test.X.sign().tolist())


def test_number_of_held_out_rows():
    train = load("three-tanhs:n=50")
    assert held_out("three-tanhs", like=train, n=30).n == 30
    assert "Drew 30 rows of three-tanhs with seed 0." in held_out("three-tanhs", train, n=30).provenance[0]
    with pytest.raises(InputError, match="0 rows cannot be held out from 'three-tanhs'"):
        held_out("three-tanhs", like=train, n=0)


def test_held_out_rows_of_another_dimension_are_refused():
    with pytest.raises(InputError, match="do not match"):
        held_out("resnet-cube:d=20", like=load("resnet-cube"))


def test_subsets_keep_every_column():
    data = load("resnet-cube:n=20")
    part = subset(data, torch.tensor([3, 7]))
    assert torch.equal(part.Y, data.Y[[3, 7]])
    assert part.given == (data.given[3], data.given[7])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("resnet-cube:alfa=0.3", "'resnet-cube' has no option 'alfa': did you mean 'alpha'?"),
        ("three-sines:d=5", "'three-sines' has no option 'd': there are 'n', 'seed', 'noise'."),
        ("resnet-cube:n=ten", "'resnet-cube' needs a whole number after n=, not 'ten'."),
        ("resnet-cube:n=1e3", "'resnet-cube' needs a whole number after n=, not '1e3'."),
        ("resnet-cube:n", "'resnet-cube' needs a whole number after n=, not ''."),
        ("resnet-cube:alpha=inf", "'resnet-cube' needs a finite number after alpha=, not 'inf'."),
        ("resnet-cube:n=5,n=6", "'resnet-cube' is given n more than once: keep one."),
        ("resnet-cube:n=1", "'resnet-cube' cannot have n=1 rows: at least two are needed to learn from."),
        ("parity6:seed=-1", "'parity6' cannot have seed=-1: give a whole number from 0 to 2⁶³ − 1."),
        (
            "parity6:d=5",
            "'parity6' cannot be drawn: d is 5, but must be a whole number from 6 to 10000.",
        ),
        (
            "resnet-cube:k=3",
            "'resnet-cube' cannot be drawn: k is 3, but must be a whole number from 4 to 15.",
        ),
        ("parity6:noise=-1", "'parity6' cannot be drawn: noise is -1, but must be finite and not negative."),
    ],
)
def test_wrong_options_are_told_in_one_sentence(source, said):
    for ask in (load, describe):
        with pytest.raises(InputError) as error:
            ask(source)
        assert str(error.value) == said


def test_unknown_names_are_met_with_near_ones():
    for source in ("resnet-cub", "resnet-cub:alpha=0.3"):
        with pytest.raises(InputError, match="did you mean 'resnet-cube'"):
            load(source)
        with pytest.raises(InputError, match="did you mean 'resnet-cube'"):
            describe(source)


def test_more_rows_than_memory_are_refused():
    with pytest.raises(InputError, match=r"A sample of 1,000,000,000,000 rows.* GiB"):
        load("parity6:n=1000000000000")


def test_concept_classes_have_their_own_targets():
    with pytest.raises(InputError, match="`target` does not apply"):
        load("parity6", target="y")
