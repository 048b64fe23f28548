from widenet.base.progress import SILENT, Progress


def test_silent_progress_takes_all_that_is_told(capsys):
    assert SILENT("rows") is None
    assert SILENT("rows", 3, 10, "so far") is None
    assert SILENT.note(object()) is None
    assert isinstance(SILENT, Progress)
    assert capsys.readouterr() == ("", "")
