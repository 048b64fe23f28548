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
        "m1": Argument("number of neurons of the first hidden layer", low=1.0),
        "m2": Argument("number of neurons of the second hidden layer", low=1.0),
        "N": Argument("number of samples", low=1),
        "tau_w": Argument("bound τ_w on ‖W'‖_{2,4}", low=0.0),
        "tau_v": Argument("bound τ_v on ‖V'‖_F", low=0.0),
        "tau_w_max": Argument("bound τ_{w,∞} on the largest row of W''", low=0.0),
        "tau_v_max": Argument("bound τ_{v,∞} on the largest row of V''", low=0.0),
        "sigma_w": Argument("standard deviation σ_w of the noise on W", low=0.0, strict=True),
        "sigma_v": Argument("standard deviation σ_v of the noise on V", low=0.0, strict=True),
        "c_star": Argument("constant C* of the complexities", low=0.0, strict=True),
        "degree": Argument(
            "degree of the Taylor polynomial to use in place of φ, 0 for φ itself", low=0, high=10_000
        ),
    },
)
