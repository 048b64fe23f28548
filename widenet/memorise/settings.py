"""What memorising depends on, besides the data."""

from dataclasses import dataclass

from widenet.base.errors import InputError
from widenet.study.settings import Settings, device_setting, seed_setting, setting

METHODS = {  # by name: where the method stands
    "pgd": "widenet.memorise.methods.pgd:PerturbedDescent",
    "adam": "widenet.memorise.methods.adam:AdamRecipe",
    "direct": "widenet.memorise.methods.direct:Direct",
}
THEOREM = "widenet.memorise.methods.pgd:TheoremDescent"  # `pgd` with the numbers of Theorem 4
RANDOM_ROWS = ("equal", "gaussian")  # of the random layer: of norm √d each, ours, or N(0, I), the paper's
DEFAULT_METHOD = "direct"  # the only one that is certain to end at the global minimum


@dataclass(frozen=True)
class MemoriseSettings(Settings):
    """What memorising depends on, besides the data."""

    layers: int | None = setting(None, "Layers.", choices=(2, 3), otherwise="2 where that can fit, else 3")
    method: str = setting(
        DEFAULT_METHOD,
        "Perturbed descent in the style of Algorithm 1, the paper's Adam recipe, or linear algebra.",
        choices=tuple(METHODS),
    )
    width: int | None = setting(None, "Neurons to train.", low=2, high=2**20, metavar="R", otherwise="2k+2")
    perturb: float = setting(
        0.0,
        "Add Gaussian noise of this standard deviation to every coordinate.",
        low=0,
        high=1e6,
        metavar="STD",
    )
    random_rows: str = setting(
        RANDOM_ROWS[0],
        "Rows of the random layer of three layers: of norm √d each, or Gaussian as in the paper.",
        choices=RANDOM_ROWS,
    )
    theorem: bool = setting(
        False,
        "With method pgd: Algorithm 1 with the numbers of Theorem 4, up to c, which the paper leaves open.",
    )
    device: str = device_setting()
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layers == 2 and self.random_rows != RANDOM_ROWS[0]:
            raise InputError("Two layers have no random layer: leave out `random_rows`, or use `layers=3`.")
        if self.theorem and self.method != "pgd":
            raise InputError(
                "Theorem 4 is about perturbed gradient descent: use `theorem` with `method=pgd`."
            )
