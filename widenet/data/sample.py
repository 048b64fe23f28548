"""Some of the rows, where a study does not need all of them or cannot take them."""

from dataclasses import replace

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.dataset import Dataset
from widenet.data.noise import subset


def some_rows(dataset: Dataset, num_rows: int, *, seed: int, order: Tensor | None = None) -> Dataset:
    """At most so many rows, drawn with every class in its share, in their order; a note says so.

    Args:
        dataset: All rows.
        num_rows: How many to draw at most.
        seed: Of the draw.
        order: Indices of the rows (n,) in an order that does not depend on how a file is sorted, so that the
            draw does not, either; by default their own.
    """
    if dataset.n <= num_rows:
        return dataset
    note = f"{num_rows:,} of {dataset.n:,} rows were drawn; `rows` sets how many."
    part = subset(dataset, drawn_rows(dataset, num_rows, seed=seed, order=order))
    if part.labels is None and bool((part.Y[0] == part.Y).all()):
        raise InputError(
            f"All {num_rows:,} rows that were drawn have the same target, so there is nothing to learn: draw "
            "more `rows`."
        )
    return replace(part, provenance=(*dataset.provenance, note), drawn_from=dataset.n)


def drawn_rows(dataset: Dataset, num_rows: int, *, seed: int, order: Tensor | None = None) -> Tensor:
    """At most so many rows drawn at random, by index and in their order, with every class in its share.

    Where class c has n_c rows and its rows stand in a random order, the rth of them (from 0) is drawn at time
    r/n_c: so at any time as large a share of each class has been drawn, rounded up.
    """
    drawn = torch.randperm(dataset.n, generator=torch.Generator().manual_seed(seed))
    if order is not None:
        drawn = order[drawn]
    if dataset.labels is not None:
        labels = dataset.labels[drawn]
        times = torch.empty(dataset.n, dtype=torch.float64)
        for c in labels.unique():
            rows = (labels == c).nonzero()[:, 0]
            times[rows] = torch.arange(len(rows), dtype=times.dtype) / len(rows)
        drawn = drawn[times.argsort(stable=True)]
    return drawn[:num_rows].sort().values
