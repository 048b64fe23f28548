"""The network and its training that are held against the theorems."""

from dataclasses import dataclass

from widenet.study.settings import Settings, required, seed_setting, setting


@dataclass(frozen=True)
class InsideSettings(Settings):
    """A network and its training; None where something is left open."""

    width: int = required("Neurons m of the hidden layer.", low=1)
    eta: float | None = setting(
        None, "Step size η of gradient descent.", low=0, strict=True, otherwise="left open"
    )
    kappa: float | None = setting(
        None,
        "Standard deviation κ of the initial weights.",
        low=0,
        strict=True,
        otherwise="left open; widths are for the best one",
    )
    steps: int | None = setting(None, "Steps of training.", low=1, otherwise="left open")
    epsilon: float = setting(0.1, "Accuracy, loss or risk ε to reach.", low=0, strict=True)
    delta: float = setting(0.05, "Failure probability δ.", low=0, high=1, strict=True)
    seed: int = seed_setting()
