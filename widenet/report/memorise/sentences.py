"""Memorising in plain sentences: what the theorems require, what is done, and what came of it."""

from widenet.base.wording import counted, number
from widenet.memorise.conditions import Conditions
from widenet.memorise.methods.method import MethodPlan, Route
from widenet.memorise.result import MemoriseResult, Resumed
from widenet.memorise.sizes import default_neurons, num_forms

METHOD_NAMES = {
    "pgd": "perturbed descent in the style of Algorithm 1",
    "adam": "Adam",
    "direct": "linear algebra",
}


def sentences(result: MemoriseResult) -> tuple[str, ...]:
    """The answer first, then what it rests on."""
    rest = (_network(result), _flatness(result))
    if result.labels_reproduced:
        return (_memorised(result), *rest)
    return (_missed(result), advice(result), *rest)


def on_the_way(fact: object) -> tuple[str, ...]:
    """What is known before the training."""
    match fact:
        case Resumed(None):
            return ("Resuming an earlier run that has already measured σ_min.",)
        case Resumed(steps):
            return (f"Resuming from step {steps:,} of an earlier run.",)
        case Conditions():
            return requirements(fact)
        case MethodPlan():
            return method_notes(fact)
    return ()


def requirements(conditions: Conditions) -> tuple[str, ...]:
    """What the theorems require on this data, and what was found."""
    return (
        _two_layers(conditions),
        _chosen(conditions),
        *_random_rows(conditions),
        *_sigma(conditions),
    )


def method_notes(plan: MethodPlan) -> tuple[str, ...]:
    """What a method does; nothing where it is none of ours."""
    numbers = plan.numbers
    if plan.promise is not None:
        return _theorem_notes(plan)
    match plan.method:
        case "pgd":
            return (
                "Perturbed descent in the style of Algorithm 1, from W = 0 along conjugate directions on "
                f"whitened inputs, each step to the minimum on its line, until f ≤ {numbers['target']:g}.",
                "Gradients go through Q and M, at a cost that does not grow with rows times neurons.",
            )
        case "adam":
            return (
                f"Adam in float32 from Gaussian weights of standard deviation {numbers['initial_std']:.2g}: "
                f"{numbers['epochs']} epochs in batches of {numbers['batch']}, rate {numbers['rate']:g} "
                f"times {numbers['decay']:g} after every {numbers['decay_every']} epochs.",
                "Gradients of batches go through the neurons, which is cheaper than through Q and M.",
            )
        case "direct":
            dense = plan.route is Route.CHOLESKY
            way = "a Cholesky factor" if dense else "conjugate gradients in float32"
            return (
                f"The quadratic form Q = W A W^T is fitted by least squares on whitened inputs ({way}, "
                "corrected in float64), then split into neurons.",
            )
    return ()


def advice(result: MemoriseResult) -> str:
    """What to do where not every target was reproduced."""
    if result.method != "direct":
        return "Try `method=direct`, which finds the global minimum by linear algebra."
    if result.conditions.mending_noise is not None:
        return f"Rows are too similar: try `perturb={result.conditions.mending_noise:g}`."
    if result.layers == 2:
        return "Try `layers=3`, which tells more rows apart."
    return "Rows are too similar for float64: remove near-duplicates, or add columns."


def small(value: float) -> str:
    """A number that may be tiny, in two digits and a power of ten."""
    return "0" if value == 0 else f"{value:.1e}" if abs(value) < 1e-2 else number(value)


def targets_noun(result: MemoriseResult) -> str:
    """What a row is to be given: a label, or a number."""
    return "labels" if result.data.classes else "targets"


def statements(result: MemoriseResult) -> list[tuple[str, str]]:
    """What was measured, each with its value, the most important first."""
    n, kind = result.data.n, "after rounding" if result.data.classes else f"to {small(result.tolerance)}"
    reproduced = f"all {n:,}" if result.labels_reproduced else "not all"
    proved = small(result.sigma_min.lower) if result.sigma_min.lower > 0 else "nothing proved"
    within = {True: "yes", False: "hidden by rounding", None: "no bound"}[result.holds]
    return [
        (f"{targets_noun(result)} reproduced {kind}", reproduced),
        ("loss f", small(result.loss)),
        ("largest residual", small(result.max_residual)),
        ("trained weights", f"{result.parameters:,} for {n:,} rows"),
        ("σ_min, as computed", small(result.sigma_min.value)),
        ("σ_min, proved at least", proved),
        ("‖M‖", small(result.curvature_norm)),
        ("λ_min of the Hessian (Lemma 3)", small(result.lambda_min)),
        ("bound on f (Lemma 4)", "none without σ_min" if result.bound is None else small(result.bound)),
        ("f is within it", within),
    ]


def _memorised(result: MemoriseResult) -> str:
    n = result.data.n
    if result.data.classes:
        return f"Memorised: each of the {n:,} labels is the network's output, rounded."
    return (
        f"Memorised: each of the {n:,} targets is reproduced to {result.tolerance:.2g}, a thousandth of "
        "their standard deviation."
    )


def _missed(result: MemoriseResult) -> str:
    largest, tolerance = result.max_residual, result.tolerance
    if largest < tolerance:
        return (
            f"Not proved: the largest residual is {largest:.2g}, below {tolerance:.2g}, but rounding may "
            f"have moved it by {result.rounding:.2g}; no certificate was made."
        )
    return (
        f"Not memorised: the largest residual is {largest:.2g}, which is not below {tolerance:.2g}; no "
        "certificate was made."
    )


def _network(result: MemoriseResult) -> str:
    count, method = result.parameters, METHOD_NAMES.get(result.method, result.method)
    return (
        f"A network of {result.layers} layers with {count:,} trained weights, {count / result.data.n:.1f} "
        f"per row, has a loss of {result.loss:.2g} after {counted(result.steps, 'step')} of {method}."
    )


def _flatness(result: MemoriseResult) -> str:
    """Lemmas 3 and 4 in a sentence."""
    least = f"The least eigenvalue of the loss's Hessian is {result.lambda_min:.2g} (Lemma 3)"
    if result.bound is None:
        return f"{least}; without a proof that σ_min is not 0, Lemma 4 is vacuous here."
    relation = "which holds" if result.holds else "which rounding hides here"
    return f"{least}, so the loss is at most {result.bound:.2g} by Lemma 4, {relation}."


def _two_layers(c: Conditions) -> str:
    points = f"{c.num_points:,} distinct rows" if c.num_points < c.n else counted(c.n, "row")
    forms = f"d(d+1)/2 = {num_forms(c.d, 2):,}" if c.rank == c.d else f"{c.most_two_layers:,} (rank {c.rank})"
    if c.num_points > c.most_two_layers:
        return f"Two layers are too few: {points} > {forms}."
    measured = "" if c.sigma_two_layers is None else f" and σ_min = {c.sigma_two_layers:.3g}"
    hidden = " to rounding, where the theorem requires more than 0" if c.sigma_two_layers == 0 else ""
    return f"Two layers: {points} ≤ {forms}, r = 2d + 2 = {default_neurons(c.d):,}{measured}{hidden}."


def _chosen(c: Conditions) -> str:
    neurons = f"r = {c.r:,} neurons (2k + 2 = {c.r_needed:,} are required)"
    weights = f"{c.num_parameters:,} weights, {c.num_parameters / c.n:.1f} per row"
    if c.layers == 2:
        return f"Two layers are used: k = d = {c.d:,}, {neurons}, {weights}."
    return (
        f"Three layers are used: k = {c.k:,} random features of power {c.power} "
        f"(2⌈√{c.num_points:,}⌉ = {c.k_theorem:,}), {neurons}, {weights}."
    )


def _random_rows(c: Conditions) -> tuple[str, ...]:
    """What rows the random layer has, where there is one."""
    if c.layers == 2:
        return ()
    if not c.equal_rows:
        return ("Rows of the random layer are drawn from N(0, I), as in the paper.",)
    return (
        "Rows of the random layer have norm √d each, which is ours; the paper has N(0, I), as "
        "`random_rows=gaussian` does.",
    )


def _sigma(c: Conditions) -> tuple[str, ...]:
    value, lower = c.sigma_min.value, c.sigma_min.lower
    if lower > 0:
        return (f"σ_min = {value:.3g}, proved to be at least {lower:.3g}: the theorem applies.",)
    why = (
        f"{c.num_points:,} points exceed the {c.most_points:,} that this network tells apart"
        if c.num_points > c.most_points
        else f"float64 can tell it from 0 only above {c.certifiable:.1g}"
    )
    found = f"σ_min is about {value:.1g} and cannot be proved positive: {why}."
    if c.mending_noise is None:
        return (
            found,
            "No perturbation of up to 0.1 per coordinate fixes this: add columns, or use fewer rows.",
        )
    where = "" if c.rows_tried == c.n else f", as tried on the {c.rows_tried:,} rows nearest to others"
    return (found, f"`perturb={c.mending_noise:g}` would fix it{where}.")


def _theorem_notes(plan: MethodPlan) -> tuple[str, ...]:
    """What Theorem 4 promises."""
    promise, numbers = plan.promise, plan.numbers
    assert promise is not None
    terms = ", ".join(f"{symbol} = {value:.3g}" for symbol, value in promise.terms.items())
    count = f"10^{promise.log10:.1f}" if promise.log10 is not None else f"{promise.value:.3g}"
    way = "Q and M" if plan.route is Route.FORM else "the neurons"
    return (
        f"Theorem 4 promises f ≤ {numbers['epsilon']:g} with probability {1 - numbers['delta']:g} after at "
        f"most {count} steps ({terms}); this run stops after {numbers['max_steps']:,}.",
        f"Gradients go through {way}, which is cheaper here.",
    )
