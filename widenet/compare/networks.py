"""The papers' networks as methods: rate and decay chosen on held-out rows, then trained on all of them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from widenet.base.errors import WidenetError
from widenet.compare.tuning import (
    Family,
    Model,
    RowForms,
    Score,
    Training,
    by_score,
    inner_splits,
    judged,
    scores,
)
from widenet.networks.names import network_by_name
from widenet.networks.network import Parameters, network_outputs
from widenet.predict.learning_curve import squared_errors
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import trained_weights

RATES = (1.0, 0.3, 0.1, 0.03)
DECAYS = (0.0, 1e-3, 1e-2)
BATCH = 50
STEPS_PER_ROW = 2  # that the default number of epochs comes to, ...
FEWEST_STEPS, MOST_STEPS = 500, 2000  # ... within these, ...
FEWEST_EPOCHS, MOST_EPOCHS = 20, 400  # ... and within these
SEARCH_SHARE = 0.25  # of the epochs (and not fewer than the fewest), for which every setting is trained, ...
NUM_FINALISTS = 2  # ... before so many of them are trained to the end
SEARCH_COST = 3.0  # time of an epoch of the whole grid over that of the finalists
MOST_TRAINING_ERROR = 2.0  # over that on rows held out of the same training: beyond it, it has failed
PILOT_EPOCHS = 3


def default_epochs(num_rows: int) -> int:
    """Epochs that come to about two steps for each row; on few rows, more steps would change little."""
    steps = min(max(STEPS_PER_ROW * num_rows, FEWEST_STEPS), MOST_STEPS)
    return min(max(round(steps * BATCH / num_rows), FEWEST_EPOCHS), MOST_EPOCHS)


@dataclass(frozen=True)
class NetworkMethod:
    """A network trained by SGD with momentum on the squared loss, as in [resnet-beyond-kernels, section 8.1].

    The search is staged, as in successive halving [jamieson2016halving]: every setting is trained for a share
    of the epochs, with a schedule as short as that, and judged on the first inner split. Only the best, of
    different rates, are trained to the end and judged on all inner splits.

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
        hopeful = self._searched(training, seed)
        for start in range(0, len(hopeful), NUM_FINALISTS):
            model = self._best_of(hopeful[start : start + NUM_FINALISTS], training, seed)
            if model is not None:  # else those after them are tried
                return model
        raise WidenetError(f"training diverged at every rate from {min(RATES):g} to {max(RATES):g}")

    def _best_of(self, finalists: list[TrainingSettings], training: Training, seed: int) -> Model | None:
        """Trained on all rows under the best of these settings; None where each of them diverges."""

        def outputs_of(part: Training, inputs: RowForms) -> Tensor:
            return _outputs(self, _trained(self, part, finalists), inputs, training.Y.shape[1])

        found = judged(training, outputs_of, seed=seed)
        for index in by_score(found.scores):
            chosen = finalists[index]
            (weights,) = _trained(self, training, [chosen])
            if weights is not None and _has_fitted(_predictor(self, weights), training, found.scores[index]):
                setting = {"rate": chosen.rate, "decay": chosen.decay}
                return Model(_predictor(self, weights), setting, found.scores[index], found.unseen(index))
        return None

    def forecast(self, training: Training) -> float:
        """The time of one epoch is the difference between a short pilot and a shorter one."""
        splits = inner_splits(training, seed=0)
        pilot = training.pilot()
        slow = self._grid(1, seed=0)[-NUM_FINALISTS:]  # which do not diverge
        _trained(self, pilot, slow)  # nothing is timed before it has run once
        seconds = []
        for epochs in (1, 1 + PILOT_EPOCHS):
            start = time.perf_counter()
            _trained(self, pilot, [replace(each, epochs=epochs) for each in slow])
            seconds.append(time.perf_counter() - start)
        each = max(seconds[1] - seconds[0], 0.0) / PILOT_EPOCHS
        num_rows = len(splits[0][0])
        passes = (len(splits) + SEARCH_COST * SEARCH_SHARE) * num_rows + training.n
        return (len(splits) + 2) * seconds[0] + each * self.epochs * passes / pilot.n

    def _searched(self, training: Training, seed: int) -> list[TrainingSettings]:
        """The settings that do not diverge in a short training: the best of each rate, then the others."""
        epochs = min(max(round(SEARCH_SHARE * self.epochs), FEWEST_EPOCHS), self.epochs)
        short = self._grid(epochs, seed)
        fit, choose = inner_splits(training, seed=seed)[0]
        held_out = training[choose]
        weights = _trained(self, training[fit], short)
        found = scores(_outputs(self, weights, held_out.inputs, training.Y.shape[1]), held_out)
        order = [replace(short[index], epochs=self.epochs) for index in by_score(found)]
        best_of_rate = {each.rate: each for each in reversed(order)}
        # A rate that is too large may only fail in a longer training, so finalists have different ones.
        return sorted(order, key=lambda each: each is not best_of_rate[each.rate])

    def _grid(self, epochs: int, seed: int) -> list[TrainingSettings]:
        shared = TrainingSettings(batch=BATCH, epochs=epochs, seed=seed)
        return [replace(shared, rate=rate, decay=decay) for rate in RATES for decay in DECAYS]


def _trained(
    method: NetworkMethod, training: Training, grid: Sequence[TrainingSettings]
) -> list[Parameters | None]:
    """Weights under each setting of the grid, trained side by side; None where that diverged."""
    return trained_weights(network_by_name(method.name, method.width), training.dataset, grid)


def _predictor(method: NetworkMethod, weights: Parameters) -> Callable[[RowForms], Tensor]:
    network = network_by_name(method.name, method.width)
    return lambda inputs: network_outputs(network, weights, inputs.X.to(weights["A"].dtype))[0].double()


def _has_fitted(predict: Callable[[RowForms], Tensor], training: Training, unseen: Score) -> bool:
    """Whether the error on the training rows is near that on rows unseen by others so trained, or below it.

    At the largest rates training can end anywhere without an overflow: with an error that has grown, or with
    neurons that are 0 on most rows.
    """
    error = squared_errors(predict(training.inputs), training.Y).mean()
    return float(error) <= MOST_TRAINING_ERROR * unseen.squared


def _outputs(
    method: NetworkMethod, weights: Sequence[Parameters | None], inputs: RowForms, num_outputs: int
) -> Tensor:
    """Outputs under each of several weights, shape (r, n2, c); not numbers where there are none."""
    none = torch.full((len(inputs.X), num_outputs), torch.nan, dtype=torch.float64)
    return torch.stack([none if each is None else _predictor(method, each)(inputs) for each in weights])
