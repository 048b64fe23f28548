"""A table in which some labels are wrong, and how many of them an audit finds.

    python examples/flipped_labels.py write flipped.csv
    widenet audit flipped.csv --target diagnosis --out flipped
    python examples/flipped_labels.py judge flipped/labels.csv

The table is scikit-learn's breast cancer data, 569 rows of 30 measurements; 28 labels (5%) are flipped.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

SHARE, SEED = 0.05, 0


def flipped_rows(n: int) -> np.ndarray:
    """Indices of the rows whose labels are flipped, the same at every call."""
    return np.random.default_rng(SEED).choice(n, size=int(SHARE * n), replace=False)


def write(path: Path) -> None:
    """Write the table with its flipped labels."""
    data = load_breast_cancer(as_frame=True)
    labels = data.target.to_numpy().copy()
    rows = flipped_rows(len(labels))
    labels[rows] = 1 - labels[rows]
    data.data.assign(diagnosis=data.target_names[labels]).to_csv(path, index=False)
    print(f"{path}: {len(labels)} rows, {len(rows)} labels flipped")


def judge(path: Path) -> None:
    """Say how many of the rows that an audit suspects most were flipped."""
    ranking = pd.read_csv(path)
    wrong = set(flipped_rows(len(ranking)) + 1)  # rows are counted from 1
    found = wrong.intersection(ranking["row"].head(len(wrong)))
    print(f"{len(found)} of the {len(wrong)} most suspicious rows are flipped ones.")


if __name__ == "__main__":
    {"write": write, "judge": judge}[sys.argv[1]](Path(sys.argv[2]))
