"""Whether a network is inside the theorems, in plain sentences."""

from typing import Any

from widenet.base.wording import counted, number
from widenet.inside.answer import Answer
from widenet.inside.result import InsideResult
from widenet.theory.demand import Demand, factor_text
from widenet.theory.mild_memorisation.descent import C_PGD

ASTRONOMICAL = 15.0  # orders of magnitude from which no machine will make up a factor


def sentences(result: InsideResult) -> tuple[str, ...]:
    """How many theorems hold, what is furthest away, and what that means."""
    return (_how_many(result), *_rows(result), *_gaps(result), _constants())


def answer_verdict(answer: Answer) -> str:
    """In a few words, with the factor by which the furthest demand is missed."""
    if answer.inside is False:
        short = answer.log10_short
        return f"outside, short by a factor of {factor_text(short)}" if short else "outside"
    return "inside" if answer.inside else "not decided: nothing known rules it out"


def measured_sentences(result: InsideResult) -> tuple[str, ...]:
    """What was measured, a line each."""
    data = result.measured
    return (
        f"λ₀ = λ_min(H∞) = {number(data.lambda_min)} ({_proven(data.lambda_floor)}), λ_max = "
        f"{number(data.lambda_max)}",
        f"σ = σ_min([x⊗x]) = {number(data.sigma)} ({_proven(data.sigma_floor)})",
        f"√(yᵀH∞⁻¹y) = {number(data.quadratic**0.5)}, ‖x‖ from {number(data.smallest_norm)} to "
        f"{number(data.largest_norm)}",
    )


def record(result: InsideResult) -> dict[str, Any]:
    """The result as JSON has it."""
    found = result.to_dict()
    for told, answer in zip(found["answers"], result.answers, strict=True):
        told["verdict"] = answer_verdict(answer)
    return found | {"summary": list(sentences(result)), "verdict": list(sentences(result))}


def _how_many(result: InsideResult) -> str:
    undecided = result.count(None)
    rest = f"; {undecided} cannot be decided from what is known" if undecided else ""
    return f"This network is inside {result.count(True)} of {len(result.answers)} theorems{rest}."


def _rows(result: InsideResult) -> list[str]:
    """Rows that repeat others, and rows that were left out."""
    data, told = result.measured, []
    if data.num_repeated:
        repeat = "repeats another" if data.num_repeated == 1 else "repeat others"
        told.append(
            f"{counted(data.num_repeated, 'row')} {repeat}, so λ₀ and σ of all rows are 0 and no theorem "
            "that needs them holds; the numbers are those of the distinct rows."
        )
    if data.num_measured < data.n - data.num_repeated:
        told.append(f"Eigenvalues are those of {data.num_measured:,} of the rows; all rows require no less.")
    return told


def _gaps(result: InsideResult) -> list[str]:
    """The smallest and the largest gap, and what that means."""
    missed = sorted((each for each in result.answers if each.log10_short), key=lambda each: each.log10_short)
    if not missed:
        return []
    told = [
        f"The {size} gap is that of {answer.paper}, {answer.place}: {_furthest(answer).sentence}"
        for size, answer in zip(("smallest", "largest"), dict.fromkeys((missed[0], missed[-1])), strict=False)
    ]
    if missed[-1].log10_short > ASTRONOMICAL:
        told.append(
            "That is astronomical: no machine will hold such a network or take that many steps. Theorems "
            "give sufficient conditions; smaller networks may well do the same, but that is not proven."
        )
    return told


def _furthest(answer: Answer) -> Demand:
    return max(answer.demands, key=lambda demand: demand.log10_short or 0.0)


def _constants() -> str:
    return (
        f"Constants that the papers hide are taken as 1, and c of Algorithm 1 as {C_PGD:g}, so factors are "
        "orders of magnitude."
    )


def _proven(floor: float) -> str:
    return f"proven: at least {number(floor)}" if floor > 0 else "not proven"
