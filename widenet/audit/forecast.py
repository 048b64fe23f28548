"""What an audit will cost, said before anything large is allocated."""

import torch
from torch import Tensor

from widenet.audit.findings import GramPlan, Held
from widenet.audit.spectral import NUM_PROBES, SOLVED_COLUMNS
from widenet.audit.train import training_seconds
from widenet.base.errors import InputError
from widenet.base.memory import BASE_BYTES, USABLE_SHARE
from widenet.base.threads import threads
from widenet.kernels.kernel import Kernel
from widenet.kernels.names import kernel_by_name
from widenet.predict.choose import CHOICE_ROWS, KERNELS
from widenet.predict.landmarks import BLOCK
from widenet.runs.device import CPU, usable_on
from widenet.spectrum.compact import COMPACT_SHARE
from widenet.spectrum.panels import are_compact, held_bytes
from widenet.study.forecast import Forecast
from widenet.study.speed import Speed, measure_speed, seconds_of

DENSE_ROWS = 14_000  # a factorisation of more rows takes longer than products with tiles
NUM_VECTORS = 2400  # float64 vectors of length n held at a time: a Krylov basis, or a preconditioner's making
# Block products of an audit by tiles at so many rows, of the spectrum and of the solves with a ridge.
# More rows take more, because their eigenvalues lie farther apart.
NUM_PRODUCTS, PRODUCT_ROWS, PRODUCT_GROWTH = 92, 60_000, 0.4
OTHER_SECONDS = 10  # of the choice of a kernel, and of learning curves
ROW_OPERATIONS = 6e7  # for each row: to find the nearest ones, and to keep the basis orthogonal
EFFICIENCY = 0.65  # of a step with few columns, all but its product included, relative to square matrices
# Of labels judged by landmarks, for each row: copies of its inputs and of its targets that are held at a time
# (sorted, as points, as their opposites; likelihoods of its label), bytes of all else, and seconds.
ROW_COPIES, TARGET_COPIES, ROW_BYTES = 5, 16, 2000
ROW_SECONDS, CLASS_SECONDS = 4e-5, 1.5e-5
PILOT_ROWS = 512  # of the kernel tiles that are timed
PILOT_COLUMNS = 32


def entry_rate(kernel: Kernel, device: torch.device) -> float:
    """Kernel values from cosines, entries a second, by timing a tile on each thread, as panels make them."""
    rows = pilot_rows().to(device)
    if device != CPU:
        return PILOT_ROWS**2 / seconds_of(lambda: kernel.tile(rows, rows))
    together = torch.get_num_threads()
    with threads() as (pool, _):
        seconds = seconds_of(lambda: list(pool.map(lambda _: kernel.tile(rows, rows), range(together))))
    return together * PILOT_ROWS**2 / seconds


def pilot_rows() -> Tensor:
    """Rows of norm 1 that are far apart, as people's are: pairs that are close take far longer."""
    angles = torch.arange(PILOT_ROWS * PILOT_COLUMNS, dtype=torch.float64).square_()
    return torch.nn.functional.normalize(angles.cos_().view(PILOT_ROWS, PILOT_COLUMNS), dim=1)


def forecast_audit(
    n: int,
    d: int,
    num_columns: int,
    kernel: Kernel,
    usable: int | None = None,
    trained_width: int = 0,
    device: torch.device = CPU,
) -> tuple[Forecast, GramPlan]:
    """Choose how the Gram matrix is held, and say what that costs; refuse what fits neither way.

    Args:
        n: Rows.
        d: Columns of the prepared inputs.
        num_columns: Columns of the targets.
        kernel: The audit's kernel.
        usable: Bytes of memory for all that the process holds; asked from the system by default.
        trained_width: Neurons of the network that is trained besides; 0 where none is.
        device: Where the matrix is held; what is proved of it is computed on the CPU.
    """
    usable = _usable(n, d, device) if usable is None else usable
    inputs = BASE_BYTES + 8 * n * (2 * d + 8 * num_columns)
    dense = inputs + 3 * 8 * n * n
    speed, entries = measure_speed(device), entry_rate(kernel, device)
    proving = speed if device == CPU else measure_speed()
    training = training_seconds(n, d, num_columns, trained_width, speed)
    if n <= DENSE_ROWS and dense <= usable:
        seconds = _dense_seconds(n, d, speed, proving, entries) + training
        return Forecast(seconds, dense), GramPlan(Held.DENSE, 8 * n * n)
    least = inputs + 8 * n * (NUM_VECTORS + 60 * num_columns)
    if least > usable:
        raise InputError(
            f"An audit of {n:,} rows and {d:,} columns needs at least {least / 2**30:,.1f} GiB even without "
            f"holding the kernel, but only {usable / 2**30:,.1f} GiB can be used: audit a sample with `rows`."
        )
    needed, room = held_bytes(n, torch.float32), usable - least
    if are_compact(n, torch.float32, room):
        needed = int(COMPACT_SHARE * needed)
    kept = min(needed, room)
    seconds = _tiled_seconds(n, d, num_columns, kept / needed, speed, proving, entries) + training
    plan = GramPlan(Held.PACKED if kept == needed else Held.TILED, kept)
    return Forecast(seconds, least + kept), plan


def forecast_landmarks(
    n: int,
    d: int,
    num_columns: int,
    num_landmarks: int,
    usable: int | None = None,
    device: torch.device = CPU,
) -> Forecast:
    """What it costs to judge all rows by landmarks; refuse what does not fit.

    Args:
        n: Rows.
        d: Columns of the prepared inputs.
        num_columns: Columns of the targets.
        num_landmarks: Rows that stand for all.
        usable: Bytes of memory for all that the process holds; asked from the system by default.
        device: Where kernel values are computed.
    """
    usable = _usable(n, d, device) if usable is None else usable
    m = min(n, num_landmarks)
    held = BASE_BYTES + n * (8 * (ROW_COPIES * d + TARGET_COPIES * num_columns) + ROW_BYTES)
    needed = held + 8 * m * (6 * m + 3 * BLOCK)  # the factors of two matrices, and blocks of features
    if needed > usable:
        raise InputError(
            f"To judge {n:,} rows of {d:,} columns by {m:,} landmarks takes {needed / 2**30:,.1f} GiB, but "
            f"only {usable / 2**30:,.1f} GiB can be used: take fewer `landmarks`, or none and audit a sample "
            "with `rows`."
        )
    speed, entries = measure_speed(device), entry_rate(kernel_by_name(KERNELS[-1]), device)
    values = 2 * n * m * (2 * d / speed.double + 1 / entries)  # in two passes
    products = 3 * 2 * n * m * m / speed.double
    factors = 4 * m**3 / speed.double
    seconds = values + products + factors + n * (ROW_SECONDS + CLASS_SECONDS * num_columns)
    return Forecast(seconds, needed)


def _usable(n: int, d: int, device: torch.device) -> int:
    """What can be planned with: on the CPU also of what is there already, the interpreter and the rows."""
    there = BASE_BYTES + 8 * n * d if device == CPU else 0
    return usable_on(device) + int(USABLE_SHARE * there)


def _dense_seconds(n: int, d: int, speed: Speed, proving: Speed, entries: float) -> float:
    """Two Gram matrices, two factorisations and their roots, about a hundred products, bounds, the model."""
    grams = 2 * (n * n * d / speed.double + n * n / 2 / entries)
    factorisations = 2 * (n**3 + n**3 / 3) / speed.double
    products = 100 * 8 * n * n / speed.bytes
    choice = 4 * 10 * min(n, CHOICE_ROWS) ** 3 / speed.single  # eigendecompositions
    subsets = 5 * min(n, 4096) ** 3 / speed.double  # the learning curves
    # Rows are split for the bounds, so that the rounding of their products is known.
    bounds = 4 * n * n * d / proving.double
    return 2 + grams + factorisations + products + choice + subsets + bounds


def _tiled_seconds(
    n: int, d: int, num_columns: int, kept: float, speed: Speed, proving: Speed, entries: float
) -> float:
    """The neighbours, two kernels in float32, products with both, and the one that certifies, in float64.

    Values take half as long in float32; the chosen kernel is deeper, and its values take twice as long.
    """
    cosines, values = n * n * d, n * n / 2 / entries
    first = cosines / speed.single + values / 2
    chosen = first + values / 2
    operations = 2 * n * n * max(SOLVED_COLUMNS, NUM_PROBES + num_columns)
    product = max(operations / (EFFICIENCY * speed.single), 2 * n * n / speed.bytes)
    recomputed = (1 - kept) * (first + chosen) / 2
    proved = cosines / proving.double + values
    certificate = proved + operations / (EFFICIENCY * proving.double)
    neighbours = cosines / proving.single + values
    products = NUM_PRODUCTS * (n / PRODUCT_ROWS) ** PRODUCT_GROWTH * (product + recomputed)
    others = OTHER_SECONDS + n * ROW_OPERATIONS / speed.double
    return others + neighbours + first + certificate + chosen + products
