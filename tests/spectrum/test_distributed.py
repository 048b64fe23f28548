"""Gram matrices that workers hold: the same products, whoever holds what, and whoever dies."""

import gc
import os
import time

import psutil
import pytest
import torch

from widenet.base.errors import ClusterLostError, InputError, WidenetError, WorkerLostError
from widenet.base.memory import BASE_BYTES
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.runs.cluster import joined
from widenet.spectrum import distributed
from widenet.spectrum.distributed import (
    Capacity,
    DistributedGram,
    RowsFile,
)
from widenet.spectrum.gram import DenseGram, TiledGram
from widenet.spectrum.panels import Tiles, held_bytes, panels_of
from widenet.testing import unit_rows

KERNEL = kernel_by_name("relu2-hidden")
N, TILE = 130, 16
PLENTY = 10**9


class FakeHosts:
    """Workers in this process, of which some die at their k-th call."""

    def __init__(self, num_workers=2, room=PLENTY, deaths=()):
        self.alive = {f"worker {k}": Capacity(room, 1 + k % 2) for k in range(num_workers)}
        self.deaths = dict(deaths)
        self.placed = []  # worker and object
        self.released = 0

    def capacities(self):
        return dict(self.alive)

    def place(self, worker, make, *arguments):
        self.placed.append((worker, make(*arguments)))
        return FakeRemote(self, *self.placed[-1])


class FakeRemote:
    def __init__(self, hosts, worker, held):
        self.hosts, self.worker, self.held, self.num_calls = hosts, worker, held, 0

    def call(self, method, *arguments):
        self.num_calls += 1
        if self.hosts.deaths.get(self.worker) == self.num_calls:
            self.hosts.alive.pop(self.worker, None)
        return FakePending(self, lambda: getattr(self.held, method)(*arguments))

    def release(self):
        self.hosts.released += 1


class FakePending:
    def __init__(self, remote, begun):
        self.remote, self.begun = remote, begun

    def result(self):
        if self.remote.worker not in self.remote.hosts.alive:
            raise WorkerLostError("gone")
        return self.begun()


@pytest.fixture(name="X")
def make_rows(generator):
    return unit_rows(N, 7, generator=generator)


@pytest.fixture(name="V")
def make_columns(generator):
    return torch.randn(N, 5, generator=generator, dtype=torch.float64)


@pytest.fixture
def rows(X, tmp_path):
    return RowsFile.write(tmp_path / "rows.npy", X)


@pytest.mark.parametrize("num_columns", [0, 1, 5, distributed.COLUMNS + 3])
@pytest.mark.parametrize("num_workers", [1, 3])
def test_products_are_those_of_the_dense_matrix(X, rows, generator, num_columns, num_workers):
    V = torch.randn(N, num_columns, generator=generator, dtype=torch.float64)
    gram = DistributedGram(FakeHosts(num_workers), KERNEL, X, rows, tile=TILE)
    dense = DenseGram(gram_matrix(KERNEL, X))
    torch.testing.assert_close(gram.matmul(V), dense.matmul(V), rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(gram.diag(), dense.diag())
    assert (gram.n, gram.dtype, gram.held()) == (N, torch.float64, None)


def test_single_precision_is_that_of_tiles(X, rows, V):
    gram = DistributedGram(FakeHosts(), KERNEL, X, rows, dtype=torch.float32, tile=TILE)
    tiled = TiledGram(KERNEL, X, keep_bytes=PLENTY, tile=TILE, dtype=torch.float32)
    assert gram.dtype == torch.float32
    assert gram.matmul(V).dtype == torch.float64
    assert torch.equal(gram.matmul(V), tiled.matmul(V))
    assert (gram.matmul(V) - DenseGram(gram_matrix(KERNEL, X)).matmul(V)).abs().max() > 1e-9


def test_what_is_recomputed_is_double_and_not_held(X, rows, V):
    hosts = FakeHosts(room=0)
    gram = DistributedGram(hosts, KERNEL, X, rows, dtype=torch.float32, tile=TILE).recomputed()
    double = DistributedGram(FakeHosts(), KERNEL, X, rows, tile=TILE)
    assert torch.equal(gram.matmul(V), double.matmul(V))
    assert all(not holder.tiles._kept for _, holder in hosts.placed)


def test_numbers_do_not_depend_on_who_holds_what_or_dies(X, rows, V):
    alone = DistributedGram(FakeHosts(1), KERNEL, X, rows, tile=TILE).matmul(V)
    for deaths in ({}, {"worker 0": 1}, {"worker 1": 2}, {"worker 0": 1, "worker 2": 1, "worker 1": 3}):
        hosts = FakeHosts(4, deaths=deaths)
        gram = DistributedGram(hosts, KERNEL, X, rows, tile=TILE)
        for _ in range(4):
            assert torch.equal(gram.matmul(V), alone)
        assert len(hosts.alive) == 4 - len(deaths)


def test_one_that_died_unnoticed_is_noticed_with_the_next(X, rows, V):
    """Worker 1 is found dead when panels of worker 0 look for room, worker 2 when those of worker 1 do."""
    alone = DistributedGram(FakeHosts(1), KERNEL, X, rows, tile=TILE).matmul(V)
    hosts = FakeHosts(4, deaths={"worker 0": 2})
    gram = DistributedGram(hosts, KERNEL, X, rows, tile=TILE)
    gram.matmul(V)
    capacities = hosts.capacities
    hosts.capacities = lambda: hosts.alive.pop("worker 1", None) and capacities()
    assert torch.equal(gram.matmul(V), alone)
    hosts.capacities = lambda: hosts.alive.pop("worker 2", None) and capacities()
    assert torch.equal(gram.matmul(V), alone)
    assert gram._holders.keys() == {"worker 3"}


def test_only_what_was_lost_is_computed_again(X, rows, V, monkeypatch):
    computed = []
    compute = Tiles.compute

    def logged(self, i, j):
        computed.append((i, j))
        return compute(self, i, j)

    monkeypatch.setattr(Tiles, "compute", logged)
    gram = DistributedGram(FakeHosts(2, deaths={"worker 0": 2}), KERNEL, X, rows, tile=TILE)
    gram.matmul(V)
    first = set(computed)
    assert len(first) == len(computed)
    lost = {corner for panel in gram._held_by("worker 0") for corner in panel.corners(TILE)}
    computed.clear()
    gram.matmul(V)
    assert set(computed) == lost < first
    assert len(computed) == len(lost)


def test_no_worker_holds_more_than_its_capacity(X, rows, V):
    needed = held_bytes(N, torch.float64, TILE)
    largest = max(panel.num_entries(N, TILE) for panel in panels_of(N, TILE)) * 8
    hosts = FakeHosts(3, room=needed // 3 + largest)
    gram = DistributedGram(hosts, KERNEL, X, rows, tile=TILE)
    gram.matmul(V)
    held = [sum(8 * tile.numel() for tile in holder.tiles._kept.values()) for _, holder in hosts.placed]
    assert sum(held) == needed
    assert max(held) <= needed // 3 + largest
    hosts = FakeHosts(3, room=needed // 3 - largest)
    with pytest.raises(InputError, match=r"takes .* in panels of .*3 workers may hold .* start more workers"):
        DistributedGram(hosts, KERNEL, X, rows, tile=TILE).matmul(V)


def test_workers_that_always_die_are_told(X, rows, V, monkeypatch):
    hosts = FakeHosts(1, deaths={"worker 0": 1})
    monkeypatch.setattr(hosts, "capacities", lambda: {"worker 0": Capacity(PLENTY, 1)})
    with pytest.raises(WidenetError, match="lost again and again"):
        DistributedGram(hosts, KERNEL, X, rows, tile=TILE).matmul(V)


def test_a_matrix_that_nobody_needs_is_released(X, rows, V):
    hosts = FakeHosts(2)
    gram = DistributedGram(hosts, KERNEL, X, rows, tile=TILE)
    gram.matmul(V)
    assert hosts.released == 0
    del gram
    assert hosts.released == 2


def test_rows_that_cannot_be_read_or_are_others_are_told(X, rows, V, tmp_path):
    gram = DistributedGram(FakeHosts(), KERNEL, X, rows, tile=TILE)
    RowsFile.write(tmp_path / "rows.npy", X.flip(0))
    with pytest.raises(InputError, match=r"found other rows in .*: use a `store` in a folder"):
        gram.matmul(V)
    (tmp_path / "rows.npy").unlink()
    with pytest.raises(InputError, match=r"cannot read .*rows.npy .*: use a `store` in a folder"):
        gram.matmul(V)


def pid_of(place, worker):
    return place.client.run(os.getpid, workers=[worker])[worker]


@pytest.mark.xdist_group("cluster")
def test_real_workers_compute_the_same_and_let_go(dask, X, rows, V):
    here = DistributedGram(FakeHosts(1), KERNEL, X, rows, tile=TILE)
    with joined(dask.scheduler_address) as place:
        assert place.client.direct_to_workers
        gram = DistributedGram(place, KERNEL, X, rows, tile=TILE)
        assert torch.equal(gram.matmul(V), here.matmul(V))
        assert torch.equal(gram.recomputed().matmul(V), here.matmul(V))
        assert len(gram._holders) == 2
        gc.disable()  # what calls of Dask leave in circles would let go of it at some time
        try:
            del gram
            end = time.monotonic() + 60  # of a busy machine; a moment of a free one
            while any(place.client.run(lambda dask_worker: len(dask_worker.state.actors)).values()):
                assert time.monotonic() < end, "workers still hold a matrix that nobody needs"
                time.sleep(0.05)
        finally:
            gc.enable()


@pytest.mark.xdist_group("cluster")
def test_real_workers_tell_what_they_cannot_read(dask, X, rows, V, tmp_path):
    (tmp_path / "rows.npy").unlink()
    with joined(dask) as place, pytest.raises(InputError, match="A worker cannot read"):
        DistributedGram(place, KERNEL, X, rows, tile=TILE).matmul(V)


def set_limit(limit, dask_worker):
    before, dask_worker.memory_manager.memory_limit = dask_worker.memory_manager.memory_limit, limit
    return before


@pytest.mark.xdist_group("cluster")
def test_memory_of_workers_is_not_filled(dask, rows):
    with joined(dask) as place:
        (before, _) = place.client.run(set_limit, 2**30).values()
        try:
            first, _ = place.capacities().values()
            assert first == Capacity(int(0.6 * 2**30) - BASE_BYTES, 1)  # the interpreter counts, too
            with pytest.raises(InputError, match="2 workers may hold"):
                DistributedGram(place, KERNEL, torch.zeros(10_000, 7), rows).matmul(torch.zeros(10_000, 1))
        finally:
            place.client.run(set_limit, before)


@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
@pytest.mark.parametrize("num_workers", [1, 2])
def test_a_worker_killed_in_a_product_changes_no_bit(make_dask, generator, tmp_path, num_workers):
    """Its panels are built by the other, or by the one that takes its place."""
    n = 3000
    X = unit_rows(n, 7, generator=generator)
    V = torch.randn(n, 8, generator=generator, dtype=torch.float64)
    rows = RowsFile.write(tmp_path / "rows.npy", X)
    with make_dask(num_workers) as local, joined(local.scheduler_address) as place:
        gram = DistributedGram(place, KERNEL, X, rows)
        before = gram.matmul(V)
        for moment in ("between products", "within one"):
            victim = next(iter(gram._holders))
            if moment == "between products":
                os.kill(pid_of(place, victim), 9)
            else:
                kill_at_next_call(gram._holders[victim], pid_of(place, victim))
            assert torch.equal(gram.matmul(V), before)
            assert victim not in gram._holders
    assert torch.equal(before, DistributedGram(FakeHosts(1), KERNEL, X, rows).matmul(V))


def kill_at_next_call(remote, pid):
    """Kill the worker that holds an object as soon as its product has begun."""
    begin = remote.call

    def call(*arguments):
        begun = begin(*arguments)
        os.kill(pid, 9)
        return begun

    remote.call = call


@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
def test_a_scheduler_that_is_gone_is_told(make_dask, X, rows, V):
    with make_dask(1) as local, joined(local.scheduler_address) as place:
        gram = DistributedGram(place, KERNEL, X, rows, tile=TILE)
        gram.matmul(V)
        local.close()
        with pytest.raises(ClusterLostError, match="goes on from its store"):
            gram.matmul(V)
    assert not [each for each in psutil.Process().children() if each.status() == "zombie"]
