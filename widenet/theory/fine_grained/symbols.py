"""The symbols of `fine-grained`; constants that it hides in O and Ω are arguments, 1 by default."""

from widenet.theory.entry import Argument
from widenet.theory.stated import Paper

HIDDEN = {
    "C": "before every error term",
    "C_m": "in the width, m = Ω(…)",
    "C_eta": "in the step, η = O(…)",
    "C_kappa": "in the initialisation, κ = O(…)",
    "C_k": "in the steps, k = Ω(…)",
}
FINE_GRAINED = Paper(
    "fine-grained",
    "fine-grained",
    {
        "n": Argument("number of samples", low=1),
        "m": Argument("number of hidden neurons", low=1.0),
        "floor": Argument("smallest eigenvalue λ₀ of H∞, or a number below it", low=0.0, strict=True),
        "eigenvalues": Argument("eigenvalues of H∞", low=0.0, strict=True),
        "projections": Argument("labels' projections v_iᵀy on the eigenvectors"),
        "quadratic": Argument("value of yᵀH∞⁻¹y", low=0.0),
        "eta": Argument("step η of gradient descent on ½‖y − u‖²", low=0.0, strict=True),
        "kappa": Argument("standard deviation κ of the initial weights", low=0.0, strict=True),
        "steps": Argument("number of steps", low=0),
        "epsilon": Argument("accuracy to reach", low=0.0, strict=True),
        "delta": Argument("failure probability", low=0.0, high=1.0, strict=True),
        "residual": Argument("initial residual ‖y − u(0)‖", low=0.0),
        "R": Argument("distance that a neuron may move", low=0.0, strict=True),
        "B": Argument("distance that all weights may move", low=0.0, strict=True),
        "rademacher": Argument("empirical Rademacher complexity of the class", low=0.0),
        "c": Argument("largest loss", low=0.0, strict=True),
        "rho": Argument("Lipschitz constant of the loss", low=0.0, strict=True),
        **{
            symbol: Argument(
                f"constant {symbol} that the paper hides, {where}", low=0.0, strict=True, hidden=where
            )
            for symbol, where in HIDDEN.items()
        },
    },
)
