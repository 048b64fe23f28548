"""Theory: data or a target to complexities and bounds, one folder a paper; every theorem by name."""

from widenet.theory.entry import Argument, Entry
from widenet.theory.names import entry_by_name, quantity_groups
from widenet.theory.quantity import Citation, Constant, Quantity

__all__ = ["Argument", "Citation", "Constant", "Entry", "Quantity", "entry_by_name", "quantity_groups"]
