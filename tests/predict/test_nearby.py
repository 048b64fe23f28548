"""What a few rows tell of A⁻¹, against the inverse over these rows."""

import pytest
import torch
from torch.testing import assert_close

from widenet.data import load
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict import nearby
from widenet.predict.nearby import nearby_precision, surroundings
from widenet.testing import rows_that_nearly_meet, unit_rows

KERNEL = kernel_by_name("relu2-hidden")


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(nearby, "NUM_LANDMARKS", 7)
    monkeypatch.setattr(nearby, "NUM_NEAR", 3)
    monkeypatch.setattr(nearby, "TOGETHER", 5)


def system(X, counts, ridge, kernel=KERNEL):
    root = counts.sqrt()
    return root[:, None] * gram_matrix(kernel, X) * root + ridge * torch.eye(len(X), dtype=X.dtype)


def told(X, counts, ridge, kernel=KERNEL):
    return nearby_precision(kernel, X, counts, ridge, surroundings(X))


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.usefixtures("few")
def test_it_is_the_inverse_over_landmarks_and_near_rows(ridge, generator):
    n = 40
    X = unit_rows(n, 4, generator=generator)
    counts = torch.randint(1, 4, (n,), generator=generator).double()
    A, found, around = system(X, counts, ridge), told(X, counts, ridge), surroundings(X)
    assert len(around.landmarks) == 7
    for i in range(n):
        others = sorted({*around.landmarks.tolist(), *around.near[i].tolist()} - {i})
        used = torch.tensor([i, *others])
        assert_close(found[i], torch.linalg.inv(A[used][:, used])[0, 0], rtol=1e-6, atol=0)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 60])
def test_it_is_below_the_inverse_of_all_rows(n, generator):
    X = unit_rows(n, 3, generator=generator)
    counts = torch.ones(n, dtype=torch.float64)
    found, A = told(X, counts, 0.1), system(X, counts, 0.1)
    assert (found <= torch.linalg.inv(A).diagonal() * (1 + 1e-9)).all()
    assert (found >= 1 / A.diagonal() * (1 - 1e-8)).all()


@pytest.mark.parametrize("name", ["polynomial:degree=100,offset=1", "gaussian:h=0.1"])
def test_it_is_exact_where_rows_tell_nothing_of_others(name, generator):
    """Whatever the size of kernel values."""
    X, kernel = unit_rows(60, 30, generator=generator), kernel_by_name(name)
    counts = torch.ones(60, dtype=torch.float64)
    found, A = told(X, counts, 0.0, kernel), system(X, counts, 0.0, kernel)
    assert_close(found, torch.linalg.inv(A).diagonal(), rtol=1e-6, atol=0)


def test_rows_that_nearly_coincide_leave_it_finite(generator):
    X = rows_that_nearly_meet(30, 5, 1e-7, generator=generator)
    found = told(X, torch.ones(len(X), dtype=torch.float64), 0.0)
    assert found.isfinite().all()
    assert (found > 0).all()


@pytest.mark.parametrize("n", [50, 777])
def test_near_rows_are_neither_itself_nor_landmarks(n, generator):
    X = unit_rows(n, 3, generator=generator)
    around = surroundings(X)
    assert torch.equal(around.order.sort().values, torch.arange(n))
    cells = torch.cdist(X, X[around.landmarks]).argmin(1)[around.order]
    assert int((cells.diff() != 0).sum()) == len(cells.unique()) - 1  # each in one piece
    distances = torch.cdist(X, X).fill_diagonal_(torch.inf)
    distances[:, around.landmarks] = torch.inf
    nearest = distances.topk(nearby.NUM_NEAR, largest=False).indices
    assert torch.equal(around.near.sort(1).values, nearest.sort(1).values)


def test_on_images_the_factor_depends_little_on_the_row():
    """What is left after a quadratic fit, which probes of many rows determine."""
    X = load("digits").X[:1200]
    counts = torch.ones(len(X), dtype=torch.float64)
    found, C = told(X, counts, 0.0), torch.linalg.inv(system(X, counts, 0.0)).diagonal()
    log = found.log() - found.log().mean()
    terms = torch.stack([torch.ones_like(log), log, log**2], dim=1)
    fitted = (terms @ torch.linalg.pinv(terms) @ (C / found)[:, None])[:, 0]
    assert float(C.log().std()) > 0.2
    assert float((C / found / fitted).std()) < 0.08
