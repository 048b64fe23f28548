"""Problems to weights: descent as the paper proves it, its experiments' recipe, and linear algebra."""

from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.direct import Direct
from widenet.memorise.methods.method import Method, State
from widenet.memorise.methods.pgd import PerturbedDescent, TheoremDescent

__all__ = ["AdamRecipe", "Direct", "Method", "PerturbedDescent", "State", "TheoremDescent"]
