import numpy as np
import pytest
import torch

from widenet.runs import Trial, data_hash
from widenet.runs.records import pack_json, unpack_json


def test_the_key_does_not_depend_on_the_order_of_settings():
    assert Trial({"a": 1, "b": [2]}, "1", "d").key == Trial({"b": (2,), "a": 1}, "1", "d").key
    assert len(Trial({}, "", "").key) == 64


def test_the_parts_of_a_trial_cannot_be_shifted_into_each_other():
    assert Trial({}, "1", "2").key != Trial({}, "12", "").key


def test_json_is_strict_and_gives_floats_back():
    values = [float("nan"), float("-inf"), 5e-324, 0.1 + 0.2, -0.0]
    text = pack_json({"values": values})
    assert "NaN" not in text
    assert "Infinity" not in text
    assert str(unpack_json(text)["values"]) == str(values)


@pytest.mark.parametrize("value", [{"$float": "nan"}, {1: 2}, {"x": np.ones(1)}, {"x": {3}}])
def test_what_would_not_come_back_is_refused(value):
    with pytest.raises(TypeError):
        pack_json(value)


def test_data_hash_sees_values_shapes_dtypes_and_order():
    X, Y = np.arange(6.0).reshape(2, 3), np.ones(2)
    different = [(X, Y), (Y, X), (X.T, Y), (X.reshape(3, 2), Y), (X.astype(np.float32), Y), (X + 1e-9, Y)]
    assert len({data_hash(*arrays) for arrays in different}) == len(different)
    assert data_hash(X) == data_hash(torch.from_numpy(X)) == data_hash(X.T.copy().T)
