"""Each thing that may be added from outside, really added: one new file, and at most one line in a registry.

The files are those that docs/adding.md shows. Here each is a module outside the package.
"""

import json
import math
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from sklearn.utils.estimator_checks import check_estimator
from torch.testing import assert_close

import widenet
from widenet.compare import methods
from widenet.data import builtin
from widenet.kernels import names as kernel_names
from widenet.networks import names as network_names
from widenet.networks.initialise import draw_parameters
from widenet.networks.tangent import jacobian, tangent_gram
from widenet.papers import figures
from widenet.spectrum import lanczos
from widenet.testing import unit_rows
from widenet.theory import names as theory_names

commands = import_module("widenet.cli.main")  # the package has a function of that name

ADDING = Path(__file__).parents[1] / "docs" / "adding.md"
# What is added, the one new file, and the line in a registry.
DOORS = {
    "a kernel layer": ("sine.py", None),
    "an activation": ("sine.py", "kernels/names.py: ACTIVATIONS"),
    "a network": ("linear_net.py", "networks/names.py: ARCHITECTURES"),
    "a data set": ("wine.py", "data/builtin.py: BUILTINS"),
    "a theorem": ("hoeffding.py", "theory/names.py: MODULES"),
    "a paper's figure": ("means.py", "papers/figures.py: FIGURES"),
    "a study with its command": ("neighbours.py", "cli/main.py: STUDIES"),
    "a Gram operator": ("counted.py", None),
    "an estimator": ("tangent_ridge.py", "compare/methods.py: METHODS"),
}


def shown_files() -> dict[str, str]:
    """The files that the page shows, by name."""
    return dict(re.findall(r"<!-- file: (\S+) -->\n```python\n(.*?)```", ADDING.read_text(), re.DOTALL))


@pytest.fixture
def added(monkeypatch, tmp_path) -> Callable[[str], ModuleType]:
    """The one new file of an addition as a module outside the package."""

    def written(door: str) -> ModuleType:
        file, _ = DOORS[door]
        (tmp_path / file).write_text(shown_files()[file])
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, Path(file).stem, raising=False)
        return import_module(Path(file).stem)

    return written


@pytest.fixture
def run(widenet) -> Callable[..., tuple[int, str, str]]:
    """The command line; the name of its fixture is that of the package here."""
    return widenet


@pytest.mark.parametrize("door", DOORS)
def test_the_page_names_the_file_and_the_registry(door):
    file, registry = DOORS[door]
    assert file in shown_files()
    if registry is not None:
        place, name = registry.split(": ")
        assert f"`{name}` of `widenet/{place}`" in " ".join(ADDING.read_text().split())


def test_a_kernel_layer(added, generator):
    """E sin u(x) sin u(z) over weights, for units that a layer of width 1 makes of the rows."""
    sine, X = added("a kernel layer").Sine(), unit_rows(6, 4, generator=generator)
    kernel = widenet.Serial(widenet.Dense(weight_var=2.0), sine, widenet.Dense(), trained="last")
    W = math.sqrt(2) * torch.randn(2**19, 4, generator=generator, dtype=torch.float64)
    features = (X @ W.T).sin()
    assert_close(widenet.gram_matrix(kernel, X), features @ features.T / len(W), rtol=0.02, atol=5e-3)


def test_an_activation(added, monkeypatch, run):
    layer = added("an activation").Sine()
    monkeypatch.setitem(kernel_names.ACTIVATIONS, "sin", (layer, 2 / (1 - math.exp(-2)), "sin"))
    assert "sin3-all" in kernel_names.kernel_names()
    code, out, _ = run("audit", "resnet-cube:n=40", "--kernel", "sin3-all", "--json", "-q")
    assert code == 0
    assert json.loads(out)["kernel"] == "sin3-all"


def test_a_network(added, monkeypatch, generator, tmp_path):
    monkeypatch.setitem(network_names.ARCHITECTURES, "2linear", added("a network").TwoLinear)
    network = widenet.network_by_name("2linear-all", 8)
    params = draw_parameters(
        network, 5, 2, widenet.Initialisation(), generator=generator, dtype=torch.float64
    )
    X = unit_rows(7, 5, generator=generator)
    J = jacobian(network, params, X).flatten(0, 1)
    assert_close(tangent_gram(network, params, X), J @ J.T)
    dataset = widenet.load("resnet-cube:n=64,d=8,k=4")
    grid = [widenet.TrainingSettings(rate=rate, epochs=20) for rate in (0.01, 0.02)]
    with widenet.Store(tmp_path / "store") as store:
        first = widenet.sweep(network, dataset, grid, store=store)
        again = widenet.sweep(network, dataset, grid, store=store)
    assert all(run.train_error[-1] <= run.train_error[0] for run in first)
    assert [run.train_error for run in again] == [run.train_error for run in first]


def test_a_data_set(added, monkeypatch, run):
    monkeypatch.setitem(builtin.BUILTINS, "wine", added("a data set").WINE)
    dataset = widenet.load("wine")
    assert (dataset.n, len(dataset.classes)) == (178, 3)
    assert dataset.preparation.kind == "standard"
    code, out, _ = run("data", "wine")
    assert code == 0
    assert "178 rows, 13 columns" in out
    code, out, _ = run("audit", "wine", "--json", "-q")
    assert code == 0
    assert json.loads(out)["data"]["n"] == 178


def test_a_theorem(added, monkeypatch, run):
    monkeypatch.setitem(theory_names.MODULES, "hoeffding1963probability", (added("a theorem"),))
    code, out, _ = run("theory", "hoeffding", "n=1000", "delta=0.05", "--json")
    assert code == 0
    assert json.loads(out)["value"] == pytest.approx(math.sqrt(math.log(40) / 2000))
    assert "hoeffding" in run("theory")[1]
    assert run("theory", "hoeffding", "n=0", "delta=0.05")[0] == 2


def test_a_figure_of_a_paper(added, monkeypatch, run):
    added("a paper's figure")
    monkeypatch.setitem(figures.FIGURES, "my-paper/means", "means:MEANS")
    code, out, _ = run("reproduce", "my-paper/means", "--set", "n=10,1000", "--out", "made", "-q", "--json")
    assert code == 0
    record = json.loads(out)
    errors = {curve["name"]: curve["points"] for curve in record["curves"]}["error"]
    assert errors[1]["best"] == pytest.approx([1000**-0.5] * 3, rel=0.2)
    assert record["claims"][0]["verdict"] == "held"
    assert record["settings_changed"]
    assert "Plotly" in Path("made/figure.html").read_text()
    assert Path("made/data.csv").read_text().startswith("curve,x,seed,best,last")
    code, out, _ = run("reproduce", "--list", "my-paper")
    assert code == 0
    assert "The error falls with the number of samples." in out


def test_a_study_with_its_command(added, monkeypatch, run):
    added("a study with its command")
    monkeypatch.setitem(commands.STUDIES, "neighbours", "neighbours:NEIGHBOURS")
    assert "How often does the nearest other row have another label?" in run("--help")[1]
    code, out, err = run("neighbours", "digits", "--power", "1", "--out", "made")
    assert code == 0
    assert "another label for 1.3% of the rows." in out
    assert err.splitlines() == ["reading digits", "distances", "writing the report"]
    assert {path.name for path in Path("made").iterdir()} == {"report.html", "result.json", "config.json"}
    assert json.loads(Path("made/config.json").read_text())["power"] == 1
    code, _, err = run("neighbours", "digits", "--power", "0.5")
    assert code == 2
    assert "--power is 0.5, but must be from 1 to 100" in err
    code, _, err = run("neighbours", "resnet-cube:n=40")
    assert code == 2
    assert "numbers to predict" in err


def test_a_gram_operator(added, binary, generator):
    module = added("a Gram operator")
    made = []

    def make(kernel, X, dtype):
        made.append(module.CountedGram(kernel, X, dtype))
        return made[-1]

    dense, counted = widenet.run_audit(binary), widenet.run_audit(binary, make_gram=make)
    assert made[0].num_products > 0
    assert math.isclose(counted.complexity.value, dense.complexity.value, rel_tol=1e-6)
    assert dense.complexity.certified
    assert not counted.complexity.certified  # nobody knows how its entries come about
    assert abs(counted.loo.error / dense.loo.error - 1) < 0.25
    rows = torch.arange(0, binary.n, 2)
    part = made[0].part(rows)
    v = torch.randn(len(rows), 2, generator=generator, dtype=torch.float64)
    assert_close(part.matmul(v), made[0].matrix[rows][:, rows] @ v)
    assert lanczos(part, v, num_steps=4).num_steps == 4


def test_an_estimator(added, monkeypatch, run):
    module = added("an estimator")
    check_estimator(module.TangentRidge(), on_fail="raise", on_skip=None)
    monkeypatch.setitem(methods.METHODS, "tangent-ridge", lambda width, epochs: module.TANGENT_RIDGE)
    rows = np.random.default_rng(0).normal(size=(80, 3))
    lines = [",".join(f"{value:.6f}" for value in (*row, np.abs(row).sum())) for row in rows]
    Path("table.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    code, out, err = run(
        "compare", "table.csv", "--methods", "tangent-ridge,ridge", "--folds", "3", "--json", "-q"
    )
    assert (code, err) == (0, "")
    found = {method["name"]: method for method in json.loads(out)["methods"]}
    assert found["tangent-ridge"]["error"] < found["ridge"]["error"]
