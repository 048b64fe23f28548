"""How many labels are wrong: a noise model on top of leave-one-out predictions, fitted by likelihood.

The true class c of row i has probability p_ic = softmax_c(β s_i^-γ μ_ic + b_c), where μ_ic is the
leave-one-out prediction and s_i its predictive variance over the median one; the given label d then has
probability T_cd, so

    P(given d | row i) = Σ_c p_ic T_cd,    log T_cd - log T_cc = level + δ_cd  (c ≠ d).

Classes that overlap by nature make p flat where the predictions are undecided; wrong labels contradict it
where they are decided. That difference tells β from `level`, hence overlap from noise. The interval is that
of the profile likelihood: it widens by itself where the two cannot be told apart.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import brentq, minimize
from torch import Tensor

# The interval ends where the log likelihood has fallen by INTERVAL_WIDTH² / 2; 1.96 would be 95% if the model
# were exact, and the excess was set on data sets with labels flipped on purpose.
INTERVAL_WIDTH = 2.4
ODDS = math.log(20)  # that noise differs between classes, before it is believed


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
    """The fitted noise model and the rate of wrong labels that it implies.

    Attributes:
        log_prior: log p_ic, what the other rows say about the true class of each row, shape (n, c).
        log_transition: log T_cd, true class c by given label d, shape (c, c).
        estimate: Rate of wrong labels, of most likelihood.
        low, high: Ends of its interval.
    """

    log_prior: Tensor
    log_transition: Tensor
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class _Fit:
    """θ = (log β, γ, b (c), δ (c(c-1), row by row), level) and its penalised negative log likelihood."""

    theta: np.ndarray
    objective: float


def gather_evidence(predictions: Tensor, variances: Tensor, labels: Tensor) -> Evidence:
    """Evidence from predictions of shape (n, c), or (n, 1) for ±1 targets with +1 for the first class."""
    predictions, log_variance = predictions.double(), variances.double().log()
    means = torch.cat([predictions, -predictions], 1) / 2 if predictions.shape[1] == 1 else predictions
    return Evidence(
        means=means - means.mean(1, keepdim=True),
        log_spread=log_variance - log_variance.median(),
        labels=labels,
    )


def fit_noise_model(evidence: Evidence) -> NoiseModel:
    """Fit the parameters, then follow the profile likelihood of `level` to both sides."""
    best = _best_fit(evidence)

    def excess(level: float) -> float:
        return _profile(evidence, best, level).objective - best.objective - INTERVAL_WIDTH**2 / 2

    bounds = evidence.level_bounds
    ends = [end if excess(end) <= 0 else brentq(excess, best.theta[-1], end, xtol=0.02) for end in bounds]
    low, high = (noise_rate(*noise_model(evidence, _profile(evidence, best, end).theta)) for end in ends)
    log_prior, log_transition = noise_model(evidence, best.theta)
    return NoiseModel(
        log_prior=log_prior,
        log_transition=log_transition,
        estimate=noise_rate(log_prior, log_transition),
        low=0.0 if ends[0] == bounds[0] else low,
        high=high,
    )


def noise_model(evidence: Evidence, theta: np.ndarray | Tensor) -> tuple[Tensor, Tensor]:
    """The model's log p of shape (n, c) and log T of shape (c, c) for the parameters θ."""
    c, theta = evidence.num_classes, torch.as_tensor(theta)
    log_beta, gamma, offsets, delta, level = theta.split([1, 1, c, c * (c - 1), 1])
    scale = torch.exp(log_beta - gamma * evidence.log_spread)
    wrong = ~torch.eye(c, dtype=torch.bool)
    log_ratio = torch.zeros(c, c, dtype=theta.dtype).masked_scatter(wrong, level + delta)
    return torch.log_softmax(scale[:, None] * evidence.means + offsets, 1), torch.log_softmax(log_ratio, 1)


def noise_rate(log_prior: Tensor, log_transition: Tensor) -> float:
    """Σ_c π_c (1 - T_cc), with π_c the mean of p_ic over the rows."""
    return float(log_prior.exp().mean(0) @ (1 - log_transition.diagonal().exp()))


def log_joint(log_prior: Tensor, log_transition: Tensor, labels: Tensor) -> Tensor:
    """The joint log P(true c, label given to row i | row i) = log p_ic + log T_c,given, shape (n, c)."""
    return log_prior + log_transition.T[labels]


def _best_fit(evidence: Evidence) -> _Fit:
    """The uniform pattern δ = 0, or the class-wise one where the evidence for it is strong.

    Laplace's approximation takes ½ Σ log(1 + N_cd) from the class-wise likelihood for its prior δ ~ N(0, 1),
    with N_cd the expected number of rows of class c labelled d. Without it a class-wise pattern would
    be read into uniform noise wherever classes overlap, and rank the rows worse.
    """
    uniform, classwise = (
        min((_maximise(evidence, start, held) for start in _starts(evidence)), key=lambda fit: fit.objective)
        for held in (_is_pattern(evidence), np.zeros(_num_parameters(evidence), dtype=bool))
    )
    joint = log_joint(*noise_model(evidence, classwise.theta), evidence.labels)
    counts = torch.zeros(evidence.num_classes, evidence.num_classes, dtype=joint.dtype)
    counts.index_add_(0, evidence.labels, torch.softmax(joint, 1)).fill_diagonal_(0)
    cost = float(torch.log1p(counts).sum()) / 2
    return classwise if classwise.objective + cost + ODDS < uniform.objective else uniform


def _profile(evidence: Evidence, fit: _Fit, level: float) -> _Fit:
    """The best fit at a given level, with the pattern δ held."""
    held = _is_pattern(evidence)
    held[-1] = True
    return _maximise(evidence, np.append(fit.theta[:-1], level), held)


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
