"""A theorem: Markov's inequality, as a quantity with its range and its source."""

from widenet.theory.entry import Argument, Entry
from widenet.theory.quantity import Quantity, Source


def markov(mean: float, level: float) -> Quantity:
    """P(X ≥ a) ≤ E X / a for X ≥ 0."""
    value = mean / level
    return Quantity(
        name="toy-markov",
        value=value,
        formula="E X / a",
        filled=f"{mean:g} / {level:g} = {value:g}",
        terms={"E X": mean, "a": level},
        applies=True,
        why=("X is not negative.",),
        source=Source("toy", "Markov's inequality"),
    )


QUANTITIES = (
    Entry(
        "toy-markov",
        markov,
        {
            "mean": Argument("mean E X", low=0.0),
            "level": Argument("level a", low=0.0, strict=True),
        },
        "How often a number that is not negative exceeds a level",
    ),
)
