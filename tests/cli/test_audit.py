"""The command line as users meet it: output, exit codes, and one sentence for every wrong input."""

import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

HOSTILE = "</script><img src=x onerror=alert(1)>"


def write_table(name: str = "table.csv", rows: int = 60, header: str = "a,b,y") -> None:
    rng = np.random.default_rng(0)
    lines = [f"{a:.6f},{b:.6f},{'up' if a + b > 0 else 'down'}" for a, b in rng.normal(size=(rows, 2))]
    Path(name).write_text("\n".join([header, *lines]) + "\n")


def test_audit_writes_the_folder_and_prints_a_screenful(widenet):
    write_table()
    code, out, err = widenet("audit", "table.csv", "--target", "y")
    assert code == 0
    assert "report.html" in out
    assert len(out.splitlines()) <= 45
    folder = Path("widenet-audit-table")
    assert {path.name for path in folder.iterdir()} == {
        "report.html",
        "result.json",
        "labels.csv",
        "config.json",
    }
    assert json.loads((folder / "result.json").read_text())["data"]["n"] == 60
    assert (folder / "labels.csv").read_text().startswith("row,given,suggested,score\n")
    assert "Traceback" not in err


def test_json_goes_to_stdout_alone(widenet):
    write_table()
    code, out, _ = widenet("audit", "table.csv", "--json")
    assert code == 0
    assert json.loads(out)["schema"] == "widenet/audit/1"


def test_quiet_says_nothing_on_the_way(widenet):
    write_table()
    assert widenet("audit", "table.csv", "--json", "-q")[2] == ""


def test_a_named_folder_is_kept_without_force(widenet):
    write_table()
    assert widenet("audit", "table.csv", "--out", "mine")[0] == 0
    before = Path("mine/result.json").read_text()
    code, _, err = widenet("audit", "table.csv", "--seed", "1", "--out", "mine")
    assert code == 2
    assert "--force" in err
    assert Path("mine/result.json").read_text() == before
    assert widenet("audit", "table.csv", "--out", "mine", "--force")[0] == 0


def test_the_usual_folder_is_written_again_where_it_holds_our_result(widenet):
    write_table()
    folder = Path("widenet-audit-table")
    assert widenet("audit", "table.csv")[0] == 0
    assert widenet("audit", "table.csv", "--eta", "0.001")[0] == 0
    assert json.loads((folder / "config.json").read_text())["eta"] == 0.001
    (folder / "mine.txt").write_text("mine")
    code, _, err = widenet("audit", "table.csv")
    assert code == 2
    assert "'mine.txt', which --force would delete" in err
    (folder / "mine.txt").unlink()
    (folder / "result.json").write_text('{"accuracy": 1}')
    code, _, err = widenet("audit", "table.csv")
    assert code == 2
    assert "already exists" in err
    assert (folder / "result.json").read_text() == '{"accuracy": 1}'


def test_columns_are_told_on_the_screen_and_in_the_json(widenet):
    lines = [f"{k},{k * 7 % 11},{'' if k % 5 == 0 else k % 3},{'ab'[k * 7 % 11 > 5]}" for k in range(1, 61)]
    Path("people.csv").write_text("\n".join(["id,height,children,y", *lines]))
    code, out, _ = widenet("audit", "people.csv", "--categorical", "children")
    assert code == 0
    told = " ".join(out.split())
    assert "There are 60 rows and 2 features, in 2 classes." in told
    assert "1 column left out: 'id' (numbers the rows)." in told
    assert "1 feature has missing values, which were marked and filled in: 'children'." in told
    record = json.loads(Path("widenet-audit-people/result.json").read_text())
    assert record["columns"] == {
        "used": ["height", "children"],
        "dropped": [{"name": "id", "why": "numbers the rows"}],
        "imputed": ["children"],
        "texts": [],
    }
    config = json.loads(Path("widenet-audit-people/config.json").read_text())
    assert (config["drop"], config["keep"], config["categorical"]) == ([], [], ["children"])
    code, out, _ = widenet("audit", "people.csv", "--drop", "height,children", "--keep", "id", "--json")
    assert json.loads(out)["columns"]["used"] == ["id"]


def test_scores_are_learned_as_numbers_where_that_is_asked_for(widenet):
    lines = [f"{k * 7 % 13},{k * k % 7},{k * 5 % 11}" for k in range(1, 61)]
    Path("scores.csv").write_text("\n".join(["a,b,score", *lines]))
    assert json.loads(widenet("audit", "scores.csv", "--json")[1])["data"]["task"] == "multiclass"
    _, out, _ = widenet("audit", "scores.csv", "--task", "regression", "--json")
    assert json.loads(out)["data"]["task"] == "regression"
    assert json.loads(Path("widenet-audit-scores/config.json").read_text())["task"] == "regression"
    code, _, err = widenet("audit", "scores.csv", "--task", "ranking")
    assert code == 2
    assert "--task" in err


def test_a_folder_of_images(widenet):
    rng = np.random.default_rng(0)
    for name, shade in (("cat", 90), ("dog", 160)):
        Path("pets", name).mkdir(parents=True)
        for k in range(15):
            Image.fromarray(rng.normal(shade, 40, (5, 4)).clip(0, 255).astype(np.uint8)).save(
                f"pets/{name}/{k}.png"
            )
    code, out, _ = widenet("audit", "pets")
    assert code == 0
    assert "Report: widenet-audit-pets/report.html" in out
    ranked = Path("widenet-audit-pets/labels.csv").read_text().splitlines()
    assert ranked[0] == "row,given,suggested,score,file"
    _, given, *_, file = ranked[1].split(",")
    assert Path("pets", file).exists()
    assert file.startswith(given)


WRONG_AT_ONCE = {
    "no such file": ("nothere.csv",),
    "no such folder": ("data/nothere",),
    "no such target": ("table.csv", "--target", "zz"),
    "no such columns": ("table.csv", "--drop", "zz", "--keep", "xx"),
    "no such type": ("table.xls",),
    "an empty file": ("empty.csv",),
    "no such target in a spreadsheet": ("table.xlsx", "--target", "zz"),
    "no such target in Parquet": ("table.parquet", "--target", "zz"),
    "no such target in JSON lines": ("table.jsonl", "--target", "zz"),
}


@pytest.mark.parametrize("case", WRONG_AT_ONCE)
def test_wrong_files_and_columns_are_told_before_torch_is_imported(tmp_path, case):
    frame = pd.DataFrame({"a": [1, 2, 3], "y": [0, 1, 0]})
    frame.to_csv(tmp_path / "table.csv")
    frame.to_excel(tmp_path / "table.xlsx")
    frame.to_parquet(tmp_path / "table.parquet")
    frame.to_json(tmp_path / "table.jsonl", orient="records", lines=True)
    (tmp_path / "table.xls").write_text("x")
    (tmp_path / "empty.csv").write_text("")
    script = (
        "import sys\nfrom widenet import cli\n"
        "try:\n    cli.main()\n"
        "finally:\n    print(sorted({'torch', 'pandas'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, "audit", *WRONG_AT_ONCE[case]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == "[]\n"
    assert done.stderr.startswith("widenet: ")


def npz_with(name: str, member: bytes) -> None:
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr("X.npy", member)
        buffer = io.BytesIO()
        np.save(buffer, np.arange(10) % 2)
        archive.writestr("y.npy", buffer.getvalue())


def npy_header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


class Bomb:
    def __reduce__(self):
        return (Path("exploded").touch, ())


def pickled_array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


WRONG = {
    "missing file": (lambda: None, "no.csv", "no.csv"),
    "empty file": (lambda: Path("t.csv").write_text(""), "t.csv", "empty"),
    "one row": (lambda: Path("t.csv").write_text("a,y\n1,x\n"), "t.csv", "row"),
    "one class": (lambda: Path("t.csv").write_text("a,y\n1,x\n2,x\n3,x\n"), "t.csv", "'x'"),
    "infinity": (lambda: Path("t.csv").write_text("a,y\n1,1.5\n2,inf\n3,2.5\n4,7.5\n"), "t.csv", "row 2"),
    "surprise": (
        lambda: Path("t.csv").write_text(
            "a,y\n" + "".join(f"{i}.5,{i * i}.5\n" for i in range(40)) + "3.5,abc\n"
        ),
        "t.csv",
        "row 41",
    ),
    "ragged": (lambda: Path("t.csv").write_text("a,b,y\n1,2,x\n3,z\n4,5,x\n"), "t.csv", "line 3"),
    "pickle": (lambda: npz_with("t.npz", pickled_array()), "t.npz", "pickle"),
    "terabytes": (lambda: npz_with("t.npz", npy_header("(10, 999999999999)")), "t.npz", "X"),
    "unknown suffix": (lambda: Path("t.xls").write_text("x"), "t.xls", ".csv"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_sentence_and_exit_code_2(widenet, case, tmp_path):
    prepare, name, word = WRONG[case]
    prepare()
    before = set(tmp_path.iterdir())
    code, out, err = widenet("audit", name, "-q")
    assert code == 2
    assert out == ""
    assert word.lower() in err.lower()
    assert len(err.strip().splitlines()) == 1
    assert set(tmp_path.iterdir()) == before


def test_a_missing_target_suggests_near_names(widenet):
    write_table(header="height,weight,kind")
    code, _, err = widenet("audit", "table.csv", "--target", "hight")
    assert code == 2
    assert "'height'" in err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--kernel", "relu2-hiden"], "relu2-hidden"),
        (["--eta", "-1"], "--eta is -1.0, but must be finite and above 0"),
        (["--width", "100"], "--train"),
        (["--prepare", "other"], "standard"),
    ],
)
def test_wrong_options(widenet, arguments, word):
    write_table()
    code, _, err = widenet("audit", "table.csv", *arguments)
    assert code == 2
    assert word in err


def test_hostile_names_stay_text(widenet):
    write_table(header=f'a,"{HOSTILE}",y')
    assert widenet("audit", "table.csv")[0] == 0
    page = Path("widenet-audit-table/report.html").read_text()
    assert "<img src=x" not in page


def test_conflicting_duplicates_are_reported_not_fatal(widenet):
    write_table()
    with open("table.csv", "a") as table:
        table.write("1.0,1.0,up\n1.0,1.0,down\n")
    code, out, _ = widenet("audit", "table.csv", "--json")
    assert code == 0
    assert json.loads(out)["data"]["conflicts"] == [[61, 62]]


def test_interruption_leaves_nothing_and_exits_130(widenet, monkeypatch, tmp_path):
    write_table()

    def interrupt(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("widenet.audit.run.run_audit", interrupt)
    before = set(tmp_path.iterdir())
    assert widenet("audit", "table.csv")[0] == 130
    assert set(tmp_path.iterdir()) == before


IMPORTS_TORCH = """
import sys
from widenet.cli import main
try:
    main()
finally:
    print("torch" in sys.modules)
"""


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_do_not_import_torch(argument):
    command = [sys.executable, "-c", IMPORTS_TORCH, argument]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_data_and_doctor(widenet):
    code, out, _ = widenet("data")
    assert code == 0
    assert "mnist-2" in out
    assert widenet("data", "nothing")[0] == 2
    code, out, _ = widenet("doctor")
    assert code == 0
    assert "torch" in out
