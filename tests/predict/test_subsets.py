"""Predictions of subsets against refitting without the judged row and its twins."""

import pytest
import torch

from widenet.kernels.names import kernel_by_name
from widenet.predict.subsets import subset_predictions, subset_sizes, unseen_predictions

H = kernel_by_name("relu2-hidden")


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_unseen_predictions_are_those_of_refitting_without_the_row_and_its_twins(ridge: float) -> None:
    place = torch.arange(30)
    place[[17, 8, 25]] = 3  # twins inside the subset, and one outside it
    place[29] = 11
    place[28] = 27  # twins of which none is fitted
    X = torch.randn(30, 5, generator=seeded(), dtype=torch.float64)[place]
    X = X / X.norm(dim=1, keepdim=True)
    Y = torch.randn(30, 2, generator=seeded(5), dtype=torch.float64)
    K, subset = H.tile(X, X), torch.tensor([3, 17, 0, 8, 11, 5, 19, 2])
    predictions = unseen_predictions(K[:20], Y, place, subset, ridge)
    for i in range(30):
        others = subset[place[subset] != place[i]]
        A = K[others][:, others] + ridge * torch.eye(len(others), dtype=K.dtype)
        refitted = K[i, others] @ torch.linalg.lstsq(A, Y[others], driver="gelsd").solution
        torch.testing.assert_close(predictions[i], refitted, rtol=1e-6, atol=1e-7)


def test_subset_sizes() -> None:
    assert subset_sizes(449) == [449, 224, 112, 56, 28]
    assert subset_sizes(10) == [10]
    assert subset_sizes(60000) == [4096, 2048, 1024, 512, 256, 128, 64]


def test_what_is_predicted_for_whom() -> None:
    X = torch.randn(200, 3, generator=seeded(), dtype=torch.float64)
    X = X / X.norm(dim=1, keepdim=True)
    Y, place = X[:, :1].sign(), torch.arange(200)
    rows, predictions = subset_predictions(H, X, Y, place, 0.1, generator=seeded(), anchor=None)
    assert sorted(rows.tolist()) == list(range(200))
    assert {size: P.shape for size, P in predictions.items()} == {
        200: (1, 200, 1),
        100: (4, 200, 1),
        50: (8, 200, 1),
        25: (16, 200, 1),
    }
    _, anchored = subset_predictions(H, X, Y, place, 0.1, generator=seeded(), anchor=2 * Y)
    torch.testing.assert_close(anchored[200][0], 2 * Y[rows])
    torch.testing.assert_close(anchored[50], predictions[50])
