from widenet.report.parts.plots import MOST_POINTS, compact, label, log_ranks, thinned


def test_labels_hide_no_markup():
    assert label("<b>bold</b>") == "&lt;b&gt;bold&lt;/b&gt;"
    assert label("a & b") == "a &amp; b"
    assert label("%{y} $x$") == "%{y} $x$"


def test_thinning_keeps_both_ends():
    assert thinned([3, 5, 9]) == [3, 5, 9]
    few = thinned(range(10, 100_000))
    assert len(few) == MOST_POINTS
    assert (few[0], few[-1]) == (10, 99_999)
    assert few == sorted(set(few))


def test_logarithmic_ranks_hold_both_ends():
    assert log_ranks(0, 50) == []
    assert log_ranks(1, 50) == [1]
    assert log_ranks(8, 50) == list(range(1, 9))
    ranks = log_ranks(60_000, 50)
    assert (ranks[0], ranks[-1]) == (1, 60_000)
    assert len(ranks) <= 51


def test_counts_as_ticks():
    assert [compact(n) for n in (450, 1797, 14376, 60000, 1_200_000)] == ["450", "1.8k", "14k", "60k", "1.2M"]
