"""What figures 4(a) and 4(b) share: SGD does not find the solutions of small norm [section 8.2]."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from widenet.networks.initialise import Initialisation
from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, Point, check_above, check_below
from widenet.papers.figure import Axes, Done
from widenet.papers.grid import GridSettings
from widenet.papers.jobs.constructed import constructed_trial
from widenet.papers.jobs.networks import network_trial
from widenet.papers.verdict import Check
from widenet.runs.trial import Record
from widenet.study.settings import setting

NETWORK = "2layer-biasfree-hidden"
BY_HAND = "we construct by hand in train/test error"
IN_TRAIN, IN_TEST = "best found by SGD in train error", "best found by SGD in test error"
SMALLEST = "smallest test error of SGD"  # at the best epoch, and at the last
UNTOUCHED = "test error of what validation rows choose"
# Errors that the text claims for the nets that are constructed, and their ‖W‖_F/√d.
STATED = {0.12: 9.7, 0.037: 12.5, 0.011: 13.8}
LEVELS = (1.0, 0.69, 0.5, 0.25, 0.12, 0.063, 0.037, 0.016, 0.011, 0.004)
UNREACHED = 2.0  # stands for a level that no net reaches; that of the zero function is 1
JUST_ABOVE = 1.05  # times an error: below the next level
AXES = Axes("error", "Frobenius norm", log_x=True)
DEPARTURES = (
    "The paper draws single nets; here a point of SGD is the smallest norm among all nets whose error at the "
    "end of training is at most that on the axis.",
    "The paper says only that initialisation is random; entries of W are drawn from N(0, σ_w²/m).",
    "The paper does not say which rates and decays were tried; a decay of 0 stands for all that are too "
    "small to matter.",
)


@dataclass(frozen=True)
class ParitySettings(GridSettings):
    """The parity, its sample, the nets that are trained and those that are constructed."""

    rates: tuple[float, ...] = setting((20.0, 10.0, 5.0), "Rates to choose from.", low=0, strict=True)
    decays: tuple[float, ...] = setting((0.0, 1e-5, 2e-5, 5e-5), "Weight decays to choose from.", low=0)
    m: tuple[int, ...] = setting((200, 500, 1000, 2000), "Widths m of the hidden layer.", low=2, high=2**17)
    n: int = setting(5000, "Training rows N.", low=2, high=10**6)
    d: int = setting(40, "Coordinates of x.", low=6, high=10**4)
    sigma_w: float = setting(1.0, "√m times the deviation of initial weights.", low=0)
    hand_decays: tuple[float, ...] = setting(
        (4e-4, 1.5e-4, 7e-5), "Weight decays of the nets that are constructed, one for each.", low=0
    )
    hand_epochs: int = setting(4000, "Epochs of the nets that are constructed.", low=1, high=10**6)


def plan(settings: ParitySettings) -> list[tuple[Record, ...]]:
    """The constructed nets of every seed, then a grid for every seed and width."""
    return [*_constructed(settings), *_trained(settings)]


def _constructed(settings: ParitySettings) -> Iterator[tuple[Record, ...]]:
    for seed in settings.all_seeds:
        yield tuple(
            constructed_trial(max(settings.m), settings.d, decay, settings.hand_epochs, seed)
            for decay in settings.hand_decays
        )


def _trained(settings: ParitySettings) -> Iterator[tuple[Record, ...]]:
    start = Initialisation("signed", sigma_w=settings.sigma_w)
    for seed in settings.all_seeds:
        data = f"parity6:n={settings.n},d={settings.d},seed={seed}"
        grid = settings.grid(seed, initialisation=start)
        for m in settings.m:
            yield tuple(network_trial(data, settings.held_out, NETWORK, m, each) for each in grid)


def curves(settings: ParitySettings, done: Sequence[Done]) -> list[Curve]:
    """Norms of the constructed nets, and the smallest norm at which SGD reaches an error."""
    results = [None if each.result is None else each.result.record for each in done]
    num_by_hand = len(settings.hand_decays) * settings.seeds
    by_hand = _by_seed(results[:num_by_hand], settings.seeds)
    trained = [_alive(records) for records in _by_seed(results[num_by_hand:], settings.seeds)]
    return [
        Curve(BY_HAND, tuple(_hand_point(records) for records in zip(*by_hand, strict=True))),
        Curve(IN_TRAIN, tuple(_level_point(level, trained, "train_error") for level in sorted(LEVELS))),
        Curve(IN_TEST, tuple(_level_point(level, trained, "test_error") for level in sorted(LEVELS))),
        Curve(SMALLEST, (_smallest(trained, min), _smallest(trained, lambda errors: errors[-1])), "marks"),
        Curve(UNTOUCHED, (_untouched(trained),), "marks"),
    ]


def _by_seed(records: Sequence[Record | None], num_seeds: int) -> list[Sequence[Record | None]]:
    """Records of the plan, which goes from seed to seed, in equal parts."""
    size = len(records) // num_seeds
    return [records[start : start + size] for start in range(0, len(records), size)]


def _alive(records: Sequence[Record | None]) -> list[Record]:
    """Those that did not diverge; none where a trial failed, which might have been the best."""
    known = [record for record in records if record is not None]
    return [record for record in known if not record["diverged"]] if len(known) == len(records) else []


def _hand_point(records: Sequence[Record | None]) -> Point:
    """One of the constructed nets, for every seed."""
    errors = tuple(math.nan if each is None else float(each["error"]) for each in records)
    norms = tuple(math.nan if each is None else float(each["norm"]) for each in records)
    return Point(_mean(errors), norms, norms, x_by_seed=errors)


def _level_point(level: float, trained: Sequence[Sequence[Record]], error: str) -> Point:
    """For each seed the smallest ‖W‖_F among nets whose last error is at most `level`, or infinity."""
    norms = tuple(_least_norm(level, records, error) if records else math.nan for records in trained)
    return Point(level, norms, norms)


def _least_norm(level: float, records: Sequence[Record], error: str) -> float:
    return min((_norm(each) for each in records if each[error][-1] <= level), default=math.inf)


def _smallest(trained: Sequence[Sequence[Record]], view: Callable[[Sequence[float]], float]) -> Point:
    """For each seed the net with the smallest test error at one view of its epochs."""
    chosen = [min(records, key=lambda each: view(each["test_error"]), default=None) for records in trained]
    errors = tuple(math.nan if each is None else float(view(each["test_error"])) for each in chosen)
    norms = tuple(math.nan if each is None else _norm(each) for each in chosen)
    return Point(_mean(errors), norms, norms, x_by_seed=errors)


def _untouched(trained: Sequence[Sequence[Record]]) -> Point:
    """For each seed the net and epoch of the smallest validation error, of which no test row knows."""
    chosen = [min(map(_at_validated, records), default=(math.nan,) * 3) for records in trained]
    _, errors, norms = (tuple(values) for values in zip(*chosen, strict=True))
    return Point(_mean(errors), norms, norms, x_by_seed=errors)


def _at_validated(record: Record) -> tuple[float, float, float]:
    """A net's smallest validation error, its test error at that epoch, and its norm."""
    pairs = zip(record["validation_error"], record["test_error"], strict=True)
    return (*min(pairs), _norm(record))


def _norm(record: Record) -> float:
    norm: float = record["moved"]["W"]["frobenius"]
    return norm


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def claims(least_test_error: float) -> tuple[Claim, ...]:
    """What the paper says of one d.

    Args:
        least_test_error: The test error below which SGD is said never to get.
    """
    stated = ", ".join(f"{norm:g}√d with error at most {error:g}" for error, norm in STATED.items())
    return (
        Claim(
            f"There are nets of ‖W‖_F at most {stated}.", "section 8.2, footnote 16", _nets_exist, margin=0.0
        ),
        Claim(
            f"SGD finds no net with a test error below {least_test_error:g}.",
            "section 8.2, after footnote 17",
            lambda settings, found: [_no_small_test_error(found, least_test_error)],
            margin=0.0,
        ),
        Claim(
            "SGD finds no net with small training error and small norm: with a norm of at most that of a "
            f"constructed net with error at most {', '.join(f'{error:g}' for error in STATED)}, no net of "
            "SGD ends with such a training error.",
            "section 8.2, after footnote 17",
            lambda settings, found: [
                _no_small_norm(found, error, net)
                for error, net in zip(STATED, found[BY_HAND].points, strict=True)
            ],
            margin=0.0,
        ),
        Claim(
            f"SGD finds no net with a test error below {least_test_error:g}, where validation rows choose "
            "the net and its epoch, so that the test rows are untouched.",
            "section 8.2, after footnote 17, which chooses on test rows",
            lambda settings, found: [_no_small_untouched_error(found, least_test_error)],
            margin=0.0,
            is_papers=False,
        ),
    )


def _nets_exist(settings: ParitySettings, found: Curves) -> list[Check]:
    checks = []
    for (error, norm), point in zip(STATED.items(), found[BY_HAND].points, strict=True):
        errors = Point(math.nan, point.x_by_seed, point.x_by_seed)
        scaled = tuple(each / math.sqrt(settings.d) for each in point.best)
        norms = Point(math.nan, scaled, scaled)
        checks += [
            check_below("error of a constructed net", errors, "", error),
            check_below("its ‖W‖_F/√d", norms, "", norm),
        ]
    return checks


def _no_small_test_error(found: Curves, least: float) -> Check:
    best, last = found[SMALLEST].points
    return check_above("smallest test error", Point(math.nan, best.x_by_seed, last.x_by_seed), "", least)


def _no_small_untouched_error(found: Curves, least: float) -> Check:
    (chosen,) = found[UNTOUCHED].points
    errors = Point(math.nan, chosen.x_by_seed, chosen.x_by_seed)
    return check_above(UNTOUCHED, errors, "", least)


def _no_small_norm(found: Curves, error: float, net: Point) -> Check:
    """That the least error on the axis that SGD reaches within a constructed net's norm is a larger one."""
    reached = tuple(
        _reached(found[IN_TRAIN], seed, norm) if of_net <= error else math.nan
        for seed, (norm, of_net) in enumerate(zip(net.best, net.x_by_seed, strict=True))
    )
    what = f"least training error with ‖W‖_F at most that of the constructed net of error {error:g}"
    return check_above(what, Point(error, reached, reached), "", JUST_ABOVE * error)


def _reached(curve: Curve, seed: int, norm: float) -> float:
    """The first level at which SGD has a net of at most this norm; nan where a level is missing."""
    by_level = [(point.x, point.best[seed]) for point in curve.points]
    if any(math.isnan(least) for _, least in by_level):
        return math.nan
    return next((level for level, least in by_level if least <= norm), UNREACHED)
