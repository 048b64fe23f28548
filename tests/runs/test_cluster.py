"""Trials on a Dask cluster: the same records, rows sent once, deaths survived, and what is refused."""

import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
import torch
from distributed import Client, Security

from widenet.base.errors import ClusterLostError, InputError, WidenetError, WorkerLostError
from widenet.base.progress import Progress
from widenet.data import load
from widenet.networks.names import network_by_name
from widenet.runs import Store, Trial, TrialResult, address, cluster, versions
from widenet.runs.address import ClusterAddress
from widenet.runs.cluster import joined
from widenet.runs.records import pack_json
from widenet.runs.shipment import Shipment, ShippedWork
from widenet.runs.trial import Failure
from widenet.runs.trials import run_trials
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep

pytestmark = pytest.mark.xdist_group("cluster")
TRIALS = [[Trial({"seed": seed}, "code", "data")] for seed in range(12)]


@dataclass
class Rows:
    """Work on rows that leaves a line wherever these are unpacked."""

    rows: np.ndarray
    log: Path
    seconds: float = 0.0

    def __setstate__(self, state):
        self.__dict__.update(state)
        with self.log.open("a") as file:
            file.write(f"{os.getpid()}\n")

    def __call__(self, settings):
        return [TrialResult(self.record(own["seed"])) for own in settings]

    def record(self, seed):
        time.sleep(self.seconds)
        rng = np.random.default_rng(seed)
        product = torch.from_numpy(self.rows) @ torch.from_numpy(rng.normal(size=self.rows.shape[1]))
        return {"sum": float(product.exp().sum()), "threads": torch.get_num_threads()}


def test_a_client_that_is_opened_here_reaches_workers_itself_and_is_closed(dask):
    with joined(dask) as place:
        client = place.client
        assert client.direct_to_workers
    assert client.status == "closed"


def test_a_client_that_was_open_stays_as_it_was(dask):
    with Client(dask, direct_to_workers=False) as client:
        for given in (dask, client):
            with joined(given) as place:
                assert place.client is client
            assert (client.status, client.direct_to_workers) == ("running", False)


@pytest.fixture
def work(tmp_path):
    return Rows(np.random.default_rng(0).normal(size=(3000, 20)), tmp_path / "unpacked.log")


def unpacked(work):
    return work.log.read_text().split() if work.log.exists() else []


def on(place, work, trials=TRIALS, **options):
    """What came of trials on a cluster that was joined."""
    with place.workers_for(work) as workers:
        return run_trials(trials, workers.work, executor=workers.executor, **options)


def here(work):
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [work.record(seed) for seed in range(len(TRIALS))]
    finally:
        torch.set_num_threads(num_threads)


def test_records_are_those_of_this_process_and_rows_are_sent_once(dask, work):
    expected = here(work)
    with joined(dask.scheduler_address) as place:
        with place.workers_for(work) as workers:
            assert len(cloudpickle.dumps(workers.work)) < 1000 < work.rows.nbytes / 100
            found = run_trials(TRIALS, workers.work, executor=workers.executor)
        pids = {str(pid) for pid in place.client.run(os.getpid).values()}
        assert [each.record for each in found] == expected
        assert {each["threads"] for each in expected} == {1}
        assert 1 <= len(unpacked(work)) <= 2
        assert set(unpacked(work)) <= pids
        assert len(set(unpacked(work))) == len(unpacked(work))
        names = place.client.run(lambda dask_worker: list(dask_worker.plugins))
        assert not any(name.startswith("widenet") for own in names.values() for name in own)


def fail(settings):
    raise ValueError(f"seed {settings[0]['seed']} is bad")


def test_an_error_of_the_work_is_its_own(dask):
    with joined(dask) as place:
        found = on(place, fail, TRIALS[:2])
    assert [str(each.error) for each in found] == ["seed 0 is bad", "seed 1 is bad"]
    assert all(isinstance(each, Failure) and isinstance(each.error, ValueError) for each in found)


@pytest.mark.slow
def test_a_client_that_is_given_stays_open(dask, work):
    with Client(dask.scheduler_address, set_as_default=False) as client:
        with joined(client) as place:
            assert place.client is client
            assert len(on(place, work, TRIALS[:1])) == 1
            with joined(place) as same:
                assert same is place
        assert client.status == "running"
    with joined(None) as nothing:
        assert nothing is None


def test_other_code_is_refused_before_any_trial(dask, monkeypatch):
    monkeypatch.setattr(versions, "package_version", lambda: "9.9 of tomorrow")
    with pytest.raises(InputError) as refused, joined(dask.scheduler_address):
        pass
    assert "has widenet 0.1.0" in str(refused.value)
    assert "not widenet 9.9 of tomorrow: install the same there" in str(refused.value)
    assert str(refused.value).count(".  ") == 0


def test_a_worker_that_joins_later_with_other_code_fails_its_trials(dask, work):
    with joined(dask) as place:
        place.client.register_plugin(Shipment(cloudpickle.dumps(work)), name="by-others")
        foreign = ShippedWork("by-others", ("widenet 9.9",))
        try:
            (found,) = run_trials(TRIALS[:1], foreign, executor=cluster._Trials(place.client))
        finally:
            place.client.unregister_worker_plugin("by-others")
    assert isinstance(found, Failure)
    assert isinstance(found.error, InputError)
    assert "install the same there" in str(found.error)
    assert unpacked(work) == []


def test_a_worker_without_a_needed_package_says_so():
    sent = b"\x80\x04\x8c\x08notthere\x94\x8c\x01f\x94\x93\x94."
    shipment = Shipment(sent)
    shipment.setup(None)
    with pytest.raises(InputError, match=r"No module named 'notthere'\): install it there"):
        shipment.work()


def test_progress_tells_how_many_workers_there_are(dask):
    told = []

    class Heard(Progress):
        def __call__(self, stage, done=None, total=None, detail=""):
            told.append((stage, done, total, detail))

    dataset, network = load("resnet-cube:n=40,d=8"), network_by_name("3resnet-all", 8)
    sweep(network, dataset, [TrainingSettings(epochs=1)], cluster=dask, progress=Heard())
    assert told[-1] == ("trials", 1, 1, "on 2 workers")


def test_a_sweep_on_a_cluster_is_that_of_this_process(dask, tmp_path):
    dataset, network = load("resnet-cube:n=80,d=8"), network_by_name("3resnet-all", 20)
    grid = [
        TrainingSettings(batch=20, epochs=3, rate=rate, seed=seed)
        for seed in (0, 1)
        for rate in (0.01, 0.1, 1e6)
    ]

    def table(runs):
        return [pack_json({**run.to_dict(), "seconds": 0}) for run in runs]  # where nan equals nan

    serial = sweep(network, dataset, grid, test=dataset, keep_weights=True)
    with Store(tmp_path / "runs.db") as store:
        spread = sweep(network, dataset, grid, test=dataset, keep_weights=True, cluster=dask, store=store)
        again = sweep(network, dataset, grid, test=dataset, keep_weights=True, store=store)
    assert table(spread) == table(serial) == table(again)
    for one, other in zip(spread[:2], serial[:2], strict=True):  # which did not diverge
        assert other.weights
        assert all(torch.equal(one.weights[name], weights) for name, weights in other.weights.items())


@pytest.mark.parametrize("refused", ["tcp://10.1.2.3:8786", "10.1.2.3:8786", "tcp://example.com:8786"])
def test_plain_addresses_beyond_this_machine_need_a_word(refused):
    with pytest.raises(InputError, match=r"neither on this machine nor encrypted.*`insecure`"):
        ClusterAddress(refused).check()
    ClusterAddress(refused, insecure=True).check()


@pytest.mark.parametrize(
    "allowed", ["tcp://127.0.0.1:8786", "localhost:1", "tcp://[::1]:8786", "tcp://127.3.2.1:1"]
)
def test_this_machine_is_safe(allowed):
    ClusterAddress(allowed).check()


class OpenClient:
    """A client of a scheduler or a worker that listens where others can reach it."""

    def __init__(self, scheduler, worker, code=None):
        self.scheduler, self.worker, self.code = scheduler, worker, code

    def wait_for_workers(self, num, timeout):
        return None

    def scheduler_info(self):
        return {"address": self.scheduler}

    def run(self, function, on_error):
        offer = (self.code or cluster.code_here(), cluster.Capacity(1, 1))
        return {self.worker: offer if function is cluster._offer else cluster.code_here()}


HERE, OPEN = "tcp://127.0.0.1:8786", "tcp://192.0.2.2:8786"


@pytest.mark.parametrize("addresses", [(OPEN, HERE), (HERE, OPEN)])
def test_a_cluster_that_others_can_reach_is_not_this_machine_alone(addresses):
    """Reached through the loopback address, as one that listens on all interfaces is, or through a tunnel."""
    assert ClusterAddress(HERE).must_stay_here
    assert not ClusterAddress(HERE, insecure=True).must_stay_here
    assert not ClusterAddress("tls://192.0.2.2:8786").must_stay_here
    with pytest.raises(
        InputError, match=r"192\.0\.2\.2:8786' of the cluster can be reached from other machines"
    ):
        cluster.Cluster(OpenClient(*addresses), stays_here=True).check()
    cluster.Cluster(OpenClient(*addresses)).check()
    cluster.Cluster(OpenClient(HERE, HERE), stays_here=True).check()


def test_a_worker_that_joins_later_with_other_code_gets_no_panels():
    place = cluster.Cluster(OpenClient(HERE, HERE, code=("widenet 0.0", "torch 1", "Python 2.7")))
    place.check()
    with pytest.raises(InputError, match="install the same there"):
        place.capacities()
    late = cluster.Cluster(OpenClient(HERE, OPEN), stays_here=True)
    with pytest.raises(InputError, match="can be reached from other machines"):
        late.capacities()


@pytest.mark.parametrize(
    "wrong", ["", "8786", "ws://127.0.0.1:8786", "tcp://127.0.0.1", "tcp://host:port", "tls://:1"]
)
def test_what_is_no_address_is_refused(wrong):
    with pytest.raises(InputError, match="must be the address of a scheduler"):
        ClusterAddress(wrong).check()


def test_encrypted_addresses_need_their_files(tmp_path):
    with pytest.raises(InputError, match="needs `ca`, a file in PEM"):
        ClusterAddress("tls://10.1.2.3:8786").check()
    (tmp_path / "ca.pem").touch()
    with pytest.raises(InputError, match=r"`cert` is .* no such file"):
        ClusterAddress("tls://h:1", ca=tmp_path / "ca.pem", cert="absent.pem", key="absent.pem").check()


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(address, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install widenet\[cluster\]"), joined("tcp://127.0.0.1:1"):
        pass


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setattr(address, "CONNECT", 0.5)
    with (
        pytest.raises(InputError, match=r"No scheduler answers at 'tcp://127\.0\.0\.1:1'"),
        joined("tcp://127.0.0.1:1"),
    ):
        pass


def test_a_client_that_was_closed_meanwhile_is_told(dask):
    client = Client(dask.scheduler_address)
    place = cluster.Cluster(client)
    held = place.place(next(iter(place.capacities())), Counter)
    assert held.call("total").result() == 0
    client.close()
    for ask in (place.num_threads, place.capacities, held.call("total").result):
        with pytest.raises(ClusterLostError, match="start the scheduler"):
            ask()


def test_what_a_lost_scheduler_knew_is_lost(dask):
    """Futures are cancelled then, and the scheduler may be back before anybody looks."""
    with Client(dask.scheduler_address) as client:
        place = cluster.Cluster(client)
        held = place.place(next(iter(place.capacities())), Counter)
        held._future.cancel()
        with pytest.raises(WorkerLostError):
            held.call("total").result()


def test_a_cluster_without_workers_is_told(make_dask, monkeypatch):
    monkeypatch.setattr(cluster, "WAIT", 0.2)
    with (
        make_dask(0) as empty,
        pytest.raises(InputError, match="no worker for 0 seconds: start one"),
        joined(empty.scheduler_address),
    ):
        pass


@pytest.mark.slow
def test_an_encrypted_cluster_takes_who_shows_a_certificate(work, make_dask, tmp_path, monkeypatch):
    security = Security.temporary()
    files = {name: tmp_path / f"{name}.pem" for name in ("ca", "cert", "key")}
    for name, text in (
        ("ca", security.tls_ca_file),
        ("cert", security.tls_client_cert),
        ("key", security.tls_client_key),
    ):
        files[name].write_text(text)
    with make_dask(1, security=security) as encrypted:
        assert encrypted.scheduler_address.startswith("tls://")
        with joined(ClusterAddress(encrypted.scheduler_address, **files)) as place:
            assert [each.record for each in on(place, work, TRIALS[:2])] == here(work)[:2]
        files["ca"].write_text("nothing of the kind")
        monkeypatch.setattr(address, "CONNECT", 0.5)
        with (
            pytest.raises(InputError, match="No scheduler answers"),
            joined(ClusterAddress(encrypted.scheduler_address, **files)),
        ):
            pass


@pytest.mark.slow
def test_one_of_four_workers_is_killed_and_all_trials_end(work, make_dask, tmp_path):
    """Its trials run elsewhere, also on the worker that takes its place, which is sent the rows, too."""
    expected = here(work)
    work.seconds = 0.4
    with make_dask(4) as four, joined(four.scheduler_address) as place:
        pids = place.client.run(os.getpid)
        killed = []

        class Kills(Progress):
            def __call__(self, stage, done=None, total=None, detail=""):
                if done and not killed:
                    killed.append(next(iter(pids.values())))
                    os.kill(killed[0], 9)

        trials = [[Trial({"seed": seed}, "code", "data")] for seed in range(12)] * 1
        with Store(tmp_path / "runs.db") as store:
            found = on(place, work, trials, store=store, progress=Kills())
            assert [store.get(trial).record for (trial,) in trials] == expected
    assert [each.record for each in found] == expected
    assert killed
    assert len(set(unpacked(work))) == len(unpacked(work)) <= 5


def started(*arguments):
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", *map(str, arguments)], **options)


@pytest.mark.slow
def test_a_scheduler_that_is_killed_ends_the_run_in_a_sentence(work, tmp_path, unused_port):
    at = f"tcp://127.0.0.1:{unused_port}"
    scheduler = started("distributed.cli.dask_scheduler", "--host", at, "--no-dashboard")
    worker = started("distributed.cli.dask_worker", at, "--nthreads", 1, "--no-dashboard", "--no-nanny")
    work.seconds = 0.3

    class Kills(Progress):
        def __call__(self, stage, done=None, total=None, detail=""):
            if done == 2:
                scheduler.kill()

    try:
        with Store(tmp_path / "runs.db") as store:
            begin = time.monotonic()
            with pytest.raises(ClusterLostError, match="goes on from its store"), joined(at) as place:
                on(place, work, store=store, progress=Kills())
            print(f"told after {time.monotonic() - begin:.1f} s")
            kept = [trial for (trial,) in TRIALS if store.get(trial) is not None]
            assert 2 <= len(kept) < len(TRIALS)
            found = run_trials(TRIALS, work, store=store)
    finally:
        scheduler.kill()
        worker.kill()
        scheduler.wait()
        worker.wait()
    work.seconds = 0.0
    assert [each.record["sum"] for each in found] == [each["sum"] for each in here(work)]


def leave(settings):
    os._exit(1)  # as the system does to a process that takes too much memory


@pytest.mark.slow
def test_a_trial_that_ends_every_worker_fails_in_a_sentence(make_dask):
    with make_dask(1) as one, joined(one.scheduler_address) as place:
        (found,) = on(place, leave, TRIALS[:1])
    assert isinstance(found, Failure)
    assert isinstance(found.error, WidenetError)
    assert "ended before its work was done" in str(found.error)
