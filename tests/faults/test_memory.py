"""Memory: which limits are seen, and what happens where it runs out all the same."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from widenet.base.errors import InputError, OutOfMemoryError
from widenet.base.limits import Places, free_bytes
from widenet.base.memory import in_halves, is_out_of_memory, memory_told
from widenet.runs import Failure, Store, Trial, TrialResult, run_trials

GIB = 2**30
HUGE = 9223372036854771712  # what version 1 writes where there is no limit


def places(tmp_path: Path, groups: str, files: dict[str, str]) -> Places:
    """A system with 64 GiB, whose process is in these control groups."""
    for name, text in {"proc/self/cgroup": groups, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "proc" / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable:   {64 * 2**20} kB\n")
    return Places(tmp_path / "proc", tmp_path / "cgroup")


def version_2(folder: str, limit: object, used: int, cache: int = 0) -> dict[str, str]:
    return {
        f"cgroup{folder}/memory.max": f"{limit}\n",
        f"cgroup{folder}/memory.current": f"{used}\n",
        f"cgroup{folder}/memory.stat": f"anon 5\ninactive_file {cache}\nactive_file 7\n",
    }


def version_1(folder: str, limit: int, used: int, cache: int = 0) -> dict[str, str]:
    return {
        f"cgroup/memory{folder}/memory.limit_in_bytes": f"{limit}\n",
        f"cgroup/memory{folder}/memory.usage_in_bytes": f"{used}\n",
        f"cgroup/memory{folder}/memory.stat": f"inactive_file 1\ntotal_inactive_file {cache}\n",
    }


def test_the_tightest_of_nested_groups_counts(tmp_path):
    files = (
        version_2("", "max", 0)
        | version_2("/a", 4 * GIB, 3 * GIB)
        | version_2("/a/b", "max", GIB)
        | version_2("/a/b/c", 9 * GIB, GIB)
        | version_2("/other", GIB, GIB)
    )
    assert free_bytes(places(tmp_path, "0::/a/b/c\n", files)) == GIB


def test_page_cache_that_can_be_dropped_is_free(tmp_path):
    files = version_2("/job", 4 * GIB, 4 * GIB, cache=3 * GIB)
    assert free_bytes(places(tmp_path, "0::/job\n", files)) == 3 * GIB


def test_limits_of_version_1_and_its_huge_numbers(tmp_path):
    files = version_1("", HUGE, 9 * GIB) | version_1("/batch/7", 8 * GIB, 7 * GIB, cache=2 * GIB)
    groups = "5:cpu,cpuacct:/x\n4:memory:/batch/7\n0::/\n"
    system = places(tmp_path, groups, files)
    assert free_bytes(system) == 3 * GIB
    (tmp_path / "proc" / "meminfo").unlink()
    (tmp_path / "proc" / "self" / "cgroup").write_text("4:memory:/\n")
    assert (free_bytes(system) or 0) < HUGE // 2  # None, unless this process has limits of its own


def test_a_container_that_sees_only_its_own_root(tmp_path):
    # Without a namespace of its own, the path is that on the host, and the files are at the root.
    files = version_1("", 2 * GIB, GIB)
    assert free_bytes(places(tmp_path, "4:memory:/docker/0123abcd\n", files)) == GIB
    files = version_2("", 2 * GIB, GIB // 2)
    assert free_bytes(places(tmp_path / "upward", "0::/../../elsewhere\n", files)) == 3 * GIB // 2


def test_both_versions_side_by_side(tmp_path):
    files = version_2("/unified/s", 3 * GIB, 2 * GIB) | version_1("/s", 9 * GIB, GIB)
    assert free_bytes(places(tmp_path, "4:memory:/s\n0::/s\n", files)) == GIB


def test_files_that_make_no_sense_are_no_limit(tmp_path):
    files = {"cgroup/a/memory.max": "", "cgroup/a/memory.current": "\xff"}
    assert free_bytes(places(tmp_path, "0::/a\nnonsense\n::\n", files)) == 64 * GIB


def limited(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python, in which leave(N) limits the process to N bytes beyond what it has."""
    begin = """
        import resource
        from pathlib import Path
        from widenet.base.limits import _amount

        def leave(num_bytes, limit=resource.RLIMIT_AS):
            size = "VmSize:" if limit == resource.RLIMIT_AS else "VmData:"
            most = _amount(Path("/proc/self/status"), size) + num_bytes
            resource.setrlimit(limit, (most, resource.RLIM_INFINITY))
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    script = textwrap.dedent(begin) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=environment
    )


linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")


@linux
def test_limits_of_the_process_itself():
    code = """
        from widenet.base.memory import available_bytes
        leave(2**27, resource.RLIMIT_AS)
        print(available_bytes())
        leave(2**26, resource.RLIMIT_DATA)
        print(available_bytes())
    """
    done = limited(code)
    space, data = map(int, done.stdout.split())
    assert 2**26 < space <= 2**27
    assert 2**25 < data <= 2**26


@pytest.mark.slow
@linux
def test_a_library_that_runs_out_says_so_in_one_of_these_ways():
    code = """
        import numpy, torch
        from widenet.base.memory import is_out_of_memory

        takers = (
            lambda: torch.zeros(2**25, dtype=torch.float64),
            lambda: numpy.zeros(2**25),
            lambda: bytearray(2**28),
            lambda: torch.linalg.cholesky(torch.eye(2900, dtype=torch.float64)),
        )
        leave(2**26)
        for take in takers:
            try:
                take()
            except Exception as error:
                print(is_out_of_memory(error), type(error), error)
    """
    done = limited(code)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["True"] * 4, done.stdout + done.stderr
    assert not is_out_of_memory(RuntimeError("shapes do not match"))


@pytest.mark.slow
@linux
def test_an_audit_that_runs_out_ends_in_one_sentence(tmp_path):
    code = f"""
        import sys
        import widenet.data
        import widenet.report.audit
        from widenet.audit import run
        from widenet.audit.findings import GramPlan, Held
        from widenet.cli import main
        from widenet.study.forecast import Forecast

        widenet.data.load("digits")
        run.forecast_audit = lambda *parts, **more: (Forecast(1.0, 1), GramPlan(Held.DENSE, 1))  # too hopeful
        leave(40 * 2**20)
        sys.argv = ["widenet", "audit", "digits", "--quiet", "--out", {str(tmp_path / "out")!r}]
        main()
    """
    done = limited(code)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("widenet: Ran out of memory during “"), done.stderr
    assert done.stderr.endswith("use fewer rows, or a machine with more memory.\n")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_sentence_names_the_stage():
    torch_says = RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
    for error, stage, told in (
        (MemoryError(), "", "Ran out of memory: use fewer rows"),
        (torch_says, "labels", "Ran out of memory during “labels”: use fewer rows"),
        (OutOfMemoryError("said before"), "labels", "said before"),
        (InputError("another error"), "labels", "another error"),
    ):
        with pytest.raises((OutOfMemoryError, InputError), match=told), memory_told(lambda: stage):  # noqa: B023
            raise error


def trials(num: int) -> list[Trial]:
    return [Trial({"number": number}, "code", "data") for number in range(num)]


def hungry(most: int, never: int | None = None, seen: list[int] | None = None):
    """Work on at most so many trials at once, and never on one of them."""

    def work(settings):
        numbers = [each["number"] for each in settings]
        if seen is not None:
            seen.append(len(numbers))
        if len(numbers) > most or never in numbers:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 byte")
        return [TrialResult({"square": number**2}) for number in numbers]

    return work


def test_a_batch_that_runs_out_is_halved(tmp_path):
    seen: list[int] = []
    with Store(tmp_path / "store") as store:
        found = run_trials([trials(8)], hungry(2, seen=seen), store=store)
        assert [each.record["square"] for each in found] == [number**2 for number in range(8)]
        assert seen == [8, 4, 4, 2, 2, 2, 2]
        assert all(store.get(trial) is not None for trial in trials(8))


def test_a_trial_that_never_fits_fails_alone(tmp_path):
    with Store(tmp_path / "store") as store:
        found = run_trials([trials(5)[:2], trials(5)[2:]], hungry(9, never=3), store=store)
        assert [isinstance(each, Failure) for each in found] == [False, False, False, True, False]
        assert str(found[3].error).startswith("It ran out of memory: use fewer rows")
        assert store.get(trials(5)[3]) is None
        again = run_trials([trials(5)], hungry(9), store=store)
    assert [each.record["square"] for each in again] == [0, 1, 4, 9, 16]


def test_what_ran_out_beside_others_is_tried_alone():
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier, BrokenBarrierError

    together = Barrier(2)

    def work(settings):
        try:
            together.wait(timeout=0.5)
        except BrokenBarrierError:
            return [TrialResult({}) for _ in settings]
        raise MemoryError

    with ThreadPoolExecutor(2) as pool:
        found = run_trials([[trial] for trial in trials(2)], work, executor=pool)
    assert all(isinstance(each, TrialResult) for each in found)


def test_halves_of_a_group_give_the_same_weights(monkeypatch):
    from widenet.data import load
    from widenet.networks.names import network_by_name
    from widenet.training import sweeps, together
    from widenet.training.settings import TrainingSettings

    dataset, network = load("resnet-cube:n=40,d=8"), network_by_name("3resnet-all", 10)
    grid = [TrainingSettings(rate=0.01 * rate, epochs=3, batch=10) for rate in range(1, 6)]
    whole = sweeps.trained_weights(network, dataset, grid)

    def scarce(network, rows, settings, **more):
        if len(settings) > 2:
            raise MemoryError
        return together.weights_together(network, rows, settings, **more)

    monkeypatch.setattr(sweeps, "weights_together", scarce)
    for expected, found in zip(whole, sweeps.trained_weights(network, dataset, grid), strict=True):
        assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_a_sweep_is_planned_in_groups_that_fit(monkeypatch):
    from widenet.data import load
    from widenet.networks.names import network_by_name
    from widenet.training import sweeps
    from widenet.training.settings import TrainingSettings

    dataset, network = load("resnet-cube:n=40,d=8"), network_by_name("3resnet-all", 10)
    grid = [TrainingSettings(rate=0.01 * rate, epochs=2, batch=10) for rate in range(1, 9)]
    whole = [run.train_loss for run in sweeps.sweep(network, dataset, grid)]
    sizes, train_together = [], sweeps.train_together

    def watched(network, rows, settings, **more):
        sizes.append(len(settings))
        return train_together(network, rows, settings, **more)

    rows, _ = sweeps._rows(dataset, None, torch.float32)
    three = torch.get_num_threads() * sweeps._group_bytes(network, rows, grid[:3])
    monkeypatch.setattr(sweeps, "train_together", watched)
    monkeypatch.setattr(sweeps, "usable_bytes", lambda: three)
    assert [run.train_loss for run in sweeps.sweep(network, dataset, grid)] == whole
    assert sizes == [2] * 4


def test_one_item_that_runs_out_says_so():
    def never(items):
        raise MemoryError

    with pytest.raises(MemoryError):
        in_halves(never, [1, 2])
    with pytest.raises(ZeroDivisionError):
        in_halves(lambda items: [1 / 0], [1, 2])


def test_a_comparison_goes_on_without_the_method_that_runs_out(monkeypatch, tmp_path):
    from widenet.compare.methods import methods_by_name
    from widenet.compare.run import run_compare
    from widenet.compare.settings import CompareSettings
    from widenet.data import load

    def fit(self, training, seed):
        raise MemoryError

    settings = CompareSettings(methods=("ridge", "gaussian"), folds=2, repeats=1)
    (ridge, _) = methods_by_name(settings.methods, settings.width, 1)
    monkeypatch.setattr(type(ridge), "fit", fit)
    with Store(tmp_path / "store") as store:
        found = run_compare(load("resnet-cube:n=60,d=8"), settings, store=store)
    assert found.outcome.value == "partly"
    failed = next(each for each in found.methods if each.name == "ridge")
    assert failed.failures[0].startswith("ridge failed: It ran out of memory")
    assert next(each for each in found.methods if each.name == "gaussian").error is not None
