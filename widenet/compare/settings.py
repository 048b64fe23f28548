"""What a comparison depends on, besides the data."""

from dataclasses import dataclass

from widenet.study.settings import Settings, seed_setting, setting

# The rows are divided into folds again until other divisions would hardly change the answer: so often at
# least, and at most as often as takes about a minute on two cores where rows are few.
LEAST_REPEATS, MOST_REPEATS = 2, 4
REPEATED_ROWS = 750  # rows times divisions that are worth that minute


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
    repeats: int | None = setting(
        None, "Number of divisions into folds.", low=1, high=100, otherwise="until the answer is settled"
    )
    width: int = setting(128, "Neurons in each hidden layer of the networks.", low=1, high=2**16)
    epochs: int | None = setting(
        None, "Epochs to train them for.", low=1, high=10**6, otherwise="by the rows"
    )
    rows: int = setting(2000, "Most rows to compare on; from a larger set, a sample is drawn.", low=1)
    seed: int = seed_setting()

    def repeats_for(self, num_rows: int) -> tuple[int, int]:
        """Divisions to make at least and at most; how many it takes in between depends on the answer."""
        if self.repeats is not None:
            return self.repeats, self.repeats
        return LEAST_REPEATS, min(max(REPEATED_ROWS // num_rows, LEAST_REPEATS), MOST_REPEATS)
