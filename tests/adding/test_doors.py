"""Each thing that may be added from outside, really added: one new file, and at most one line in a registry.

The toys are the code that docs/adding.md shows. Here each is a module outside the package.
"""

import json
import math
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
from widenet import cli
from widenet.cli import main as commands
from widenet.cli.study import study_command
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

TOYS = Path(__file__).parent / "toys"
ADDING = Path(__file__).parents[2] / "docs" / "adding.md"
# What is added, the one new file, and the line in a registry.
DOORS = {
    "a kernel layer": ("layer.py", None),
    "an activation": ("activation.py", "kernels/names.py: ACTIVATIONS"),
    "a network": ("network.py", "networks/names.py: ARCHITECTURES"),
    "a data set": ("dataset.py", "data/builtin.py: BUILTINS"),
    "a theorem": ("theorem.py", "theory/names.py: MODULES"),
    "a paper's figure": ("figure.py", "papers/figures.py: FIGURES"),
    "a study with its command": ("study.py", "cli/main.py: STUDIES"),
    "a Gram operator": ("gram.py", None),
    "an estimator": ("estimator.py", "compare/methods.py: METHODS"),
}


@pytest.fixture
def toy(monkeypatch, tmp_path) -> Callable[[str], ModuleType]:
    """A toy as a module of its own, outside the package."""

    def added(name: str) -> ModuleType:
        module = f"toy_{Path(name).stem}"
        (tmp_path / f"{module}.py").write_text((TOYS / name).read_text())
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, module, raising=False)
        return import_module(module)

    return added


@pytest.fixture
def run(monkeypatch, capsys, tmp_path) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["widenet", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


@pytest.mark.parametrize("door", DOORS)
def test_the_page_shows_the_very_code(door):
    file, registry = DOORS[door]
    page = ADDING.read_text()
    assert (TOYS / file).read_text().strip() in page
    assert registry is None or registry.split(": ")[0] in page


def test_there_are_no_other_toys():
    assert sorted(path.name for path in TOYS.glob("*.py")) == sorted(file for file, _ in DOORS.values())


def test_a_kernel_layer(toy, generator):
    """ReLU is homogeneous, so units of twice the size make kernels of four times the value."""
    scale, X = toy("layer.py").Scale(2.0), unit_rows(30, 5, generator=generator)
    plain = widenet.Serial(widenet.Dense(), widenet.Relu(), widenet.Dense())
    scaled = widenet.Serial(widenet.Dense(), scale, widenet.Relu(), widenet.Dense())
    assert_close(widenet.gram_matrix(scaled, X), 4 * widenet.gram_matrix(plain, X))


def test_an_activation(toy, monkeypatch, generator, run):
    monkeypatch.setitem(kernel_names.ACTIVATIONS, "cos", toy("activation.py").COSINE)
    X = unit_rows(6, 4, generator=generator)
    kernel = widenet.kernel_by_name("cos2-last")
    W = torch.randn(2**19, 4, generator=generator, dtype=torch.float64)
    features = (X @ W.T).cos()
    assert_close(widenet.gram_matrix(kernel, X), features @ features.T / len(W), rtol=0.02, atol=5e-3)
    assert "cos3-all" in kernel_names.kernel_names()
    code, out, _ = run("audit", "resnet-cube:n=40", "--kernel", "cos3-all", "--json", "-q")
    assert code == 0
    assert json.loads(out)["kernel"] == "cos3-all"


def test_a_network(toy, monkeypatch, generator, tmp_path):
    module = toy("network.py")
    monkeypatch.setitem(network_names.ARCHITECTURES, "2linear", module.LinearLayers)
    network = widenet.network_by_name("2linear-all", 8)
    params = draw_parameters(
        network, 5, 2, widenet.Initialisation(), generator=generator, dtype=torch.float64
    )
    X = unit_rows(7, 5, generator=generator)
    J = jacobian(network, params, X).flatten(0, 1)
    assert_close(tangent_gram(network, params, X), J @ J.T)
    dataset = widenet.load("resnet-cube:n=64,d=6,k=2")
    grid = [widenet.TrainingSettings(rate=rate, epochs=20) for rate in (0.01, 0.02)]
    with widenet.Store(tmp_path / "store") as store:
        first = widenet.sweep(network, dataset, grid, store=store)
        again = widenet.sweep(network, dataset, grid, store=store)
    assert all(run.train_error[-1] <= run.train_error[0] for run in first)
    assert [run.train_error for run in again] == [run.train_error for run in first]


def test_a_data_set(toy, monkeypatch, run):
    monkeypatch.setitem(builtin.BUILTINS, "wine", toy("dataset.py").WINE)
    dataset = widenet.load("wine")
    assert (dataset.n, dataset.classes) == (178, ("barbera", "barolo", "grignolino"))
    assert dataset.preparation.kind == "standard"
    code, out, _ = run("data", "wine")
    assert code == 0
    assert "178 rows, 13 columns" in out
    code, out, _ = run("audit", "wine", "--json", "-q")
    assert code == 0
    assert json.loads(out)["data"]["n"] == 178


def test_a_theorem(toy, monkeypatch, run):
    monkeypatch.setitem(theory_names.MODULES, "toy", (toy("theorem.py"),))
    code, out, _ = run("theory", "toy-markov", "mean=2", "level=8", "--json")
    assert code == 0
    assert json.loads(out)["value"] == 0.25
    assert "toy-markov" in run("theory")[1]
    assert run("theory", "toy-markov", "mean=2", "level=0")[0] == 2


def test_a_figure_of_a_paper(toy, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    toy("figure.py")
    monkeypatch.setitem(figures.FIGURES, "toy/means", "toy_figure:MEANS")
    command = study_command(figures.figure_by_name("toy/means"))
    assert command(["--sizes", "10,1000", "--out", "made", "-q", "--json"], standalone_mode=False) == 0
    record = json.loads(Path("made/result.json").read_text())
    assert record["errors"][1] == pytest.approx(1000**-0.5, rel=0.2)
    assert "1/√N" in record["verdict"][0]
    assert "Plotly" in Path("made/report.html").read_text()
    assert Path("made/data.csv").read_text().startswith("samples,error\n10,")


def test_a_study_with_its_command(toy, monkeypatch, run):
    toy("study.py")
    monkeypatch.setitem(commands.STUDIES, "guess", "toy_study:GUESS")
    assert "Guess the same class for every row" in run("--help")[1]
    code, out, err = run("guess", "digits", "--out", "made")
    assert code == 0
    assert "Always guessing 3 is wrong in 89.8% of the rows." in out
    assert "Set --rank 2 for the next." in out
    assert err.splitlines()[1:] == [
        "Forecast: less than 0.1 seconds.",
        "counting classes",
        "writing the report",
    ]
    assert {path.name for path in Path("made").iterdir()} == {
        *("report.html", "result.json", "config.json", "guess.txt")
    }
    assert json.loads(Path("made/config.json").read_text())["rank"] == 1
    code, _, err = run("guess", "digits", "--rank", "11")
    assert code == 2
    assert "--rank is 11, and there are 10 classes" in err
    assert run("guess", "digits", "--rank", "0")[0] == 2


def test_a_gram_operator(toy, binary, generator):
    module = toy("gram.py")
    made = []

    def make(kernel, X, dtype):
        made.append(module.CountedGram(kernel, X, dtype))
        return made[-1]

    dense, counted = widenet.run_audit(binary), widenet.run_audit(binary, make_gram=make)
    assert made[0].num_products > 0
    assert math.isclose(counted.complexity.value, dense.complexity.value, rel_tol=1e-6)
    assert abs(counted.loo.error / dense.loo.error - 1) < 0.25
    rows = torch.arange(0, binary.n, 2)
    part = made[0].part(rows)
    v = torch.randn(len(rows), 2, generator=generator, dtype=torch.float64)
    H = widenet.gram_matrix(made[0].kernel, binary.X)
    assert_close(part.matmul(v), H[rows][:, rows] @ v)
    assert lanczos(part, v, num_steps=4).num_steps == 4


def test_an_estimator(toy, monkeypatch, run):
    module = toy("estimator.py")
    check_estimator(module.TangentRidge(), on_fail="raise")
    monkeypatch.setitem(methods.METHODS, "tangent-ridge", module.tangent_ridge)
    rows = np.random.default_rng(0).normal(size=(80, 3))
    lines = [",".join(f"{value:.6f}" for value in (*row, np.sin(row).sum())) for row in rows]
    Path("table.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    code, out, err = run(
        "compare", "table.csv", "--methods", "tangent-ridge,ridge", "--folds", "3", "--json", "-q"
    )
    assert (code, err) == (0, "")
    found = {method["name"]: method for method in json.loads(out)["methods"]}
    assert found["tangent-ridge"]["error"] < found["ridge"]["error"]
