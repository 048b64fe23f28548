from widenet.base.progress import SILENT, Progress, after


def test_silent_progress_takes_all_that_is_told(capsys):
    assert SILENT("rows") is None
    assert SILENT("rows", 3, 10, "so far") is None
    assert SILENT.note(object()) is None
    assert isinstance(SILENT, Progress)
    assert capsys.readouterr() == ("", "")


def test_work_that_goes_on_counts_what_was_done_before():
    told = []

    class Told(Progress):
        def __call__(self, stage, done=None, total=None, detail=""):
            told.append((stage, done, total, detail))

        def note(self, fact):
            told.append(fact)

    progress = after(Told(), 5)
    progress("fits", 1, 10, "so far")
    progress("reading")
    progress.note("a fact")
    assert told == [("fits", 6, 15, "so far"), ("reading", None, None, ""), "a fact"]
    assert after(SILENT, 0) is SILENT
