"""One trial of a comparison: a method on a fold.

The store is no concern of this module, so that stored trials do not depend on its code.
"""

import time
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError, WidenetError
from widenet.compare.calibration import class_probabilities
from widenet.compare.folds import Fold
from widenet.compare.measures import ClassMeasures, class_measures
from widenet.compare.tuning import Choice, CompareMethod, Model, losses


@dataclass(frozen=True)
class FoldOutcome:
    """What came of one method on one fold; `failure` says what went wrong where it has no error."""

    error: float | None  # mean loss over the test rows
    inner: float | None  # the error by which the setting was chosen
    setting: Choice | None  # what was chosen
    seconds: float  # time to choose, fit and predict
    failure: str | None = None  # a sentence, where the method failed
    balanced_error: float | None = None  # these as of `ClassMeasures`
    auc: float | None = None
    log_loss: float | None = None

    @property
    def measures(self) -> ClassMeasures:
        """What else was measured, where there are classes."""
        return ClassMeasures(self.balanced_error, self.auc, self.log_loss)


def run_trial(method: CompareMethod, fold: Fold) -> FoldOutcome:
    """Fit to the training part of a fold and judge on its test part."""
    start = time.perf_counter()
    try:
        model = method.fit(fold.training, seed=fold.seed)
        predictions = model.predict(fold.inputs).to(fold.Y.dtype)
        if not bool(predictions.isfinite().all()):
            raise WidenetError("its predictions are not finite")
    except InputError:
        raise
    except (WidenetError, torch.linalg.LinAlgError) as error:
        return FoldOutcome(None, None, None, time.perf_counter() - start, f"{method.name} failed: {error}.")
    loss = losses(predictions, fold.Y, classification=fold.labels is not None)
    others = asdict(_measures(loss, predictions, model, fold))
    seconds = time.perf_counter() - start
    return FoldOutcome(float(loss.mean()), model.score.error, model.setting, seconds, **others)


def _measures(loss: Tensor, predictions: Tensor, model: Model, fold: Fold) -> ClassMeasures:
    if fold.labels is None or fold.training.labels is None:
        return ClassMeasures()
    probabilities = None
    if model.unseen is not None:
        probabilities = class_probabilities(predictions, model.unseen, fold.training.labels)
    return class_measures(loss.numpy(), fold.labels.numpy(), probabilities)
