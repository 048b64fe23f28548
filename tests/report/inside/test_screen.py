import io

import numpy as np
import pytest
from rich.console import Console

from widenet.data import load
from widenet.inside.run import run_inside
from widenet.inside.settings import InsideSettings
from widenet.report.inside import screen


@pytest.fixture
def printed(tmp_path) -> str:
    X = np.random.default_rng(0).normal(size=(40, 10))
    path = tmp_path / "[bold]table.npz"
    np.savez(path, X=X, y=np.where(X[:, 0] > 0, "up", "down"))
    result = run_inside(load(str(path), prepare="unit"), InsideSettings(1000, eta=1e-3, kappa=1e-2))
    stream = io.StringIO()
    screen(result, Console(file=stream, width=120))
    return stream.getvalue()


def test_page_tells_verdict_measurements_and_theorems(printed):
    assert "[bold]table.npz, 40 rows, width 1,000" in printed
    assert "This network is inside" in printed
    assert "λ₀ = λ_min(H∞) = " in printed
    assert "fine-grained, Theorem 3.1: outside, short by a factor of" in printed
    assert "mild-memorisation, Theorem 4" in printed


def test_lines_fit_into_80_columns(printed):
    assert max(len(line) for line in printed.splitlines()) <= 80
