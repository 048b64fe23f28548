"""What the separation depends on."""

from dataclasses import dataclass

from widenet.base.errors import InputError
from widenet.base.wording import counted
from widenet.study.settings import Settings, seed_setting, setting
from widenet.theory.resnet_beyond_kernels.lower_bound import class_size

MOST_FUNCTIONS = 10**4
COMPARED = ("relu2-all", "relu3-all", "resnet3-all", "gaussian:h=2", "laplacian", "polynomial", "arcsin")
SIZES = (20, 30, 40, 50, 60, 80, 100, 120, 150, 180, 220, 260)


@dataclass(frozen=True)
class SeparationSettings(Settings):
    """What the separation depends on."""

    d1: int = setting(12, "Coordinates of the cube, all 2^d1 points of which are evaluated.", low=2, high=16)
    k: int = setting(3, "Coordinates that a function of the class depends on, and outputs.")
    alpha: float = setting(  # from where on α² stands out from the rounding errors of a projection
        0.5, "α of H = F + αG(F).", low=1e-3, high=1
    )
    sizes: tuple[int, ...] = setting(SIZES, "Numbers of samples, ascending.", low=1, metavar="N,N,...")
    kernels: tuple[str, ...] = setting(
        COMPARED,
        "Kernels, besides the one made for the class.",
        otherwise="none",
        metavar="NAME,NAME,...",
    )
    members: int = setting(5, "Functions to learn, each with samples of its own.", low=1, high=MOST_FUNCTIONS)
    tuning: int = setting(
        2, "Other functions, on which rate and decay are chosen.", low=1, high=MOST_FUNCTIONS
    )
    width: int = setting(200, "Neurons in each hidden layer.", low=1, high=2**16)
    epochs: int = setting(800, "Epochs of training.", low=1, high=10**6)
    batch: int = setting(20, "Rows in each step.", low=1, high=2**16)
    rates: tuple[float, ...] = setting(
        (0.2, 0.1, 0.05), "Step sizes to choose from.", low=0, metavar="RATE,RATE,..."
    )
    decays: tuple[float, ...] = setting(
        (0.001, 0.005, 0.01, 0.02), "Weight decays to choose from.", low=0, metavar="DECAY,DECAY,..."
    )
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_enough_functions()
        for name in ("sizes", "rates", "decays"):
            if not getattr(self, name):
                raise InputError(f"`{name}` is empty, but at least one is needed.")
        if list(self.sizes) != sorted(set(self.sizes)):
            raise InputError(f"`sizes` is {','.join(map(str, self.sizes))}, but must be ascending.")
        if self.sizes[-1] > 2**self.d1:
            raise InputError(
                f"`sizes` goes up to {self.sizes[-1]}, more than the {2**self.d1} points of the cube."
            )

    def _require_enough_functions(self) -> None:
        """What is measured must not have been tuned on, so all functions differ."""
        size = class_size(self.d1, self.k)
        if self.members + self.tuning > size:
            raise InputError(
                f"The class has {counted(size, 'function')} for `d1` = {self.d1} and `k` = {self.k}, fewer "
                f"than {self.members} to measure and {self.tuning} others to tune on: use fewer `members`, "
                "a larger `d1` or another `k`."
            )
