"""Predict: spectral measures and kernels -> training curves, leave-one-out, learning curves, wrong labels."""

from widenet.predict.curve import descent_distance, descent_diverges, descent_loss, steps_until
from widenet.predict.learning_curve import LearningCurve, predict_learning_curve
from widenet.predict.limit import LimitErrors, limit_errors
from widenet.predict.loo import LeaveOneOut, leave_one_out

__all__ = [
    "LearningCurve",
    "LeaveOneOut",
    "LimitErrors",
    "descent_distance",
    "descent_diverges",
    "descent_loss",
    "leave_one_out",
    "limit_errors",
    "predict_learning_curve",
    "steps_until",
]
