import base64
import hashlib
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from widenet.report.page import audit_page
from widenet.report.words import questions

HOSTILE = "</script><img src=x onerror=alert(1)>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Outline(HTMLParser):
    """Elements with their attributes, and text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts.append(data)
        elif self.inside != "style":
            self.text += data

    def tags(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]


def unknowns(result):
    """The same audit where nothing that may be missing is known."""
    return replace(
        result,
        complexity=replace(result.complexity, value=None, upper=None, random=None, random_error=None),
        spectrum=replace(result.spectrum, eigenvalue_min=None, eigenvalue_min_certified=None),
        curve=replace(result.curve, worst_loss=None, movement_limit=None, trained=None),
        bound=replace(result.bound, value=None, terms={}, applies=False, why="It needs the complexity."),
        loo=replace(result.loo, error=None, error_bar=None, misclassified=None),
        learning_curve=replace(
            result.learning_curve,
            n=(),
            error=(),
            error_low=(),
            error_high=(),
            misclassified=None,
            measured=(),
        ),
        labels_file=None,
    )


def test_page_answers_all_questions(task, result_of, dataset_of):
    result = result_of(task)
    outline = Outline(audit_page(result, dataset_of(task)))
    assert all(question in outline.text for question in questions(result))
    for told in ("0.812", "3.25", "123", "4,567", "5%", "2% to 9%", "row 1", "3 MiB", "1.2 seconds"):
        assert told in outline.text


def test_headings_are_in_order_and_links_lead_somewhere(task, result_of, dataset_of):
    outline = Outline(audit_page(result_of(task), dataset_of(task)))
    levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    identifiers = {attributes.get("id") for _, attributes in outline.elements}
    assert {link["href"].removeprefix("#") for link in outline.tags("a")} <= identifiers


def test_page_is_offline_and_only_its_own_scripts_may_run(task, result_of, dataset_of):
    page = audit_page(result_of(task), dataset_of(task))
    outline = Outline(page)
    assert len(page.encode()) < 7_000_000
    assert not outline.tags("link")
    assert all("src" not in attributes for attributes in outline.tags("script"))
    policy = next(m["content"] for m in outline.tags("meta") if m.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    run = [script for script in outline.scripts if "Plotly" in script]
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in run]
    assert re.findall(r"'sha256-(.*?)'", policy) == digests
    assert re.search(r"script-src[^;]*", policy)[0].count("'") == 2 * len(digests)


def test_pictures_of_the_worst_rows(task, result_of, dataset_of):
    pictures = Outline(audit_page(result_of(task), dataset_of(task, images=True))).tags("img")
    assert len(pictures) == 24
    assert all(picture["src"].startswith("data:image/png;base64,") and picture["alt"] for picture in pictures)
    assert not Outline(audit_page(result_of(task), dataset_of(task))).tags("img")


def test_a_label_that_is_kept_is_not_struck_out(result_of, dataset_of):
    result = result_of("binary")
    first, second, *_ = result.labels
    labels = (first, replace(second, suggested=second.given))
    outline = Outline(audit_page(replace(result, labels=labels), dataset_of("binary", images=True)))
    assert len(outline.tags("s")) == 1
    assert "cat → dog" in outline.text
    assert "cat kept" in outline.text


def test_what_is_not_known_is_said(task, result_of, dataset_of):
    text = Outline(audit_page(unknowns(result_of(task)), dataset_of(task))).text
    assert "not certified, because the smallest eigenvalue" in text
    assert "The worst case is not drawn, because" in text
    assert "Theorem 5.1 gives no bound here. It needs the complexity." in text
    assert "too few rows for a learning curve" in text
    assert "None" not in text
    assert "nan" not in text.lower().split()


def test_long_lists_are_cut_with_a_count(result_of, dataset_of):
    result = result_of("binary")
    pairs = tuple((2 * k, 2 * k + 1) for k in range(1, 101))
    data = replace(result.data, duplicates=(tuple(range(1000)),), conflicts=pairs)
    text = Outline(audit_page(replace(result, data=data), dataset_of("binary"))).text
    assert "rows 40 and 41" in text
    assert "rows 42 and 43" not in text
    assert "and 80 more" in text
    assert "and 980 more" in text


def test_text_from_the_data_stays_text(task, result_of, dataset_of):
    hostile = {"rename": lambda name: HOSTILE}
    page = audit_page(result_of(task, **hostile), dataset_of(task, **hostile))
    outline = Outline(page)
    assert page.count(HOSTILE) == 0
    assert HOSTILE in outline.text
    assert not outline.tags("img")
    assert len(outline.tags("script")) == 3
    data = next(script for script in outline.scripts if script.startswith("{"))
    assert "<" not in data


def test_quotes_from_the_data_stay_in_their_attribute(result_of, dataset_of):
    result = result_of("binary", rename=lambda name: f'" onerror="alert(1)" {name}')
    pictures = Outline(audit_page(result, dataset_of("binary", images=True))).tags("img")
    assert all(set(picture) == {"src", "alt"} for picture in pictures)
    assert '" onerror="alert(1)" cat' in pictures[0]["alt"]


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_browser_draws_hostile_names_literally(result_of, dataset_of, tmp_path):
    hostile = {"rename": lambda name: HOSTILE}
    page = tmp_path / "report.html"
    page.write_text(audit_page(result_of("multiclass", **hostile), dataset_of("multiclass", **hostile)))
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --virtual-time-budget=5000 --enable-logging=stderr "
        "--dump-dom"
    )
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    outline = Outline(done.stdout)
    drawn = [
        attributes for attributes in outline.tags("svg") if "main-svg" in (attributes.get("class") or "")
    ]
    assert len(drawn) >= 7
    assert not outline.tags("img")
    assert "CONSOLE" not in done.stderr
    ticks = re.findall(r'data-unformatted="&amp;lt;/script[^>]*>(.*?)</text>', done.stdout)
    assert len(ticks) == 3
    assert all(tick.startswith("&lt;/script&gt;&lt;img src=x onerr") for tick in ticks)
