from widenet.report.parts.markup import Html, element, join, marked, paragraphs, table


def test_text_is_escaped_and_markup_is_kept():
    assert element("p", "<b>", Html("<i>x</i>"), class_="a", aria_label='"') == (
        '<p class="a" aria-label="&quot;">&lt;b&gt;<i>x</i></p>'
    )
    assert join("a & b", Html("&amp;")) == "a &amp; b&amp;"


def test_settings_in_sentences_are_code():
    assert marked("Set `train=True`, or <not>.") == "Set <code>train=True</code>, or &lt;not&gt;."
    assert marked("`<x>`") == "<code>&lt;x&gt;</code>"
    assert marked("a ` alone") == "a ` alone"
    assert paragraphs(["a `b`"], class_="note") == '<p class="note">a <code>b</code></p>'


def test_a_table_has_headings_and_a_name():
    text = table(("what", "value"), [("a", "<1>")], "Numbers")
    assert '<th scope="row">a</th><td>&lt;1&gt;</td>' in text
    assert 'aria-label="Numbers"' in text
