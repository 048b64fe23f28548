"""One trial of a comparison: a method on a fold.

The store is no concern of this module, so that stored trials do not depend on its code.
"""

import time
from dataclasses import dataclass

import torch

from widenet.base.errors import InputError, WidenetError
from widenet.compare.folds import Fold
from widenet.compare.tuning import Choice, CompareMethod, losses


@dataclass(frozen=True)
class FoldOutcome:
    """What came of one method on one fold; `failure` says what went wrong where it has no error."""

    error: float | None  # mean loss over the test rows
    inner: float | None  # the error by which the setting was chosen
    setting: Choice | None  # what was chosen
    seconds: float  # time to choose, fit and predict
    failure: str | None = None  # a sentence, where the method failed


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
    loss = losses(predictions, fold.Y, classification=fold.training.labels is not None).mean()
    return FoldOutcome(float(loss), model.score.error, model.setting, time.perf_counter() - start)
