"""The symbols of `mild-memorisation`."""

from widenet.theory.entry import Argument
from widenet.theory.stated import Paper

MILD_MEMORISATION = Paper(
    "mild-memorisation",
    "memorisation",
    {
        "n": Argument("number of samples", low=1),
        "d": Argument("dimension of the inputs", low=1),
        "r": Argument("number of neurons", low=1),
        "k": Argument("number of random neurons", low=1),
        "p": Argument("power of the random layer", low=1, high=50),
        "B": Argument("largest norm of an input", low=0.0, strict=True),
        "Y": Argument("largest absolute label", low=0.0),
        "v": Argument("variance of the noise on each coordinate", low=0.0, strict=True),
        "sigma": Argument("smallest singular value of [x^{⊗2}]", low=0.0, strict=True),
        "largest": Argument("spectral norm of M", low=0.0),
        "gamma": Argument("weight of the regulariser", low=0.0),
        "ball": Argument("bound Γ on ‖W‖²", low=0.0, strict=True),
        "f0": Argument("loss at the start, Σy²/(4n)", low=0.0),
        "epsilon": Argument("loss to reach", low=0.0, strict=True),
        "delta": Argument("failure probability", low=0.0, high=1.0, strict=True),
        "dimension": Argument("number of trained parameters", low=1),
        "ell": Argument("smoothness of the loss", low=0.0, strict=True),
        "rho": Argument("Lipschitz constant of its Hessian", low=0.0, strict=True),
        "delta_f": Argument("bound on how far the loss can fall", low=0.0, strict=True),
        "c": Argument(
            "constant c of Algorithm 1, ours",
            low=0.0,
            high=1.0,
            strict=True,
            hidden="of Algorithm 1; c ≤ c_max, an absolute constant without a value",
        ),
    },
)
TENSOR_SIGMA = Argument("smallest singular value of [x^{⊗2p}]", low=0.0, strict=True)
