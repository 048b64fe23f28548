"""What an audit leaves in its folder besides the page."""

import csv
import io
from dataclasses import replace

from widenet.audit.findings import Outside, Suspect
from widenet.report.audit.files import labels_csv, record
from widenet.report.audit.sentences import sentences


def test_csv_holds_exact_values(result_of):
    suspects = (Suspect(7, '=1+1,"x"\n', "</script>", 0.1 + 0.2), Suspect(2, "a", "b", 1e-300))
    result = replace(result_of("binary"), ranking=suspects, raw_cells=True)
    rows = list(csv.reader(io.StringIO(labels_csv(result))))
    assert rows[0] == ["row", "given", "suggested", "score"]
    assert rows[1] == ["7", '=1+1,"x"\n', "</script>", repr(0.1 + 0.2)]
    assert rows[2] == ["2", "a", "b", "1e-300"]


def test_the_record_has_the_sentences_and_no_ranking(task, result_of):
    result = result_of(task, images=True)
    found = record(result)
    assert found["verdict"] == list(sentences(result))
    assert not {"labels", "pictures", "soundness", "gram"} & found.keys()
    assert {"duplicates", "conflicts", "opposites"} <= found["data"].keys()
    assert found["forecast"] == {
        "seconds": 1.5,
        "memory_bytes": 3 * 2**20,
        "gram": "dense",
        "gram_bytes": 2**20,
    }


def test_why_the_bound_does_not_apply_is_told_for_every_reason(result_of):
    result = result_of("multiclass")
    for reason in Outside:
        bound = replace(
            result.bound, reasons=(reason,), value=None if reason is Outside.NOT_CERTIFIED else 1.4
        )
        found = record(replace(result, bound=bound))["bound"]
        assert found["applies"] is False
        assert found["reasons"] == [reason.value]
        assert ("does not apply directly" in found["why"]) == (reason is not Outside.NOT_CERTIFIED)
