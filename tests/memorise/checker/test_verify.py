"""Certificates that are true, and the data that they are about."""

import ast
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import widenet.memorise.checker
from widenet.memorise.checker import recheck, recheck_sigma, verify as verify_module
from widenet.memorise.checker.verify import verify
from widenet.study.result import Outcome

CHECKS = ["certificate", "files", "weights", "data", "loss", "labels", "curvature", "sigma_min", "bound"]


@pytest.mark.parametrize("name", ["two", "three", "numbers"])
def test_a_true_certificate_passes_every_check(made, name):
    found = verify(made / name)
    assert [(check.name, check.status.value) for check in found.checks] == [
        (name, "passed") for name in CHECKS
    ]
    assert found.verified
    assert found.outcome is Outcome.DONE
    record = found.to_dict()
    assert record["schema"] == "widenet/verification/1"
    assert (record["checks"][0]["name"], record["checks"][0]["status"]) == ("certificate", "passed")
    assert record["verified"] is True
    assert repr(found) == (
        f"VerifyResult(folder={made / name}, verified=yes, passed=9, failed=0, undecided=0, skipped=0)"
    )


def test_digits_pass(memorised):
    found = memorised("digits").verify()
    assert found.verified
    assert found.status("sigma_min") == "passed"


def test_a_power_beyond_sixteen(memorised, tmp_path):
    """Twenty rows of one column and the constant need forms of degree 40."""
    np.savez(tmp_path / "line.npz", X=np.linspace(-1, 1, 20)[:, None], y=np.arange(20) % 3 + 0.0)
    folder = memorised(str(tmp_path / "line.npz"))
    assert folder.record()["network"]["power"] > 16
    assert folder.verify().verified


def test_every_bit_of_the_data_counts(made, tmp_path, folder):
    arrays = dict(np.load(made / "rows.npz"))
    bits = arrays["X"].view(np.uint64)
    bits[3, 2] ^= 1 << 20
    np.savez(tmp_path / "rows.npz", **arrays)
    found = folder.verify(str(tmp_path / "rows.npz"))
    assert found.status("data") == "failed"
    assert "inputs" in found.sentence("data")
    bits[3, 2] ^= 1 << 20
    arrays["y"][5] = "a" if arrays["y"][5] == "b" else "b"
    np.savez(tmp_path / "rows.npz", **arrays)
    found = folder.verify(str(tmp_path / "rows.npz"))
    assert "targets" in found.sentence("data")
    assert not found.verified


def test_the_same_labels_under_other_names_are_other_data(made, tmp_path, folder):
    arrays = dict(np.load(made / "rows.npz"))
    np.savez(tmp_path / "rows.npz", X=arrays["X"], y=np.char.upper(arrays["y"]))
    found = folder.verify(str(tmp_path / "rows.npz"))
    assert [check.name for check in found.checks if check.status.value == "failed"] == ["data"]
    assert "other names" in found.sentence("data")


def test_data_may_be_elsewhere(made, tmp_path, folder):
    shutil.copy(made / "rows.npz", tmp_path / "copy.npz")
    folder.forge(data__source="gone.npz")
    found = folder.verify()
    assert found.status("data") == "undecided"  # data that are not there refute nothing
    assert verify(folder.path).outcome is Outcome.PARTLY
    assert "gone.npz" in found.sentence("data")
    assert folder.verify(str(tmp_path / "copy.npz")).verified


def test_what_does_not_fit_here_refutes_nothing(folder, monkeypatch):
    monkeypatch.setattr(verify_module, "usable_bytes", lambda: 1000)
    found = folder.verify()
    assert found.status("weights") == "undecided"
    assert verify(folder.path).outcome is Outcome.PARTLY


def test_torch_that_runs_out_of_memory_refutes_nothing(folder, monkeypatch):
    def run_out(*arguments, **named):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 10 bytes")

    monkeypatch.setattr(verify_module, "load", run_out)
    found = folder.verify()
    assert found.status("data") == "undecided"
    assert "memory" in found.sentence("data")


def test_the_certificate_that_is_hashed_is_the_one_that_was_read(folder, monkeypatch):
    honest = (folder.path / "certificate.json").read_bytes()
    manifest = (folder.path / "manifest.json").read_bytes()
    folder.forge(loss=0.125)
    (folder.path / "manifest.json").write_bytes(manifest)
    parse = verify_module.parse_claim

    def swapped(content):
        (folder.path / "certificate.json").write_bytes(honest)
        return parse(content)

    monkeypatch.setattr(verify_module, "parse_claim", swapped)
    assert folder.verify().status("files") == "failed"


def test_who_named_the_data_is_told_with_their_whole_name(made, copy_of):
    three, source = copy_of("three"), str(made / "more.npz")
    by_itself, given = three.verify().sentence("data"), three.verify(source).sentence("data")
    assert repr(source) in by_itself
    assert "named by the certificate" in by_itself
    assert "noise of 0.01 from seed 7" in by_itself
    assert given == by_itself.replace(", named by the certificate", "")


def test_other_data(folder, made):
    for other in ("digits", str(made / "more.npz")):
        found = folder.verify(other)
        assert found.status("data") == "failed"
        assert "other data" in found.sentence("data")
        assert found.status("labels") == "skipped"
        assert not found.verified


def test_a_bound_that_there_is_no_room_to_prove_is_not_verified(folder, monkeypatch):
    monkeypatch.setattr(verify_module, "has_room", lambda n, k: False)
    found = folder.verify()
    assert found.status("sigma_min") == found.status("bound") == "undecided"
    assert "no room here for its proof" in found.sentence("sigma_min")
    assert not found.verified
    assert verify(folder.path).outcome is Outcome.PARTLY


def test_a_false_bound_is_refuted_even_where_there_is_no_room_to_prove_a_true_one(folder, monkeypatch):
    monkeypatch.setattr(verify_module, "has_room", lambda n, k: False)
    folder.forge(sigma_min__lower=0.9, sigma_min__value=0.9)
    found = folder.verify()
    assert found.status("sigma_min") == "failed"
    assert "at most" in found.sentence("sigma_min")


def test_nothing_claimed_of_sigma_is_nothing_to_prove(folder):
    folder.forge(sigma_min__lower=0.0, sigma_min__value=0.0, bound=None, holds=None)
    found = folder.verify()
    assert found.verified
    assert found.sentence("sigma_min") == "Nothing is claimed of σ_min."


def test_it_shares_nothing_with_the_trainer():
    package = Path(widenet.memorise.checker.__file__).parent
    paths = sorted(package.glob("*.py"))
    own = {f"widenet.memorise.checker.{path.stem}" for path in paths}
    assert len(own) == 6
    allowed = own | {"widenet.data", "widenet.study.result"}
    for path in paths:
        tree = ast.parse(path.read_text())
        imported = {
            module
            for node in ast.walk(tree)
            for module in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        ours = {module for module in imported if module.startswith("widenet")}
        assert {module for module in ours if not module.startswith("widenet.base.")} <= allowed
        assert not imported & {"torch", "pickle", "safetensors.torch"}


@pytest.mark.parametrize("name", ["two", "three"])
def test_the_bound_is_proved_for_exact_features(name, copy_of, monkeypatch):
    """Of features that rounding may have moved, more is proved than is claimed of the exact ones."""
    folder, asked = copy_of(name), []
    monkeypatch.setattr(
        verify_module,
        "singular_floor",
        lambda Z, floor: asked.append(floor) or recheck_sigma.singular_floor(Z, floor),
    )
    assert folder.verify().verified
    sigma = folder.record()["sigma_min"]
    least = max(sigma["lower"], 0.99 * sigma["value"])
    assert asked == [least] if name == "two" else asked[0] > least

    def moved_far(*about):
        fit = recheck.fit_of(*about)
        return replace(fit, moved=fit.moved + 1.0)

    monkeypatch.setattr(verify_module, "fit_of", moved_far)
    assert folder.verify().status("sigma_min") == "undecided"
