"""Data sets know how they were loaded, as long as they are what was loaded."""

import hashlib
from dataclasses import asdict

import torch

from widenet.data import load, subset, with_labels
from widenet.data.origin import Origin


def test_a_file_is_known_by_its_arguments_and_every_bit(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y,z\n1,2,u,0\n3,,v,0\n5,7,u,1\n")
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    dataset = load(str(path), target="y", drop=["z"])
    assert dataset.origin == Origin(str(path), "y", "standard", drop=("z",), file_sha256=expected)
    again = asdict(dataset.origin)
    del again["file_sha256"]
    assert torch.equal(load(**again).X, dataset.X)
    path.write_text("")  # the hash is that of what was read
    assert dataset.origin.file_sha256 == expected


def test_a_name_has_no_file():
    assert load("digits").origin == Origin("digits", None, "unit")
    concept = "resnet-cube:n=20,d=10,seed=1"
    assert load(concept, prepare="unit").origin == Origin(concept, None, "unit")
    assert load(concept).origin.prepare == "raw"


def test_other_rows_or_labels_came_from_nowhere():
    digits = load("digits")
    assert subset(digits, torch.arange(5)).origin is None
    assert with_labels(digits, digits.labels.flip(0)).origin is None
