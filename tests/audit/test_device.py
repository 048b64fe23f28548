"""Audits on another device: the numbers of the CPU, from kernel matrices that are not there."""

import json

import pytest
import torch

from tests.toy_device import numbers
from widenet.audit import run
from widenet.audit.run import run_audit
from widenet.audit.settings import AuditSettings
from widenet.base.checkpoint import StageResumed
from widenet.base.errors import InputError
from widenet.base.progress import Progress
from widenet.runs.device import CPU
from widenet.runs.store import Store
from widenet.spectrum.gram import DenseGram, TiledGram
from widenet.training.descent import descend


def dense(kernel, X, dtype):
    return DenseGram(run.gram_matrix(kernel, X))


def tiled(kernel, X, dtype):
    return TiledGram(kernel, X, tile=32, keep_bytes=20_000, dtype=dtype)


def found(result):
    """All that does not depend on a clock."""
    record = {name: part for name, part in result.to_dict().items() if name not in ("forecast", "seconds")}
    return numbers({**record, "ranking": result.ranking, "nearest": result.nearest})


@pytest.fixture
def repeated(arrays):
    """Classes of which some rows repeat others, with the same labels and with other ones."""
    rows = torch.randn(90, 5, generator=torch.Generator().manual_seed(0)).numpy()
    rows[60:80] = rows[:20]
    return arrays(rows, rows.argmax(1) % 3)


@pytest.mark.parametrize(
    ("data", "make_gram"),
    [
        ("regression", tiled),
        pytest.param("repeated", dense, marks=pytest.mark.slow),
        pytest.param("multiclass", dense, marks=pytest.mark.slow),
        pytest.param("repeated", tiled, marks=pytest.mark.slow),
    ],
)
def test_an_audit_is_that_of_the_cpu_bit_for_bit(data, make_gram, toy, request):
    dataset, seen = request.getfixturevalue(data), set()

    def make(kernel, X, dtype):
        seen.add(X.device.type)
        return make_gram(kernel, X, dtype)

    there = run_audit(dataset, AuditSettings(device="toy"), make_gram=make)
    # What is certified without holding a matrix needs one of the CPU.
    assert seen == ({"toy"} if make_gram is dense else {"toy", "cpu"})
    assert found(there) == found(run_audit(dataset, make_gram=make_gram))


@pytest.mark.slow
def test_a_network_is_trained_there(multiclass, toy, monkeypatch):
    seen = set()

    def watched(params, X, y, **options):
        seen.add(frozenset({params.W.device, params.a.device, X.device, y.device}))
        return descend(params, X, y, **options)

    monkeypatch.setattr("widenet.audit.train.descend", watched)
    there, here = (
        run_audit(multiclass, AuditSettings(device=name, train=True, width=64)) for name in ("toy", "cpu")
    )
    assert seen == {frozenset({toy}), frozenset({CPU})}
    assert found(there) == found(here)


class Noted(Progress):
    def __init__(self):
        self.resumed = []

    def note(self, fact):
        self.resumed += [fact.stage] if isinstance(fact, StageResumed) else []


@pytest.mark.slow
def test_stages_are_found_again_on_their_own_device_alone(binary, toy, tmp_path, monkeypatch):
    monkeypatch.setattr("widenet.runs.checkpoints.SHORT", 0.0)
    first, again, elsewhere = Noted(), Noted(), Noted()
    with Store(tmp_path / "audit.store") as store:
        there = [
            run_audit(binary, AuditSettings(device="toy"), make_gram=tiled, store=store, progress=progress)
            for progress in (first, again)
        ]
        run_audit(binary, make_gram=tiled, store=store, progress=elsewhere)
    assert found(there[0]) == found(there[1])
    assert first.resumed == elsewhere.resumed == []
    assert {"labels on the spectrum", "shuffled labels", "floor under the spectrum"} <= set(again.resumed)


def test_devices_are_checked_before_anything_is_read(widenet):
    code, out, error = widenet("audit", "digits", "--device", "gpu")
    assert (code, out) == (2, "")
    assert "There is no device 'gpu' here" in error
    assert "leave --device out" in error
    assert "reading" not in error


def test_a_device_and_a_cluster_do_not_go_together(binary, toy, widenet):
    with pytest.raises(InputError, match="leave `device` or `cluster` out"):
        run_audit(binary, AuditSettings(device="toy"), cluster="tcp://127.0.0.1:1")
    code, _, error = widenet("audit", "--device", "toy", "--cluster", "tcp://127.0.0.1:1")
    assert code == 2
    assert "leave --device or --cluster out" in error


def test_the_command_computes_there_and_says_so_in_its_settings(toy, widenet, tmp_path):
    lines = ["a,b,y", *(f"{i % 7},{i * i % 11},{'up' if i % 7 > 2 else 'down'}" for i in range(60))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, out, _ = widenet("audit", "t.csv", "--device", "toy", "--json", "--out", "there")
    assert code == 0
    assert json.loads((tmp_path / "there" / "config.json").read_text())["device"] == "toy"
    code, here, _ = widenet("audit", "t.csv", "--json", "--out", "here")
    assert json.loads(out)["complexity"] == json.loads(here)["complexity"]
