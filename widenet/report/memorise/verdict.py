"""What came of memorising, in sentences."""

from widenet.base.wording import counted
from widenet.memorise.certificate import Fit
from widenet.memorise.conditions import Conditions

METHOD_NAMES = {"pgd": "perturbed gradient descent", "adam": "Adam", "direct": "linear algebra"}


def verdict(
    fit: Fit, conditions: Conditions, method: str, steps: int, *, is_classes: bool
) -> tuple[str, ...]:
    """The answer first, then what it rests on."""
    answer = _memorised(fit, conditions, is_classes) if fit.labels_reproduced else _missed(fit)
    rest = () if fit.labels_reproduced else (advice(conditions, method),)
    return (answer, *rest, _network(fit, conditions, method, steps), _flatness(fit, conditions))


def advice(conditions: Conditions, method: str) -> str:
    """What to do where not every target was reproduced."""
    if method != "direct":
        return "Try --method direct, which finds the global minimum by linear algebra."
    if conditions.mending_noise is not None:
        return f"Rows are too much alike: try --perturb {conditions.mending_noise:g}."
    if conditions.layers == 2:
        return "Try --layers 3, which tells more rows apart."
    return "Rows are too much alike for float64: remove near-duplicates, or add columns."


def _memorised(fit: Fit, conditions: Conditions, is_classes: bool) -> str:
    if is_classes:
        return f"Memorised: each of the {conditions.n:,} labels is the network's output, rounded."
    return (
        f"Memorised: each of the {conditions.n:,} targets is reproduced to {fit.tolerance:.2g}, a thousandth "
        "of their standard deviation."
    )


def _missed(fit: Fit) -> str:
    largest = fit.landscape.max_residual
    if largest < fit.tolerance:
        return (
            f"Not proved: the largest residual is {largest:.2g}, below {fit.tolerance:.2g}, but rounding may "
            f"have moved it by {fit.rounding:.2g}; no certificate was made."
        )
    return (
        f"Not memorised: the largest residual is {largest:.2g}, which is not below {fit.tolerance:.2g}; no "
        "certificate was made."
    )


def _network(fit: Fit, conditions: Conditions, method: str, steps: int) -> str:
    count, loss = conditions.num_parameters, fit.landscape.loss
    return (
        f"A network of {conditions.layers} layers with {count:,} trained weights, {count / conditions.n:.1f} "
        f"for each row, has the loss {loss:.2g} after {counted(steps, 'step')} of {METHOD_NAMES[method]}."
    )


def _flatness(fit: Fit, conditions: Conditions) -> str:
    """Lemmas 3 and 4 in a sentence."""
    found = fit.landscape
    least = f"The least eigenvalue of the loss's Hessian is {found.lambda_min:.2g} (Lemma 3)"
    if conditions.sigma_min.lower <= 0:
        return f"{least}; without a proof that σ_min is not 0, Lemma 4 says nothing on the loss."
    relation = "which holds" if found.holds else "which rounding hides here"
    return f"{least}, so the loss is at most {found.bound:.2g} by Lemma 4, {relation}."
