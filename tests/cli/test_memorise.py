"""`widenet memorise` and `widenet verify` as users meet them."""

import errno
import json
import os
import subprocess
import sys
from dataclasses import make_dataclass
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.pgd import PerturbedDescent
from widenet.report.parts import files as files_module

ONE_EPOCH = make_dataclass("OneEpoch", [("epochs", int, 1)], bases=(AdamRecipe,), frozen=True)
PEM = serialization.Encoding.PEM
PROOF = {"certificate.json", "manifest.json"}
FILES = {"report.html", "result.json", "weights.safetensors", "config.json", *PROOF}


def write_table(name: str, rows: int = 30, columns: int = 8, *, numbers: bool = False) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = (
        [f"{value:.6f}" for value in rng.normal(size=rows)]
        if numbers
        else ["abc"[i % 3] for i in range(rows)]
    )
    lines = [",".join([*(f"{value:.6f}" for value in x), target]) for x, target in zip(X, y, strict=True)]
    header = ",".join([*(f"x{i}" for i in range(columns)), "target"])
    Path(name).write_text("\n".join([header, *lines]) + "\n")


def test_random_rows_of_the_paper_are_certified_too(widenet):
    write_table("table.csv")
    code, out, err = widenet("memorise", "table.csv", "--layers", "3", "--random-rows", "gaussian")
    assert code == 0
    assert "drawn from N(0, I), as in the paper" in " ".join(err.split())
    assert json.loads(Path("widenet-memorise-table/config.json").read_text())["random_rows"] == "gaussian"
    code, out, _ = widenet("verify", "widenet-memorise-table")
    assert code == 0
    assert "Verified" in out
    code, _, err = widenet("memorise", "table.csv", "--layers", "2", "--random-rows", "gaussian")
    assert code == 2
    assert "Two layers have no random layer" in err


def test_memorise_writes_a_folder_that_verify_accepts(widenet):
    write_table("table.csv")
    code, out, err = widenet("memorise", "table.csv", "--target", "target")
    assert code == 0
    assert "Memorised: each of the 30 labels" in out
    assert out.splitlines()[-1] == "Report: widenet-memorise-table/report.html"
    assert max(map(len, out.splitlines())) <= 80
    assert "Two layers" in err
    assert "σ_min" in err
    assert err.index("Forecast") < err.index("computing σ_min") < err.index("Two layers")
    folder = Path("widenet-memorise-table")
    assert {path.name for path in folder.iterdir()} == FILES
    assert {path.name for path in Path().iterdir()} == {"table.csv", "widenet-memorise-table"}
    config = json.loads((folder / "config.json").read_text())
    assert (config["data"], config["prepare"], config["method"]) == ("table.csv", "standard", "direct")
    code, out, _ = widenet("verify", "widenet-memorise-table")
    assert code == 0
    assert out.count("passed") >= 8
    assert "Verified" in out
    assert max(map(len, out.splitlines())) <= 80
    assert widenet("verify", "widenet-memorise-table", "table.csv")[0] == 0


def test_any_change_of_the_file_makes_it_other_data(widenet):
    write_table("table.csv")
    assert widenet("memorise", "table.csv", "--out", "o")[0] == 0
    table = Path("table.csv")
    table.write_text(table.read_text().replace("x1", "y1"))
    code, out, _ = widenet("verify", "o")
    assert code == 1
    assert "bit for bit" in " ".join(out.split())


@pytest.mark.parametrize("method", ["pgd", "direct"])
@pytest.mark.parametrize("numbers", [False, True])
def test_methods_and_targets(widenet, method, numbers):
    write_table("table.csv", numbers=numbers)
    code, out, err = widenet("memorise", "table.csv", "--method", method, "--out", "o", "--json", "-q")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["schema"] == "widenet/memorise/1"
    assert record["method"] == method
    assert record["labels_reproduced"] is True
    assert record["loss"] < 1e-8
    assert record == json.loads(Path("o/result.json").read_text())
    code, out, err = widenet("verify", "o", "--json", "-q")
    assert (code, err) == (0, "")
    assert json.loads(out)["verified"] is True


def test_three_layers_where_two_cannot(widenet):
    write_table("table.csv", rows=40, columns=3)  # the constant coordinate makes 4 columns, 10 forms
    code, _, err = widenet("memorise", "table.csv", "--layers", "2")
    assert code == 2
    assert "--layers 3" in err
    assert "d(d+1)/2 = 10" in err
    code, out, err = widenet("memorise", "table.csv", "--json")
    assert code == 0
    assert json.loads(out)["layers"] == 3
    assert widenet("verify", "widenet-memorise-table")[0] == 0


def test_perturbed_data_are_verified_too(widenet):
    write_table("table.csv")
    assert widenet("memorise", "table.csv", "--perturb", "0.05", "--seed", "4", "--out", "o")[0] == 0
    code, out, _ = widenet("verify", "o")
    assert code == 0, out


def test_columns_that_were_chosen_are_chosen_again_to_verify(widenet):
    write_table("table.csv", columns=9)
    names = Path("table.csv").read_text().splitlines()[0].split(",")
    chosen = ("--drop", names[0], "--categorical", names[1], "--keep", names[2])
    assert widenet("memorise", "table.csv", *chosen, "--out", "o")[0] == 0
    record = json.loads(Path("o/certificate.json").read_text())["data"]
    assert (record["drop"], record["categorical"], record["keep"]) == ([names[0]], [names[1]], [names[2]])
    code, out, _ = widenet("verify", "o")
    assert code == 0, out


def test_a_task_that_was_chosen_is_chosen_again_to_verify(widenet):
    write_table("table.csv", columns=9)
    lines = Path("table.csv").read_text().splitlines()
    scored = [f"{line.rpartition(',')[0]},{k % 4}" for k, line in enumerate(lines[1:])]
    Path("table.csv").write_text("\n".join([lines[0], *scored]) + "\n")
    assert widenet("memorise", "table.csv", "--task", "regression", "--out", "o")[0] == 0
    assert json.loads(Path("o/certificate.json").read_text())["data"]["task"] == "regression"
    code, out, _ = widenet("verify", "o")
    assert code == 0, out


def test_identical_rows_with_different_labels(widenet):
    write_table("table.csv")
    lines = Path("table.csv").read_text().splitlines()
    lines.append(lines[5].rpartition(",")[0] + ",a")
    Path("table.csv").write_text("\n".join(lines) + "\n")
    code, out, err = widenet("memorise", "table.csv", "-q")
    assert code == 2
    assert out == ""
    assert "Rows 5 and 31" in err
    assert len(err.strip().splitlines()) == 1
    assert {path.name for path in Path().iterdir()} == {"table.csv"}


def test_nearly_identical_rows_are_told_with_what_mends_them(widenet):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    X[7] = X[3] + 1e-9 * rng.normal(size=12)
    np.savez("rows.npz", X=X, y=np.array(list("abc"))[np.arange(40) % 3])
    code, out, err = widenet("memorise", "rows.npz", "--layers", "2", "--out", "o")
    assert "σ_min" in err
    assert any(line.startswith("--perturb ") and "would fix it" in line for line in err.splitlines())
    assert code == 1  # no float64 weights tell these two rows apart for certain
    assert "no certificate" in " ".join(out.split())
    noise = err.partition("--perturb ")[2].split()[0].rstrip(".,")
    code, out, _ = widenet(
        "memorise", "rows.npz", "--layers", "2", "--perturb", noise, "--out", "mended", "--json"
    )
    assert code == 0
    assert json.loads(out)["sigma_min"]["lower"] > 0
    assert widenet("verify", "mended")[0] == 0


def test_labels_that_are_missed_leave_a_folder_without_a_certificate(widenet, monkeypatch):
    write_table("table.csv")
    assert widenet("memorise", "table.csv", "--out", "o")[0] == 0
    monkeypatch.setattr("widenet.memorise.methods.adam.AdamRecipe", ONE_EPOCH)
    code, out, err = widenet("memorise", "table.csv", "--method", "adam", "--out", "o", "--force", "--json")
    assert code == 1
    assert json.loads(out)["labels_reproduced"] is False
    assert "--method direct" in err.splitlines()[-1]
    assert {path.name for path in Path("o").iterdir()} == FILES - PROOF
    code, out, _ = widenet("verify", "o")
    assert code == 1
    assert "certificate.json cannot be read" in out


@pytest.mark.parametrize("method", ["adam", "direct"])
def test_a_folder_that_is_to_be_replaced_stays_whole_until_then(widenet, monkeypatch, method):
    """The disk is full while the new result is written, be it with a certificate or without."""
    write_table("table.csv")
    assert widenet("memorise", "table.csv", "--out", "o")[0] == 0
    before = {path.name: path.read_bytes() for path in Path("o").iterdir()}
    monkeypatch.setattr("widenet.memorise.methods.adam.AdamRecipe", ONE_EPOCH)
    writing = files_module._write_file

    def full(path: Path, content: bytes) -> None:
        if path.name == "weights.safetensors":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        writing(path, content)

    monkeypatch.setattr(files_module, "_write_file", full)
    code, _, err = widenet("memorise", "table.csv", "--method", method, "--out", "o", "--force")
    assert code == 2
    assert "No space left" in err
    assert {path.name: path.read_bytes() for path in Path("o").iterdir()} == before
    assert widenet("verify", "o")[0] == 0


def test_verify_fails_with_a_sentence(widenet):
    write_table("table.csv")
    assert widenet("memorise", "table.csv", "--out", "o")[0] == 0
    content = bytearray(Path("o/weights.safetensors").read_bytes())
    content[-1] ^= 1
    Path("o/weights.safetensors").write_bytes(content)
    code, out, err = widenet("verify", "o")
    assert code == 1
    assert "was changed" in out
    assert "Refuted" in out
    assert "Traceback" not in out + err
    code, out, _ = widenet("verify", "o", "--json")
    assert code == 1
    assert json.loads(out)["verified"] is False
    code, _, err = widenet("verify", "nowhere")
    assert code == 2
    assert "not a folder" in err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--theorem"], "--method pgd"),
        (["--layers", "4"], "--layers"),
        (["--method", "sgd"], "--method"),
        (["--width", "4"], "2k + 2"),
        (["--perturb", "-1"], "--perturb"),
        (["--perturb", "nan"], "perturb"),
        (["--target", "z"], "no column"),
    ],
)
def test_wrong_options(widenet, arguments, word):
    write_table("table.csv")
    code, out, err = widenet("memorise", "table.csv", "-q", *arguments)
    assert code == 2
    assert out == ""
    assert word in err
    assert {path.name for path in Path().iterdir()} == {"table.csv"}


def test_several_targets_are_refused(widenet):
    code, _, err = widenet("memorise", "resnet-cube", "-q")
    assert code == 2
    assert "target" in err


def test_an_existing_folder_is_kept_without_force(widenet):
    write_table("table.csv")
    assert widenet("memorise", "table.csv", "--out", "o")[0] == 0
    code, _, err = widenet("memorise", "table.csv", "--out", "o")
    assert code == 2
    assert "--force" in err
    assert widenet("memorise", "table.csv", "--out", "o", "--force")[0] == 0
    assert widenet("memorise", "table.csv")[0] == 0
    assert widenet("memorise", "table.csv")[0] == 0


@pytest.fixture
def interrupted(widenet, monkeypatch):
    """Run a command until the training was advanced twice, by ten steps each time."""

    def run(*arguments: str) -> str:
        made, advance = [], PerturbedDescent.advance

        def interrupting(self, problem, state):
            if len(made) == 2:
                raise KeyboardInterrupt
            made.append(1)
            return advance(self, problem, state)

        with monkeypatch.context() as patch:
            patch.setattr("widenet.memorise.methods.pgd.MOST", 10)
            patch.setattr(PerturbedDescent, "advance", interrupting)
            code, _, err = widenet("memorise", *arguments)
        assert code == 130
        return err

    return run


def names() -> set[str]:
    return {path.name for path in Path().iterdir()}


def test_interrupted_it_goes_on_and_other_settings_are_another_run(widenet, interrupted):
    write_table("table.csv")
    options = ("table.csv", "--method", "pgd", "--out", "o")
    err = interrupted(*options)
    assert "o.store: the same command resumes from there" in err
    assert names() == {"table.csv", "o.store"}
    code, _, err = widenet("memorise", *options, "--seed", "1")
    assert code == 0
    assert "Resuming" not in err
    assert names() == {"table.csv", "o", "o.store"}  # the other run's state is still there
    code, _, err = widenet("memorise", *options, "--force")
    assert code == 0
    assert "Resuming from step 20 of an earlier run." in err
    assert names() == {"table.csv", "o"}
    assert widenet("verify", "o")[0] == 0


def test_a_store_that_was_named_stays(widenet, interrupted):
    write_table("table.csv")
    options = ("table.csv", "--method", "pgd", "--out", "o", "--store", "mine.store")
    assert "mine.store" in interrupted(*options)
    assert "Resuming from step 20" in widenet("memorise", *options)[2]
    assert names() == {"table.csv", "o", "mine.store"}
    first = Path("o/certificate.json").read_bytes()
    code, _, err = widenet("memorise", *options, "--force")
    assert code == 0
    assert "Resuming" in err
    assert Path("o/certificate.json").read_bytes() == first


def test_a_result_that_cannot_be_written_is_not_lost(widenet, monkeypatch):
    write_table("table.csv")
    monkeypatch.setattr("widenet.runs.kept.EVERY", 0.0)
    writing = files_module._write_file

    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files_module, "_write_file", full)
    code, _, err = widenet("memorise", "table.csv", "--method", "pgd", "--out", "o")
    assert (code, "No space left" in err) == (2, True)
    assert names() == {"table.csv", "o.store"}
    monkeypatch.setattr(files_module, "_write_file", writing)
    monkeypatch.setattr(PerturbedDescent, "advance", lambda self, problem, state: 1 / 0)
    assert widenet("memorise", "table.csv", "--method", "pgd", "--out", "o")[0] == 0
    assert names() == {"table.csv", "o"}


def test_a_store_that_cannot_be_written(widenet):
    write_table("table.csv")
    Path("o.store").mkdir()
    code, _, err = widenet("memorise", "table.csv", "--out", "o", "--force")
    assert code in (1, 2)
    assert "o.store" in err
    assert "Traceback" not in err


def test_help_does_not_import_torch(widenet):
    code, out, _ = widenet("memorise", "--help")
    assert code == 0
    assert "--theorem" in out
    asked = "import sys; from widenet.memorise.study import MEMORISE; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked]).returncode == 0
    assert "verify" in widenet("--help")[1]


def test_a_key_is_made_signs_and_is_trusted(widenet):
    """The steps of docs/memorise.md, with the keys that openssl would write."""
    write_table("table.csv")
    key = Ed25519PrivateKey.generate()
    private, public = serialization.PrivateFormat.PKCS8, serialization.PublicFormat.SubjectPublicKeyInfo
    Path("key.pem").write_bytes(key.private_bytes(PEM, private, serialization.NoEncryption()))
    Path("public.pem").write_bytes(key.public_key().public_bytes(PEM, public))
    assert widenet("memorise", "table.csv", "--out", "o", "--sign", "key.pem")[0] == 0
    assert {path.name for path in Path("o").iterdir()} == FILES | {"manifest.sig"}
    assert "key" not in json.loads(Path("o/config.json").read_text())
    code, out, _ = widenet("verify", "o", "table.csv", "--trust", "public.pem")
    assert (code, out.splitlines()[-1]) == (0, "Signed by the key you trust.")
    code, out, _ = widenet("verify", "o")
    assert (code, out.splitlines()[-1][:33]) == (0, "Signed by a key you did not name:")
    Path("o/manifest.sig").write_bytes(bytes(64))
    code, out, _ = widenet("verify", "o", "--trust", "public.pem", "--json")
    assert (code, json.loads(out)["signature"]) == (1, "refuted")
    Path("o/manifest.sig").unlink()
    assert widenet("verify", "o", "--trust", "public.pem")[0] == 1
    code, out, _ = widenet("verify", "o")
    assert (code, out.splitlines()[-1]) == (0, "Unsigned: shows damage, not authorship.")


@pytest.mark.parametrize("command", [("memorise", "table.csv", "--sign"), ("verify", ".", "--trust")])
def test_wrong_keys_are_told_before_anything_is_computed(widenet, command):
    write_table("table.csv")
    Path("key.pem").write_text("no key")
    for name in ("key.pem", "nowhere.pem"):
        code, out, err = widenet(*command, name)
        assert (code, out) == (2, "")
        assert name in err
        assert len(err.strip().splitlines()) == 1
    assert names() == {"table.csv", "key.pem"}
