"""A verification in a sentence, as a record and as a screenful."""

import json
from dataclasses import replace

import pytest

from widenet.memorise.checker.files import SignatureStatus
from widenet.memorise.checker.verify import Check, CheckStatus, VerifyResult
from widenet.report.verify import record, screen, sentences
from widenet.study.result import Outcome

UNSIGNED = "Unsigned: shows damage, not authorship."
LONG = "A rather long sentence that has to be wrapped into several lines of the screen, [bold] and all."


def result_of(*, failing: bool) -> VerifyResult:
    status = CheckStatus.FAILED if failing else CheckStatus.PASSED
    checks = (
        Check("certificate", CheckStatus.PASSED, LONG),
        Check("weights", status, "They were changed."),
        Check("sigma_min", CheckStatus.UNDECIDED, "No room."),
    )
    return VerifyResult(folder="folder", checks=checks)


@pytest.mark.parametrize(
    ("failing", "verdict"),
    [
        (True, "Refuted: 1 of 3 checks failed."),
        (False, "Not verified: 1 of 3 checks could not be decided here (sigma_min)."),
    ],
)
def test_a_verification_is_told_the_same_everywhere(failing, verdict, screen_of):
    result = result_of(failing=failing)
    assert sentences(result) == (verdict, UNSIGNED)
    found = record(result)
    assert found["verdict"] == [verdict, UNSIGNED]
    assert found["signature"] == "unsigned"
    assert found["verified"] is False
    assert [check["status"] for check in found["checks"]][-1] == "undecided"
    json.dumps(found)
    assert result.outcome is (Outcome.FAILED if failing else Outcome.PARTLY)
    text = screen_of(screen, result)
    assert text.splitlines()[0] == "widenet verify  folder"
    assert max(map(len, text.splitlines())) <= 80
    assert "[bold]" in text
    assert text.splitlines()[-2:] == [verdict, UNSIGNED]
    narrow = screen_of(screen, result, width=20)
    assert max(map(len, narrow.splitlines())) <= 20
    assert verdict in " ".join(narrow.split())


def test_where_every_check_was_made_nothing_is_left():
    checks = (Check("certificate", CheckStatus.PASSED, LONG),)
    assert sentences(VerifyResult(folder="f", checks=checks)) == (
        "Verified: 1 check passed, none was left out.",
        UNSIGNED,
    )


@pytest.mark.parametrize(
    ("signature", "told"),
    [
        (SignatureStatus.UNCHECKED, "Signed by a key you did not name: shows damage, not authorship."),
        (SignatureStatus.TRUSTED, "Signed by the key you trust."),
        (SignatureStatus.REFUTED, "Not shown to be signed by the key you trust."),
    ],
)
def test_who_signed_is_told_last(signature, told):
    assert sentences(replace(result_of(failing=False), signature=signature))[-1] == told
