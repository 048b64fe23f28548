"""A data set: a table that is inside scikit-learn."""

from sklearn.datasets import load_wine

from widenet.data.builtin import Builtin
from widenet.data.tables import Table


def read_wine() -> Table:
    """Chemical measurements of 178 wines, and the cultivar of each."""
    frame = load_wine(as_frame=True).frame
    cultivar = frame.pop("target").map({0: "barolo", 1: "grignolino", 2: "barbera"})
    return Table(frame, cultivar, ())


WINE = Builtin(
    description="Thirteen measurements of 178 wines from three cultivars.",
    source="S. Aeberhard, M. Forina, Wine, UCI; the copy in scikit-learn",
    train=read_wine,
)
