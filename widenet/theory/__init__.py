"""Theory: data or a target to complexities and bounds, one folder a paper; every theorem by name in `names`.

`names` gathers all theorems of all papers, and stays out of here, so that one of them is quick to import.
"""

from widenet.theory.entry import Argument, Entry
from widenet.theory.quantity import Citation, Constant, Quantity

__all__ = ["Argument", "Citation", "Constant", "Entry", "Quantity"]
