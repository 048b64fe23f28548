"""Options behind a name: read by their types, or refused with what to do."""

import pytest

from widenet.base.errors import InputError
from widenet.base.options import parse_options

TYPES = {"degree": int, "offset": float}


def test_options_have_their_types():
    assert parse_options("'it'", "degree=2,offset=1", TYPES) == {"degree": 2, "offset": 1.0}
    assert isinstance(parse_options("'it'", "offset=1", TYPES)["offset"], float)
    assert parse_options("'it'", "", TYPES) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("degre=2", "'it' has no option 'degre': did you mean 'degree'?"),
        ("h=2", "'it' has no option 'h': there are 'degree', 'offset'."),
        ("degree=2.5", "'it' needs a whole number after degree=, not '2.5'."),
        ("degree", "'it' needs a whole number after degree=, not ''."),
        ("offset=inf", "'it' needs a finite number after offset=, not 'inf'."),
        (f"degree={'9' * 400}", "'it' needs a whole number after degree="),
        ("offset=1,offset=2", "'it' is given offset more than once: keep one."),
    ],
)
def test_wrong_options_are_explained(text, message):
    with pytest.raises(InputError) as refused:
        parse_options("'it'", text, TYPES)
    assert message in str(refused.value)


def test_a_name_without_options_says_so():
    with pytest.raises(InputError, match="'arcsin' has no option 'h': it has none"):
        parse_options("'arcsin'", "h=2", {})
