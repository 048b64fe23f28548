"""Outcomes of all trials to means, spreads, ranks, champions and tests."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from widenet.compare.measures import ClassMeasures, mean_measures
from widenet.compare.result import BestConstant, Champion, MethodResult, Significance
from widenet.compare.significance import LEVEL, FoldRows, average_ranks, fold_interval, paired_tests, wins
from widenet.compare.trial import FoldOutcome
from widenet.compare.tuning import FAMILY_GROUPS, CompareMethod, Family

CONSTANT = "constant"


@dataclass(frozen=True)
class Standings:
    """What all folds so far come to."""

    methods: tuple[MethodResult, ...]
    constant: BestConstant
    significance: Significance

    @property
    def best(self) -> str | None:
        """The method of the smallest error; None where all failed."""
        return self.methods[0].name if self.methods[0].error is not None else None


def standings(
    methods: Sequence[CompareMethod],
    outcomes: dict[str, list[FoldOutcome]],
    constant: BestConstant,
    rows: FoldRows,
) -> Standings:
    """Methods in their order, and the tests between them."""
    results = summarise_methods(methods, outcomes, rows)
    return Standings(results, constant, significance_of(results, constant, rows))


def summarise_methods(
    methods: Sequence[CompareMethod], outcomes: dict[str, list[FoldOutcome]], rows: FoldRows
) -> tuple[MethodResult, ...]:
    """Means, spreads, ranks and wins; the smallest error first, those that failed last."""
    results = [_method_result(method, outcomes[method.name], rows) for method in methods]
    failed = [result for result in results if result.error is None]
    whole = [result for result in results if result.error is not None]
    if whole:
        errors = np.array([result.errors for result in whole])
        standing = zip(whole, average_ranks(errors), wins(errors), strict=True)
        whole = [replace(result, rank=float(rank), wins=int(won)) for result, rank, won in standing]
    return (*sorted(whole, key=lambda result: (result.error, result.rank)), *failed)


def constant_of(errors: Sequence[float], measures: ClassMeasures | None = None) -> BestConstant:
    """The best constant by its error on each fold, and what else was measured of it."""
    others = asdict(measures or ClassMeasures())
    return BestConstant(float(np.mean(errors)), float(np.std(errors, ddof=1)), tuple(errors), **others)


def _method_result(method: CompareMethod, trials: list[FoldOutcome], rows: FoldRows) -> MethodResult:
    """All but rank and wins, which only methods have that failed on no fold."""
    errors = [trial.error for trial in trials if trial.error is not None]
    complete = len(errors) == len(trials)
    chosen = [trial.setting for trial in trials if trial.setting is not None]
    _, low, high, _ = fold_interval(errors, rows) if complete else (None,) * 4
    counts = Counter(tuple(setting.items()) for setting in chosen)
    return MethodResult(
        name=method.name,
        family=method.family,
        error=float(np.mean(errors)) if complete else None,
        std=float(np.std(errors, ddof=1)) if complete else None,
        low=None if low is None else max(low, 0.0),
        high=high,
        rank=None,
        wins=None,
        seconds=sum(trial.seconds for trial in trials),
        best=dict(counts.most_common(1)[0][0]) if counts else None,
        errors=tuple(trial.error for trial in trials),
        inner=tuple(trial.inner for trial in trials),
        settings=tuple(trial.setting for trial in trials),
        failures=tuple(trial.failure for trial in trials if trial.failure is not None),
        **asdict(mean_measures([trial.measures for trial in trials])),
    )


def significance_of(results: Sequence[MethodResult], constant: BestConstant, rows: FoldRows) -> Significance:
    """Families, by champions chosen inside the folds, against kernels and constant; methods against best."""
    whole = [result for result in results if result.error is not None]
    champions = [champion_of(whole, family) for family in FAMILY_GROUPS]
    known = {champion.family: champion for champion in champions if champion is not None}
    kernels = known.get("kernel")
    against_kernels = [
        (FAMILY_GROUPS[family], champion.errors, FAMILY_GROUPS["kernel"], kernels.errors)
        for family, champion in known.items()
        if kernels is not None and family != "kernel"
    ]
    against_constant = [
        (FAMILY_GROUPS[family], champion.errors, CONSTANT, constant.errors)
        for family, champion in known.items()
    ]
    errors = {result.name: [error for error in result.errors if error is not None] for result in whole}
    against_best = [(name, own, whole[0].name, errors[whole[0].name]) for name, own in errors.items()][1:]
    return Significance(
        level=LEVEL,
        champions=tuple(known.values()),
        against_kernels=paired_tests(against_kernels, rows),
        against_best=paired_tests(against_best, rows),
        against_constant=paired_tests(against_constant, rows),
    )


def champion_of(results: Sequence[MethodResult], family: Family) -> Champion | None:
    """In each fold the family's member of the smallest inner error; None for a family without members."""
    members = [result for result in results if result.family == family]
    if not members:
        return None
    chosen = [min(members, key=lambda member: _known(member.inner[j])) for j in range(len(members[0].errors))]
    errors = tuple(_known(member.errors[j]) for j, member in enumerate(chosen))
    return Champion(
        family=family,
        error=float(np.mean(errors)),
        std=float(np.std(errors, ddof=1)),
        chosen=tuple(member.name for member in chosen),
        errors=errors,
    )


def _known(value: float | None) -> float:
    assert value is not None  # methods that failed anywhere are left out before
    return value
