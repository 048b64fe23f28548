"""The papers' networks as methods: rate and decay chosen on held-out rows, then trained on all of them."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from widenet.base.errors import WidenetError
from widenet.compare.tuning import Family, Model, RowForms, Score, Training, inner_splits, judged
from widenet.networks.names import network_by_name
from widenet.training.run import TrainingRun
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep

RATES = (1.0, 0.3, 0.1, 0.03)
DECAYS = (0.0, 1e-3, 1e-2)
BATCH = 50
DEFAULT_STEPS = 2000  # that the default number of epochs comes to, ...
FEWEST_EPOCHS, MOST_EPOCHS = 20, 400  # ... within these
PILOT_EPOCHS = 3
LAST_RUN = 0.25  # time of the last run, of a single setting, as a share of the time of the grid


def default_epochs(num_rows: int) -> int:
    """Epochs that come to about DEFAULT_STEPS steps."""
    return min(max(round(DEFAULT_STEPS * BATCH / num_rows), FEWEST_EPOCHS), MOST_EPOCHS)


@dataclass(frozen=True)
class NetworkMethod:
    """A network trained by SGD with momentum on the squared loss, as in [resnet-beyond-kernels, section 8.1].

    Attributes:
        name: Name of the network, as `network_by_name` takes it.
        width: Neurons of each hidden layer.
        epochs: Passes over the training rows.
    """

    name: str
    width: int
    epochs: int
    family: Family = "network"

    def fit(self, training: Training, *, seed: int) -> Model:
        grid = self._grid(self.epochs, seed)

        def scores_of(part: Training, held_out: Training) -> list[Score]:
            runs = _sweep(self, part, grid, test=held_out)
            return [_final_score(run, classification=training.labels is not None) for run in runs]

        found = judged(training, scores_of, seed=seed)
        stable = [index for index, score in enumerate(found) if math.isfinite(score.error)]
        for index in sorted(stable, key=lambda index: found[index]):
            chosen = grid[index]
            run = _sweep(self, training, [chosen], keep_weights=True)[0]
            if not run.diverged:  # else the next best setting is tried
                setting = {"rate": chosen.rate, "decay": chosen.decay}
                return Model(_predictor(run), setting, found[index])
        raise WidenetError(f"training diverged at every rate from {min(RATES):g} to {max(RATES):g}")

    def forecast(self, training: Training) -> float:
        """The time of one epoch of the grid is the difference between a short pilot and a shorter one."""
        splits = inner_splits(training, seed=0)
        num_rows = len(splits[0][0])
        pilot = training.pilot()
        _sweep(self, pilot, self._grid(epochs=1, seed=0))  # nothing is timed before it has run once
        seconds = []
        for epochs in (1, 1 + PILOT_EPOCHS):
            start = time.perf_counter()
            _sweep(self, pilot, self._grid(epochs, seed=0))
            seconds.append(time.perf_counter() - start)
        each = max(seconds[1] - seconds[0], 0.0) / PILOT_EPOCHS * num_rows / pilot.n
        num_sweeps = len(splits) + LAST_RUN * training.n / num_rows
        return num_sweeps * (seconds[0] + each * self.epochs)

    def _grid(self, epochs: int, seed: int) -> list[TrainingSettings]:
        shared = TrainingSettings(batch=BATCH, epochs=epochs, seed=seed)
        return [replace(shared, rate=rate, decay=decay) for rate in RATES for decay in DECAYS]


def _sweep(
    method: NetworkMethod,
    training: Training,
    grid: Sequence[TrainingSettings],
    *,
    test: Training | None = None,
    keep_weights: bool = False,
) -> Sequence[TrainingRun]:
    """Train under each setting of the grid, side by side."""
    network = network_by_name(method.name, method.width)
    held_out = None if test is None else test.dataset
    return sweep(network, training.dataset, grid, test=held_out, keep_weights=keep_weights)


def _predictor(run: TrainingRun) -> Callable[[RowForms], torch.Tensor]:
    return lambda inputs: run.outputs(inputs.X).double()


def _final_score(run: TrainingRun, *, classification: bool) -> Score:
    if run.diverged or run.test_error is None or run.test_misclassified is None:
        return Score(float("inf"), float("inf"))
    squared = run.test_error[-1]
    return Score(run.test_misclassified[-1] if classification else squared, squared)
