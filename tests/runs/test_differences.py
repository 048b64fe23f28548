"""What a run is told where it finds work in its store that it cannot go on from."""

import pytest

from widenet.base.progress import Progress
from widenet.runs import Store, Trial, TrialResult, run_trials
from widenet.runs.differences import Differences, what_differs
from widenet.runs.tables import Row

SETTINGS = {"seed": 0, "width": 64, "method": "pgd", "classes": ["a", "b"]}
HASH, OTHER = "0123456789abcdef" * 4, "fedcba9876543210" * 4


def trial(data: str = "d", code: str = "1", **changed: object) -> Trial:
    return Trial(SETTINGS | changed, code=code, data=data)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.store") as opened:
        opened.commit([Row.of(trial(data=HASH, code=f"0.1 {HASH}"), TrialResult({}))])
        yield opened


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (trial(HASH, f"0.1 {HASH}", seed=1), "`seed` was 0 and is 1"),
        (trial(HASH, f"0.1 {HASH}", seed=1, width=8), "`seed` was 0 and is 1, `width` was 64 and is 8"),
        (trial(OTHER, f"0.1 {HASH}"), "the data changed (hash 01234567 to fedcba98)"),
        (trial(HASH, f"0.2 {OTHER}"), "the code changed (version 0.1 01234567 to 0.2 fedcba98)"),
        (trial(HASH, f"0.1 {HASH}", depth=3), "`depth` was not set and is 3"),
        (trial(HASH, f"0.1 {HASH}", width=None), "`width` was 64 and is not set"),
        (trial(HASH, f"0.1 {HASH}", classes=[]), "`classes` was 'a', 'b' and is none"),
    ],
    ids=["setting", "two settings", "data", "code", "new setting", "no value", "a list"],
)
def test_what_differs_is_told_in_one_sentence(store, wanted, told):
    sentence = what_differs(store, [wanted]).told()
    assert sentence == f"{store.path} holds work of another run, so this one starts afresh: {told}."


def test_many_settings_are_counted(store):
    wanted = trial(HASH, f"0.1 {HASH}", seed=1, width=2, method="a", classes=["b"])
    assert what_differs(store, [wanted]).told().endswith("is 1, 1 other setting changed.")


def test_the_nearest_is_compared_with_states_too(store):
    store.save_state(trial(HASH, "2", seed=5, width=9), {}, {"step": 1})
    found = what_differs(store, [trial(HASH, "2", seed=5, width=10)])
    assert found.settings == (("width", 9, 10),)
    assert (found.data, found.code) == (None, None)


def test_nothing_is_told_of_other_work_nor_twice(store, tmp_path):
    assert what_differs(store, [Trial({"job": "x", "n": 3, "seed": 0}, "1", "d")]) is None
    assert what_differs(store, [trial(seed=1)]) is not None
    assert what_differs(store, [trial(seed=2)]) is None
    with Store(tmp_path / "empty.store") as empty:
        assert what_differs(empty, [trial()]) is None


def test_more_trials_of_a_run_that_goes_on_are_no_difference(store):
    mine = trial(HASH, f"0.1 {HASH}")
    assert what_differs(store, [mine, trial(HASH, f"0.1 {HASH}", seed=1)]) is None
    store.unused = None
    store.commit([Row.of(trial(HASH, "old", seed=1), TrialResult({}))])
    found = what_differs(store, [mine, trial(HASH, "new", seed=1)])
    assert found.code == ("old", "new")


def test_what_one_run_used_is_not_another_ones_difference(store):
    """Figures of a gallery share a store, and each finds the trials of those before it."""
    assert what_differs(store, [trial(HASH, f"0.1 {HASH}")]) is None
    assert what_differs(store, [trial(HASH, f"0.1 {HASH}", seed=1)]) is None


def test_a_run_notes_it(store):
    facts = []

    class Told(Progress):
        def note(self, fact):
            facts.append(fact)

    run_trials([[trial(seed=9)]], lambda _: [TrialResult({})], store=store, progress=Told())
    (fact,) = facts
    assert isinstance(fact, Differences)
