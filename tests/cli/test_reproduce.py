"""`widenet reproduce`: lists, one figure, several with a gallery, missing data, wrong input."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from widenet.papers import figures

HERE = Path(__file__).parents[1] / "papers"
KEYS = {"paper", "figure", "scale", "settings", "claims", "differences", "seconds", "seed"}
OF_CLAIMS = {"text", "source", "measured", "margin", "spread", "best_epoch", "last_epoch", "verdict"}
FILES = {"figure.png", "figure.pdf", "figure.html", "data.csv", "result.json"}


@pytest.fixture
def toys(monkeypatch):
    """Two small figures in place of all others, one of which needs data that are not there."""
    monkeypatch.syspath_prepend(HERE)
    import toy

    monkeypatch.setattr(toy, "LOST", replace(toy.TOY, name="lost", needs=("nothing.csv",)), raising=False)
    places = {"resnet-beyond-kernels/toy": "toy:TOY", "resnet-beyond-kernels/lost": "toy:LOST"}
    monkeypatch.setattr(figures, "FIGURES", places)


@pytest.mark.usefixtures("toys")
def test_one_figure_writes_its_folder_and_prints_its_record(widenet):
    code, out, _ = widenet("reproduce", "resnet-beyond-kernels/toy", "--out", "made", "--json", "-q")
    assert code == 0
    record = json.loads(out)
    assert record.keys() >= KEYS
    assert record["claims"][0].keys() == OF_CLAIMS | {"is_papers"}
    assert record["claims"][0]["verdict"] == "held"
    assert {path.name for path in Path("made").iterdir()} == FILES
    assert json.loads(Path("made/result.json").read_text())["claims"] == record["claims"]
    assert not Path("made.store").exists()
    again = widenet("reproduce", "resnet-beyond-kernels/toy", "--out", "made", "-q")
    assert again[0] == 0
    assert "Held: The value at 1 is below 2." in again[1]


@pytest.mark.usefixtures("toys")
def test_missing_data_are_told_and_the_others_run(widenet):
    code, out, err = widenet("reproduce", "--out", "made")
    assert code == 3
    assert "resnet-beyond-kernels/lost is left out" in err
    assert "Held: The value at 1 is below 2." in out
    page = Path("made/index.html").read_text()
    assert "The value at 1 is below 2." in page
    assert "nothing.csv" in page
    assert Path("made/resnet-beyond-kernels/toy/figure.png").read_bytes().startswith(b"\x89PNG")
    assert "Plotly.newPlot" not in page


@pytest.mark.usefixtures("toys")
def test_changed_settings_are_marked(widenet):
    name = "resnet-beyond-kernels/toy"
    code, out, _ = widenet(
        "reproduce", name, "--set", "n=1,7", "--seeds", "4", "--json", "-q", "--out", "made"
    )
    record = json.loads(out)
    assert code == 0
    assert record["settings_changed"]
    assert record["settings"]["n"] == [1, 7]
    assert len(record["curves"][0]["points"][0]["best"]) == 4
    assert "not the paper's settings" in record["verdict"][0]


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "no paper 'nowhere'"),
        (("resnet-beyond-kernels/toi",), "did you mean 'resnet-beyond-kernels/toy'"),
        (("resnet-beyond-kernels/toy", "--set", "k=3"), "no setting 'k'"),
        (("resnet-beyond-kernels/toy", "--set", "n=x"), "cannot read 'x'"),
        (("resnet-beyond-kernels/toy", "--set", "n=-1"), "at least 0"),
        (("resnet-beyond-kernels/toy", "--set", "n"), "key=value"),
        (("resnet-beyond-kernels/toy", "--scale", "huge"), "huge"),
        (("resnet-beyond-kernels/toy", "--seeds", "0"), "0"),
    ],
)
def test_wrong_input_is_told(widenet, arguments, message):
    code, out, err = widenet("reproduce", *arguments)
    assert code == 2
    assert message in err
    assert not out


@pytest.mark.usefixtures("toys")
def test_strangers_in_the_folder_are_not_replaced(widenet):
    Path("made").mkdir()
    Path("made/mine.txt").write_text("mine")
    code, _, err = widenet("reproduce", "resnet-beyond-kernels/toy", "--out", "made", "-q")
    assert code == 2
    assert Path("made/mine.txt").exists()
    assert "made" in err


@pytest.mark.usefixtures("toys")
def test_the_list_has_claims_and_costs(widenet):
    code, out, _ = widenet("reproduce", "--list", "--json")
    assert code == 0
    listed = json.loads(out)["figures"]
    assert [each["figure"] for each in listed] == ["toy", "lost"]
    assert listed[0]["claims"][0]["source"] == "nowhere"
    assert listed[0]["seconds"].keys() == {"quick", "paper"}
    assert "The value at 1 is below 2. (nowhere)" in widenet("reproduce", "--list")[1]


@pytest.mark.usefixtures("toys")
def test_a_setting_named_twice_is_the_one_that_is_set(widenet):
    arguments = ("reproduce", "resnet-beyond-kernels/toy", "--set", "seeds=2", "--seeds", "3")
    code, out, _ = widenet(*arguments, "--json", "-q", "--out", "made")
    assert code == 0
    assert json.loads(out)["settings"]["seeds"] == 2


@pytest.mark.usefixtures("toys")
def test_the_store_stays_where_trials_failed_and_other_runs_leave_it(widenet):
    name = "resnet-beyond-kernels/toy"
    code, _, err = widenet("reproduce", name, "--set", "bad=1", "--out", "made")
    assert code == 3
    assert "Finished work is kept in" in err
    (kept,) = Path().glob("*.store")
    assert widenet("reproduce", "resnet-beyond-kernels", "--out", "made2", "-q")[0] == 3
    assert kept.exists()
