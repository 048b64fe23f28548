"""`widenet compare` as users meet it: output, exit codes, and one sentence for every wrong input."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import torch

from widenet.base import errors
from widenet.base.errors import WidenetError

SMALL = ("--methods", "relu2-bias-all,gaussian,ridge", "--folds", "3", "--repeats", "1")


@pytest.fixture(autouse=True)
def one_thread():
    """Fits one after the other, so that an interruption always finds as many done."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)


@pytest.fixture
def table(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    lines = [f"{a:.6f},{b:.6f},{'up' if a + b > 0 else 'down'}" for a, b in rows]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n")
    return path


def test_compare_writes_the_folder_and_prints_a_screenful(widenet, table):
    code, out, err = widenet("compare", "table.csv", "--target", "y", *SMALL)
    assert code == 0
    assert "relu2-bias-all" in out
    assert "report.html" in out
    assert max(map(len, out.splitlines())) <= 80
    folder = Path("widenet-compare-table")
    assert {path.name for path in folder.iterdir()} == {
        "report.html",
        "result.json",
        "table.csv",
        "config.json",
    }
    config = json.loads((folder / "config.json").read_text())
    assert config["folds"] == 3
    assert config["prepare"] == "standard"
    assert sorted(config["methods"]) == ["gaussian", "relu2-bias-all", "ridge"]
    assert config["epochs"] == 400
    assert "Traceback" not in err


def test_json_goes_to_stdout_alone(widenet, table):
    code, out, err = widenet("compare", "table.csv", "--json", "-q", *SMALL)
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["schema"] == "widenet/compare/1"
    assert {"methods", "best", "significance", "seconds", "data", "version", "verdict"} <= set(record)
    assert isinstance(record["forecast"], float)
    assert record["significance"]["test"].startswith("Corrected resampled t-test")
    assert set(record["methods"][0]) >= {"name", "family", "error", "std", "rank", "seconds", "best"}
    assert {"balanced_error", "auc", "log_loss"} <= set(record["methods"][0]) & set(record["constant"])
    assert set(record["importances"]) == {"method", "shuffles", "features", "not_measured"}
    assert {each["feature"] for each in record["importances"]["features"]} == {"a", "b"}
    assert {"finding", "division_error"} <= set(record["significance"]["against_kernels"][0])


def test_messages_are_plain_and_seldom_off_a_terminal(widenet, table):
    err = widenet("compare", "table.csv", *SMALL)[2]
    reading, *told, writing = err.splitlines()
    assert reading == "reading table.csv"
    assert told[:2] == ["forecasts: 0 of 3 (0%)", "forecasts: 3 of 3 (100%)"]
    assert told[2].startswith("Forecast: ")
    trials, importances = ["trials: 0 of 9 (0%)", "trials: 9 of 9 (100%)"], ["trials: 12 of 12 (100%)"]
    assert told[3:] == trials + importances
    assert writing == "writing the report"


def test_a_number_as_target(widenet, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    lines = [f"{a:.6f},{b:.6f},{a * b:.6f}" for a, b in rows]
    (tmp_path / "numbers.csv").write_text("\n".join(["a,b,price", *lines]) + "\n")
    code, out, _ = widenet("compare", "numbers.csv", "--json", *SMALL)
    assert code == 0
    assert json.loads(out)["protocol"]["measure"] == "squared error"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--methods", "gausian"], "gaussian"),
        (["--methods", "svm"], "3resnet-hidden"),
        (["--methods", "relu2-all"], "'relu2-bias-all'"),
        (["--width", "-5"], "--width"),
        (["--epochs", "0"], "--epochs"),
        (["--folds", "1"], "--folds"),
        (["--folds", "50"], "fewer --folds"),
        (["--rows", "3"], "more rows"),
        (["--target", "z"], "'y'"),
    ],
)
def test_wrong_options(widenet, table, tmp_path, arguments, word):
    code, out, err = widenet("compare", "table.csv", "-q", *arguments)
    assert code == 2
    assert out == ""
    assert word in err
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv"}


def test_a_class_too_small_for_the_folds(widenet, table):
    table.write_text(table.read_text() + "1,1,rare\n2,2,rare\n")
    code, _, err = widenet("compare", "table.csv", "-q")
    assert code == 2
    assert "'rare'" in err
    assert len(err.strip().splitlines()) == 1


def test_beyond_an_hour_yes_is_asked_for(widenet, table, monkeypatch):
    monkeypatch.setattr("widenet.compare.kernels.KernelMethod.forecast", lambda self, training: 1e5)
    code, _, err = widenet("compare", "table.csv", "-q", *SMALL)
    assert code == 2
    assert "--yes" in err
    assert widenet("compare", "table.csv", "-q", "--yes", *SMALL)[0] == 0


def test_an_existing_folder_is_kept_without_force(widenet, table):
    assert widenet("compare", "table.csv", "--out", "o", *SMALL)[0] == 0
    code, _, err = widenet("compare", "table.csv", "--out", "o", *SMALL)
    assert code == 2
    assert "--force" in err
    assert widenet("compare", "table.csv", "--out", "o", "--force", *SMALL)[0] == 0


def test_failed_fits_exit_with_3(widenet, table, monkeypatch):
    def fail(*_arguments: object, **_options: object) -> None:
        raise WidenetError("it went wrong")

    monkeypatch.setattr("widenet.compare.baselines.RidgeMethod.fit", fail)
    code, out, _ = widenet("compare", "table.csv", *SMALL)
    assert code == 3
    assert "failed" in out


def test_interruption_leaves_nothing_and_exits_130(widenet, table, monkeypatch, tmp_path):
    def interrupt(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("widenet.compare.run.run_compare", interrupt)
    assert widenet("compare", "table.csv", *SMALL)[0] == 130
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv"}


def test_an_interrupted_comparison_goes_on_from_its_store(widenet, table, monkeypatch):
    from widenet.compare import trials

    run_trial, fitted = trials.run_trial, []

    def counting(method, fold):
        if len(fitted) == 4:
            fitted.append("interrupted")
            raise KeyboardInterrupt
        fitted.append(method.name)
        return run_trial(method, fold)

    monkeypatch.setattr(trials, "run_trial", counting)
    options = ("--store", "fits.db", "--json", "-q", *SMALL)
    assert widenet("compare", "table.csv", *options)[0] == 130
    assert not Path("widenet-compare-table").exists()
    code, out, _ = widenet("compare", "table.csv", *options)
    assert code == 0
    assert len(fitted) == 3 * 3 + 1
    assert Path("fits.db").exists()
    whole = json.loads(widenet("compare", "table.csv", "--json", "-q", "--out", "other", *SMALL)[1])
    errors = {method["name"]: method["errors"] for method in json.loads(out)["methods"]}
    assert errors == {method["name"]: method["errors"] for method in whole["methods"]}


def test_without_a_store_it_goes_on_from_one_beside_the_folder(widenet, table, monkeypatch, tmp_path):
    from widenet.compare import trials

    run_trial, fitted = trials.run_trial, []

    def interrupted_once(method, fold):
        fitted.append(method.name)
        if len(fitted) == 5:
            raise KeyboardInterrupt
        return run_trial(method, fold)

    monkeypatch.setattr(trials, "run_trial", interrupted_once)
    code, _, err = widenet("compare", "table.csv", *SMALL)
    assert code == 130
    assert "widenet-compare-table.store: the same command resumes from there" in err
    assert {path.name for path in tmp_path.iterdir()} >= {"table.csv", "widenet-compare-table.store"}
    code, _, err = widenet("compare", "table.csv", *SMALL)
    assert code == 0
    assert "trials: 4 of 9" in err
    assert len(fitted) == 3 * 3 + 1
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv", "widenet-compare-table"}


def _num_stored(store: Path) -> int:
    if not store.exists():
        return 0
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True, timeout=60)) as connection:
        try:
            return connection.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:  # it has no tables yet
            return 0


@pytest.mark.slow
def test_a_killed_comparison_goes_on(widenet, table, tmp_path):
    """Killed by the system, without a chance to tidy up, and begun again by the same command."""
    methods = ("--methods", "2layer-all,gaussian,ridge", "--folds", "3", "--epochs", "300")
    store, home = tmp_path / "widenet-compare-table.store", str(Path(errors.__file__).parents[2])
    killed = subprocess.Popen(
        [sys.executable, "-m", "widenet", "compare", "table.csv", *methods, "-q"],
        env=os.environ | {"PYTHONPATH": home},
    )
    while _num_stored(store) < 2:
        assert killed.poll() is None, "it was done before it could be killed"
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    done = _num_stored(store)
    code, _, err = widenet("compare", "table.csv", *methods)
    assert code == 0
    assert f"trials: {done} of " in err
    assert not store.exists()


def test_another_seed_is_not_mixed_with_stored_fits(widenet, table):
    first = widenet("compare", "table.csv", "--store", "fits.db", "--json", "-q", *SMALL)[1]
    other = ("--store", "fits.db", "--seed", "1", "--force", "--json", "-q", *SMALL)
    second = widenet("compare", "table.csv", *other)[1]
    errors = [
        {method["name"]: method["errors"] for method in json.loads(out)["methods"]} for out in (first, second)
    ]
    assert errors[0] != errors[1]
