"""The symbols of `beyond-two-layers`.

Factors that the paper hides in O, Ω, Θ and poly are arguments of their own, 1 by default, and shown as such.
"""

from widenet.theory.entry import Argument
from widenet.theory.stated import Paper

BEYOND_TWO_LAYERS = Paper(
    "beyond-two-layers",
    "beyond",
    {
        "phi": Argument("inner function φ: a formula in z (sin(3*z)) or coefficients (0,1,-1/2)"),
        "Phi": Argument("outer function Φ, a formula in z such as (z-2)**2"),
        "k": Argument("number of outputs", low=1),
        "p": Argument("number of terms of the target", low=1),
        "p1": Argument("number of products in each output of the target", low=1),
        "p2": Argument("number of inner functions", low=1),
        "epsilon": Argument("excess risk ε", low=0.0, strict=True),
        "epsilon0": Argument("excess risk ε0", low=0.0, high=0.01),
        "m": Argument("number of neurons of a hidden layer", low=1.0),
        "c_star": Argument("constant C* of the complexities", low=0.0, strict=True),
        "degree": Argument(
            "degree of the Taylor polynomial to use in place of φ, 0 for φ itself", low=0, high=10_000
        ),
    },
)
