"""What the training of one network depends on, besides the network and the data."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from widenet.base.errors import InputError
from widenet.networks.initialise import Initialisation
from widenet.training.losses import LOSSES, LossName

OptimiserName = Literal["sgd", "adam"]
Sampling = Literal["epochs", "replacement"]


@dataclass(frozen=True)
class TrainingSettings:
    """One setting of a sweep; the defaults are those of [resnet-beyond-kernels, section 8.1].

    Attributes:
        rate: η, the step size; of W alone where `rate_v` is given.
        rate_v: η_v, the step size of the second hidden layer; None for `rate`.
        decay: Weight decay: this multiple of the weights joins the gradient.
        decay_two_four: λ of the penalty λ‖W‖_{2,4}⁴ = λ Σ_i ‖w_i‖⁴ on the first layer [beyond-two-layers,
            section 7.1], whose gradient 4λ‖w_i‖² w_i joins that of row i. The w_i are rows of weights; biases
            are no part of the penalty, as in (4.2).
        momentum: μ of SGD; ignored by Adam.
        batch: Rows of one step; None for all of them.
        epochs: Passes over as many rows as there are.
        drops: Shares of the epochs after which the rate falls tenfold.
        loss: What is minimised, averaged over the rows of a step.
        optimiser: SGD with momentum, or Adam with its usual constants.
        sampling: `epochs` takes the rows in a fresh order in every epoch; `replacement` draws each row anew.
        initialisation: Where training starts.
        seed: Seed of the initial weights and of the order of the rows.
    """

    rate: float = 0.1
    rate_v: float | None = None
    decay: float = 0.0
    decay_two_four: float = 0.0
    momentum: float = 0.9
    batch: int | None = 50
    epochs: int = 800
    drops: tuple[float, ...] = (0.5,)
    loss: LossName = "squared"
    optimiser: OptimiserName = "sgd"
    sampling: Sampling = "epochs"
    initialisation: Initialisation = field(default_factory=Initialisation)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rate", "rate_v", "decay", "decay_two_four"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InputError(f"{name} must be finite and not negative, not {value:g}.")
        if not 0 <= self.momentum < 1:
            raise InputError(f"momentum must be at least 0 and below 1, not {self.momentum:g}.")
        if self.batch is not None and self.batch < 1:
            raise InputError(f"batch must be positive, not {self.batch}.")
        if self.epochs < 1:
            raise InputError(f"epochs must be positive, not {self.epochs}.")
        if not all(0 < share < 1 for share in self.drops):
            raise InputError(f"drops are shares of the epochs between 0 and 1, not {self.drops}.")
        for name, known in (("loss", LOSSES), ("optimiser", ("sgd", "adam")), ("sampling", SAMPLINGS)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}.")

    def rate_factor(self, epoch: int) -> float:
        """What is left of the rate in this epoch, counted from 0."""
        return 0.1 ** sum(epoch >= share * self.epochs for share in self.drops)

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TrainingSettings":
        """The inverse of `to_dict`."""
        initialisation = Initialisation(**values["initialisation"])
        return cls(**{**values, "drops": tuple(values["drops"]), "initialisation": initialisation})


SAMPLINGS: tuple[Sampling, ...] = ("epochs", "replacement")
