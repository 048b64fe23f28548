import torch

from widenet.networks.relu import pass_slopes, relu_


def test_relu_is_in_place_and_keeps_what_is_not_a_number() -> None:
    Z = torch.tensor([-2.0, -0.0, 0.0, 3.0, float("nan")])
    assert relu_(Z) is Z
    assert Z[:4].tolist() == [0, 0, 0, 3]
    assert Z[4].isnan()


def test_slopes_pass_where_the_neuron_was_active() -> None:
    slopes, values = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.0, 0.5, 4.0])
    assert pass_slopes(slopes, values) is slopes
    assert slopes.tolist() == [0, 2, 3]
