"""What an audit depends on, besides the data."""

from dataclasses import dataclass

from widenet.base.errors import InputError
from widenet.study.settings import Settings, device_setting, seed_setting, setting

DEFAULT_KERNEL = "relu2-hidden"  # H∞: the theorems behind every section of the audit are about it
TRAINED_WIDTH = 4096
SAMPLE_ROWS = 8192  # on which all is found that landmarks do not tell, by default


@dataclass(frozen=True)
class AuditSettings(Settings):
    """What an audit depends on, besides the data."""

    kernel: str = setting(DEFAULT_KERNEL, "Kernel of the network.", metavar="NAME")
    eta: float | None = setting(
        None, "Step size of gradient descent.", low=0, strict=True, otherwise="1/λ_max"
    )
    rows: int | None = setting(
        None,
        "Most rows to audit; from a larger set, a sample is drawn.",
        low=2,
        otherwise=f"all, or {SAMPLE_ROWS:,} with landmarks",
    )
    landmarks: int | None = setting(
        None,
        "Rows that stand for all others where these are too many for the kernel: labels and errors of all "
        "rows are then estimated, and all else is found on a sample.",
        low=2,
        otherwise="none",
    )
    train: bool = setting(False, "Train a real network and draw it beside its prediction.")
    width: int | None = setting(
        None, "Neurons in that network, an even number.", low=2, high=2**20, otherwise=f"{TRAINED_WIDTH}"
    )
    device: str = device_setting()
    seed: int = seed_setting()
    raw_cells: bool = setting(
        False, "Write text that a spreadsheet takes for a formula as it is, without an apostrophe before it."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width is not None and not self.train:
            raise InputError(
                "`width` is for the network that `train` trains; add `train=True` or leave `width` out."
            )
        if self.width is not None and self.width % 2:
            raise InputError(f"`width` is {self.width}, but must be even, because neurons come in pairs.")
        if self.train and self.kernel != DEFAULT_KERNEL:
            raise InputError(
                f"`train` trains the network of {DEFAULT_KERNEL}; leave `kernel={self.kernel}` out."
            )
