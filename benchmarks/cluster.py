"""Products with a Gram matrix on two worker processes of Dask, against products in one process."""

import tempfile
import time
from pathlib import Path
from statistics import median

import psutil
import torch
from distributed import LocalCluster
from torch import Tensor

from widenet.base.threads import one_thread
from widenet.data import load
from widenet.kernels.names import kernel_by_name
from widenet.runs.cluster import joined
from widenet.spectrum.distributed import DistributedGram, RowsFile
from widenet.spectrum.gram import Gram, TiledGram

ROWS = 10_000
ROUNDS = 8
PRODUCTS = 5  # of a round

Costs = tuple[float, float, float]  # CPU, time, bytes sent


def run() -> dict[str, dict[str, float]]:
    """Both precisions of the tiles, and two widths of the vectors, which are in float64."""
    torch.set_num_threads(2)
    X, kernel = load("mnist").X[:ROWS], kernel_by_name("relu2-hidden")
    found = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        joined(two) as place,
    ):
        assert place is not None
        rows = RowsFile.write(Path(folder) / "rows.npy", X)
        for dtype in (torch.float64, torch.float32):
            here = TiledGram(kernel, X, keep_bytes=8 * ROWS**2, dtype=dtype)
            there = DistributedGram(place, kernel, X, rows, dtype=dtype)
            for p in (16, 32):
                V = torch.randn(ROWS, p, dtype=torch.float64, generator=torch.Generator().manual_seed(p))
                found[f"{dtype}, {p} vectors"] = _measured(here, there, V)
    return found


def _measured(here: Gram, there: Gram, V: Tensor) -> dict[str, float]:
    """Medians over rounds that alternate, so that other work slows all alike.

    Cores that share a part of the processor compute more slowly side by side, whoever divides the work: what
    Dask adds is told by this process with as many threads.
    """
    here.matmul(V), there.matmul(V)  # make the tiles, and the connections
    rounds = [_round(here, there, V) for _ in range(ROUNDS)]
    return {
        "CPU of a product on one thread, ms": 1e3 * median(one[0] for one, _, _ in rounds),
        "CPU on two threads over it": median(two[0] / one[0] for one, two, _ in rounds),
        "CPU on two workers over it": median(far[0] / one[0] for one, _, far in rounds),
        "CPU on two workers over that on two threads": median(far[0] / two[0] for _, two, far in rounds),
        "time on two threads over that on one": median(two[1] / one[1] for one, two, _ in rounds),
        "time on two workers over that on one thread": median(far[1] / one[1] for one, _, far in rounds),
        "MB on the loopback for a product": median(far[2] for _, _, far in rounds) / 1e6,
    }


def _round(here: Gram, there: Gram, V: Tensor) -> tuple[Costs, Costs, Costs]:
    with one_thread():
        alone = _costs(here, V)
    return alone, _costs(here, V), _costs(there, V)


def _costs(gram: Gram, V: Tensor) -> Costs:
    """CPU seconds of all processes, seconds of the clock, and bytes sent over the loopback, of a product."""
    before = _counters()
    for _ in range(PRODUCTS):
        gram.matmul(V)
    cpu, clock, sent = ((now - then) / PRODUCTS for now, then in zip(_counters(), before, strict=True))
    return cpu, clock, sent


def _counters() -> Costs:
    """The CPU of this process, which is also the scheduler's, and of its children; the clock; bytes sent."""
    this = psutil.Process()
    processes = (this, *this.children(recursive=True))
    cpu = sum(sum(each.cpu_times()[:2]) for each in processes)
    return cpu, time.perf_counter(), psutil.net_io_counters(pernic=True)["lo"].bytes_sent


if __name__ == "__main__":
    for title, record in run().items():
        print(title, *(f"{key}: {value:.4g}" for key, value in record.items()), sep="\n  ")
