"""A few rows whose targets drown those of all the others."""

from dataclasses import dataclass

from widenet.data.dataset import Dataset

MOST = 0.5  # of the targets' variance
ROWS_PER_OUTLYING = 200  # at least so many rows for each that may outlie, but for the first
FEWEST_ROWS = 20  # of fewer, one may well have most of the variance without lying far off


@dataclass(frozen=True)
class Outlying:
    """Rows that have most of the variance of the targets between them.

    Attributes:
        rows: Their numbers (`Dataset.rows`), the farthest first; none where no few rows have that much.
        share: What they have of Σ_i ‖y_i − ȳ‖².
    """

    rows: tuple[int, ...] = ()
    share: float = 0.0


def find_outlying(dataset: Dataset) -> Outlying:
    """The fewest rows that have more than `MOST` of the variance, where they are few; none for classes.

    Squared errors are about such rows alone, whether they are wrong or the tail of a price.
    """
    if dataset.labels is not None or dataset.n < FEWEST_ROWS:
        return Outlying()
    squares = (dataset.Y - dataset.Y.mean(0)).square().sum(1)
    shares, order = (squares / squares.sum()).sort(descending=True, stable=True)
    most = max(1, dataset.n // ROWS_PER_OUTLYING)
    enough = (shares[:most].cumsum(0) > MOST).nonzero()
    if not len(enough):
        return Outlying()
    num = int(enough[0]) + 1
    return Outlying(tuple(dataset.rows[order[:num]].tolist()), float(shares[:num].sum()))
