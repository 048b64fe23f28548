import numpy as np
import pytest
import torch

from widenet.data import TargetScale, load, subset

HEIGHTS = np.random.default_rng(0).normal(170, 12, 40)


@pytest.fixture(params=["csv", "npz"])
def heights(request, tmp_path):
    path = tmp_path / f"heights.{request.param}"
    features = np.random.default_rng(1).normal(size=(40, 2))
    if request.param == "npz":
        np.savez(path, X=features, y=HEIGHTS)
    else:
        rows = (f"{a},{b},{y!r}" for (a, b), y in zip(features.tolist(), HEIGHTS.tolist(), strict=True))
        path.write_text("a,b,y\n" + "\n".join(rows))
    return load(str(path))


def test_standardised_targets_return_to_their_units(heights):
    np.testing.assert_allclose(heights.target_scale.in_units(heights.Y)[:, 0], HEIGHTS, rtol=1e-14)
    assert heights.target_scale.offset.shape == heights.target_scale.scale.shape == (1,)
    assert float(heights.target_scale.scale) == pytest.approx(HEIGHTS.std())


def test_a_subset_has_the_units_of_the_whole(heights):
    indices = torch.tensor([30, 3, 12])
    part = subset(heights, indices)
    np.testing.assert_allclose(part.target_scale.in_units(part.Y)[:, 0], HEIGHTS[indices], rtol=1e-14)
    assert [float(text) for text in part.given] == HEIGHTS[indices].tolist()


def test_classes_have_no_units():
    data = load("digits")
    assert torch.equal(data.target_scale.in_units(data.Y), data.Y)


def test_each_column_has_its_own_units():
    scale = TargetScale(torch.tensor([1.0, 10.0]), torch.tensor([2.0, 3.0]))
    assert scale.in_units(torch.tensor([[0.0, 0.0], [1.0, -1.0]])).tolist() == [[1.0, 10.0], [3.0, 7.0]]
