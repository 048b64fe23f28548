"""What it will cost to measure a data set for the theorems."""

from widenet.base.memory import BASE_BYTES, require_memory
from widenet.inside.measured import MOST_ROWS
from widenet.spectrum.cholesky import NUM_SOLVES
from widenet.study.forecast import Forecast
from widenet.study.speed import measure_speed

NUM_FACTORS = 4  # Cholesky factorisations: two for λ₀ and two for σ, each with up to `NUM_SOLVES` solves
PAIR_BYTES = 400  # what the kernel value of a pair of rows, and its place among the cosines, cost to make
ROW_BYTES = 40 * 8  # read for an input in the search for repeated rows
OVERHEAD = 0.3  # seconds that do not depend on the size


def forecast_inside(n: int, d: int) -> Forecast:
    """Time and memory for n rows of d columns; more than there is, is refused.

    What costs n³ is a factorisation of at most `MOST_ROWS` rows: the work of a product of the same size,
    since its blocks are narrow.
    """
    m, speed = min(n, MOST_ROWS), measure_speed()
    factor = m**3 / speed.double + NUM_SOLVES * 8 * m**2 / speed.bytes
    pairs = 2 * m**2 * d / speed.double + PAIR_BYTES * m**2 / speed.bytes
    forecast = Forecast(
        OVERHEAD + NUM_FACTORS * factor + pairs + ROW_BYTES * n * d / speed.bytes,
        BASE_BYTES + 8 * (2 * m**2 + 4 * n * d),
    )
    require_memory(8 * (2 * m**2 + 2 * n * d), f"Measuring {n:,} rows and {d:,} columns")
    return forecast
