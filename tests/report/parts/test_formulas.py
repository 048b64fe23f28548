from widenet.report.parts.formulas import formula, frac, sub, sum_to, sup, with_words


def test_words_are_names_digits_numbers_and_the_rest_signs():
    reached = 'tabindex="0" role="group" aria-label="Formula"'  # it scrolls on a narrow page
    shown = f'<div class="formula" {reached}><math displaystyle="true">{{}}</math></div>'
    symbols = "<mi>min</mi><mo>&gt;</mo><mn>10</mn><mi>⊤</mi>"
    assert formula("min > 10 ⊤") == shown.format(symbols)
    assert formula("‖") == shown.format('<mo stretchy="false">‖</mo>')


def test_several_terms_are_a_row_where_one_is_expected():
    assert sup("x", "2") == "<msup><mi>x</mi><mn>2</mn></msup>"
    assert sup("( x )", "2").startswith("<msup><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow><mn>2")
    nested = frac(("2", (sub("x", "i"), "y")), "n")
    x_i = "<msub><mi>x</mi><mi>i</mi></msub>"
    assert nested == f"<mfrac><mrow><mn>2</mn>{x_i}<mi>y</mi></mrow><mi>n</mi></mfrac>"
    from_one = "<mrow><mi>j</mi><mo>=</mo><mn>1</mn></mrow>"
    assert sum_to("j = 1", "n") == f"<munderover><mo>∑</mo>{from_one}<mi>n</mi></munderover>"


def test_text_around_formulas_is_escaped_in_paragraphs():
    assert with_words("a < b:", formula("a"), "so") == f"<p>a &lt; b:</p>{formula('a')}<p>so</p>"
