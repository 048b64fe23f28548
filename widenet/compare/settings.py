"""What a comparison depends on, besides the data."""

from dataclasses import dataclass

from widenet.study.settings import Settings, seed_setting, setting


@dataclass(frozen=True)
class CompareSettings(Settings):
    """What a comparison depends on, besides the data."""

    methods: tuple[str, ...] = setting(
        (),
        "Methods to compare, or the groups networks, kernels, baselines.",
        otherwise="all",
        metavar="A,B,...",
    )
    folds: int = setting(5, "Outer folds.", low=2, high=100)
    repeats: int = setting(1, "Number of divisions into folds.", low=1, high=100)
    width: int = setting(128, "Neurons in each hidden layer of the networks.", low=1, high=2**16)
    epochs: int | None = setting(
        None, "Epochs to train them for.", low=1, high=10**6, otherwise="by the rows"
    )
    rows: int = setting(2000, "Most rows to compare on; from a larger set, a sample is drawn.", low=1)
    seed: int = seed_setting()
