"""The symbols of `resnet-beyond-kernels`, for targets H = F + αG(F) and for its class (7.1) of hard ones.

p_F, C_F = C_s(F) and p_G, C_G = C_s(G) are the numbers of terms and the complexities of F and G. Factors that
the paper hides in O, Θ and polylog(m) are arguments of their own, 1 by default, and shown as such.
"""

from widenet.theory.entry import Argument
from widenet.theory.stated import Paper

LARGEST_SIZE = 10**6
RESNET = Paper(
    "resnet-beyond-kernels",
    "resnet",
    {
        "k": Argument("number of outputs", low=1),
        "p_F": Argument("number of terms of each output of F", low=1),
        "C_F": Argument("complexity C_s(F), as c-s gives it", low=0.0, strict=True),
        "p_G": Argument("number of terms of each output of G", low=1),
        "C_G": Argument("complexity C_s(G), as c-s gives it", low=0.0, strict=True),
        "alpha": Argument("weight α of G(F)", low=0.0, strict=True),
        "delta": Argument("risk δ to be reached", low=0.0, strict=True),
        "OPT": Argument("risk of the target itself, E ½‖H(x) − y‖²", low=0.0),
        "B_F": Argument("bound on ‖F(x)‖", low=0.0),
        "m": Argument("number of neurons of a hidden layer", low=2.0),
        "sigma_w": Argument("standard deviation σ_w of W0, 0 for the middle of its range", low=0.0),
        "sigma_v": Argument("σ_v, √m times the standard deviation of V0, 0 for the middle", low=0.0),
    },
)
HARD_CLASS = Paper(
    RESNET.id,
    RESNET.prefix,
    {
        "d": Argument("number of coordinates of x", low=2, high=LARGEST_SIZE),
        "d1": Argument("number of coordinates that may carry the signal", low=2, high=LARGEST_SIZE),
        "k": Argument("number of outputs", low=2, high=LARGEST_SIZE),
        "N": Argument("number of samples", low=1),
        "D": Argument("number of features", low=1),
        "alpha": Argument("weight α of G(F)", low=0.0, high=1.0, strict=True),
    },
)
