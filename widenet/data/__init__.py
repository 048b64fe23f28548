"""Data: a name or a file becomes a `Dataset`; concept classes become samples."""

from widenet.data.builtin import Description, builtin_names, describe
from widenet.data.concept_names import is_concept
from widenet.data.concepts import (
    Concept,
    GeneralSums,
    GeneralThreeLayerTarget,
    Parities,
    ResidualTarget,
    RidgeSums,
    Target,
    ThreeLayerTarget,
    TwoLayerTarget,
)
from widenet.data.dataset import Dataset
from widenet.data.duplicates import Duplicates, find_duplicates
from widenet.data.inputs import Cube, Inputs, Product, Sphere
from widenet.data.leaks import Leak, LeakKind
from widenet.data.loading import file_hash, held_out, load
from widenet.data.noise import flip_labels, redraw_labels, subset, with_labels
from widenet.data.paper_concepts import parity6, resnet_cube, resnet_hard, three_sines, three_tanhs
from widenet.data.prepare import Preparation
from widenet.data.targets import TargetScale, Task

__all__ = [
    "Concept",
    "Cube",
    "Dataset",
    "Description",
    "Duplicates",
    "GeneralSums",
    "GeneralThreeLayerTarget",
    "Inputs",
    "Leak",
    "LeakKind",
    "Parities",
    "Preparation",
    "Product",
    "ResidualTarget",
    "RidgeSums",
    "Sphere",
    "Target",
    "TargetScale",
    "Task",
    "ThreeLayerTarget",
    "TwoLayerTarget",
    "builtin_names",
    "describe",
    "file_hash",
    "find_duplicates",
    "flip_labels",
    "held_out",
    "is_concept",
    "load",
    "parity6",
    "redraw_labels",
    "resnet_cube",
    "resnet_hard",
    "subset",
    "three_sines",
    "three_tanhs",
    "with_labels",
]
