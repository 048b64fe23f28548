"""How likely each label is wrong: a noise model on top of leave-one-out predictions, fitted by likelihood.

The true class c of row i has probability p_ic = softmax_c(β s_i^-γ μ_ic + b_c), where μ_ic is the
leave-one-out prediction and s_i its predictive variance over the median one; the given label d then has
probability T_cd, so

    P(given d | row i) = Σ_c p_ic T_cd,    log T_cd - log T_cc = level + δ_cd  (c ≠ d).

Classes that overlap by nature make p flat where the predictions are undecided; wrong labels contradict it
where they are decided. That difference tells β from `level`. It ranks rows well. As a count of the wrong
labels it would be too sure of itself where noise depends on the inputs or overlap on the class, which is why
`widenet.predict.noise_rate` bounds their share without it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import expit
from torch import Tensor

ODDS = math.log(20)  # that noise differs between classes, before it is believed more than not
# The evidence is softened by it, since predictions of different rows err together; set on TUNED_CLASSES of
# the benchmarks, where less ranks flips of one class worse and more those that depend on the inputs.
TEMPERATURE = 4.0


@dataclass(frozen=True)
class Evidence:
    """What the noise model is fitted to."""

    means: Tensor  # leave-one-out predictions μ, one column per class, rows centred, shape (n, c)
    log_spread: Tensor  # log of the predictive variance over its median, shape (n,)
    labels: Tensor  # given classes, shape (n,)

    @property
    def num_classes(self) -> int:
        """Number of classes c."""
        return self.means.shape[1]

    @property
    def level_bounds(self) -> tuple[float, float]:
        """From half a wrong label in all, not to be told from none, to wrong nearly as likely as right."""
        return -math.log(2 * len(self.labels) * (self.num_classes - 1)), -0.1


@dataclass(frozen=True)
class NoiseModel:
    """A fitted noise model.

    Attributes:
        log_prior: log p_ic, what the other rows say about the true class of each row, shape (n, c).
        log_transition: log T_cd, true class c by given label d, shape (c, c).
    """

    log_prior: Tensor
    log_transition: Tensor


@dataclass(frozen=True)
class NoiseModels:
    """Noise that is the same for all pairs of classes, δ = 0, or of its own rate for each."""

    uniform: NoiseModel
    classwise: NoiseModel
    weight: float  # of the second, from 0 to 1


@dataclass(frozen=True)
class _Fit:
    """θ = (log β, γ, b (c), δ (c(c-1), row by row), level) and its penalised negative log likelihood."""

    theta: np.ndarray
    objective: float


def class_means(predictions: Tensor) -> Tensor:
    """One column per class, shape (n, c), from that or from (n, 1) for ±1 with +1 for the first of two."""
    return torch.cat([predictions, -predictions], 1) / 2 if predictions.shape[1] == 1 else predictions


def gather_evidence(means: Tensor, variances: Tensor, labels: Tensor) -> Evidence:
    """Evidence from predictions with one column per class, shape (n, c)."""
    means, log_variance = means.double(), variances.double().log()
    return Evidence(
        means=means - means.mean(1, keepdim=True),
        log_spread=log_variance - log_variance.median(),
        labels=labels,
    )


def fit_noise_models(evidence: Evidence) -> NoiseModels:
    """Both models of most likelihood, weighed by the evidence for them.

    Laplace's approximation takes ½ Σ log(1 + N_cd) from the class-wise likelihood for its prior δ ~ N(0, 1),
    with N_cd the expected number of rows of class c labelled d. Without it a class-wise pattern would
    be read into uniform noise wherever classes overlap, and rank the rows worse.
    """
    pattern, starts = _is_pattern(evidence), _starts(evidence)
    uniform = _best(_maximise(evidence, start, pattern) for start in starts)
    starts.append(_confused_start(evidence))
    classwise = _best(_maximise(evidence, start, np.zeros_like(pattern)) for start in starts)
    same, differing = (NoiseModel(*noise_model(evidence, fit.theta)) for fit in (uniform, classwise))
    cost = float(torch.log1p(_expected_flips(differing, evidence.labels)).sum()) / 2
    gain = uniform.objective - classwise.objective - cost - ODDS
    return NoiseModels(same, differing, weight=float(expit(gain / TEMPERATURE)))


def log_odds_wrong(models: NoiseModels, labels: Tensor) -> Tensor:
    """Log odds that each row's label is wrong, shape (n,): the mean of both models by their weights."""
    uniform, classwise = (_log_odds(model, labels) for model in (models.uniform, models.classwise))
    return torch.lerp(uniform, classwise, models.weight)


def _log_odds(model: NoiseModel, labels: Tensor) -> Tensor:
    joint = log_joint(model.log_prior, model.log_transition, labels)
    given = torch.nn.functional.one_hot(labels, joint.shape[1]).bool()
    return torch.logsumexp(joint.masked_fill(given, -torch.inf), 1) - joint[given]


def _expected_flips(model: NoiseModel, labels: Tensor) -> Tensor:
    """Expected number of rows of another true class for each given label, shape (c, c), diagonal 0."""
    joint = log_joint(model.log_prior, model.log_transition, labels)
    counts = joint.new_zeros(joint.shape[1], joint.shape[1])
    return counts.index_add_(0, labels, torch.softmax(joint, 1)).fill_diagonal_(0)


def noise_model(evidence: Evidence, theta: np.ndarray | Tensor) -> tuple[Tensor, Tensor]:
    """The model's log p of shape (n, c) and log T of shape (c, c) for the parameters θ."""
    c, theta = evidence.num_classes, torch.as_tensor(theta)
    log_beta, gamma, offsets, delta, level = theta.split([1, 1, c, c * (c - 1), 1])
    scale = torch.exp(log_beta - gamma * evidence.log_spread)
    wrong = ~torch.eye(c, dtype=torch.bool)
    log_ratio = torch.zeros(c, c, dtype=theta.dtype).masked_scatter(wrong, level + delta)
    return torch.log_softmax(scale[:, None] * evidence.means + offsets, 1), torch.log_softmax(log_ratio, 1)


def log_joint(log_prior: Tensor, log_transition: Tensor, labels: Tensor) -> Tensor:
    """The joint log P(true c, label given to row i | row i) = log p_ic + log T_c,given, shape (n, c)."""
    return log_prior + log_transition.T[labels]


def _best(fits: Iterable[_Fit]) -> _Fit:
    return min(fits, key=lambda fit: fit.objective)


def _maximise(evidence: Evidence, start: np.ndarray, held: np.ndarray) -> _Fit:
    """Minimise the objective by L-BFGS from `start`, leaving the parameters `held` where they are."""
    free = np.flatnonzero(~held)
    bounds = [(-1.0, 4.5), (-1.0, 2.0)] + [(-9.0, 9.0)] * (len(start) - 3) + [evidence.level_bounds]

    def full(x: np.ndarray) -> np.ndarray:
        theta = start.copy()
        theta[free] = x
        return theta

    def value_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
        theta = torch.from_numpy(full(x)).requires_grad_()
        value = _objective(evidence, theta)
        (gradient,) = torch.autograd.grad(value, theta)
        return value.item(), gradient.numpy()[free]

    result = minimize(
        value_and_gradient,
        start[free],
        jac=True,
        method="L-BFGS-B",
        bounds=[bounds[i] for i in free],
        options={"ftol": 1e-8},
    )
    return _Fit(full(result.x), float(result.fun))


def _objective(evidence: Evidence, theta: Tensor) -> Tensor:
    """Negative log likelihood of the given labels, plus normal priors that keep θ finite."""
    joint = log_joint(*noise_model(evidence, theta), evidence.labels)
    centre, deviation = torch.zeros_like(theta), torch.ones_like(theta)
    centre[0], centre[1] = 2.0, 0.5
    deviation[0], deviation[1] = 2.0, 0.5
    penalty = ((theta - centre) / deviation)[:-1].square().sum() / 2
    return penalty - torch.logsumexp(joint, 1).sum()


def _num_parameters(evidence: Evidence) -> int:
    return 3 + evidence.num_classes**2


def _is_pattern(evidence: Evidence) -> np.ndarray:
    """Which parameters are δ."""
    index = np.arange(_num_parameters(evidence))
    return (index >= 2 + evidence.num_classes) & (index < len(index) - 1)


def _starts(evidence: Evidence) -> list[np.ndarray]:
    """No noise and much: the likelihood can have a maximum near either."""
    low, high = evidence.level_bounds
    start = np.zeros(_num_parameters(evidence))
    start[:2] = 2.0, 0.5
    return [np.append(start[:-1], level) for level in (low, high - 2 - math.log(evidence.num_classes - 1))]


def _confused_start(evidence: Evidence) -> np.ndarray:
    """The pattern by which the labels contradict the predictions.

    Noise of a single pair of classes has a maximum of its own, which is not found from afar.
    """
    c = evidence.num_classes
    pairs = evidence.means.argmax(1) * c + evidence.labels
    counts = torch.bincount(pairs, minlength=c * c).reshape(c, c).double() + 0.5
    log_ratio = torch.log(counts / counts.diagonal()[:, None])[~torch.eye(c, dtype=torch.bool)].numpy()
    level = np.clip(log_ratio.mean(), *evidence.level_bounds)
    start = _starts(evidence)[0]
    start[_is_pattern(evidence)] = np.clip(log_ratio - level, -9.0, 9.0)
    start[-1] = level
    return start
