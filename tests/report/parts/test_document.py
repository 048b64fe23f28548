"""The parts of a page that come from elsewhere."""

import hashlib

from widenet.report.parts.document import plotly, resource

# plotly.js-basic-dist-min 4.1.1 as its package on npm has it; see docs/decisions.md
PLOTLY_SHA256 = "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"


def test_plotly_is_the_published_file():
    assert hashlib.sha256(plotly().encode()).hexdigest() == PLOTLY_SHA256


def test_its_licence_comes_with_it():
    assert resource("plotly-LICENSE.txt").startswith("MIT License")
