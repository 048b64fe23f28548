"""The house keeps its rules, and its picture is that of the code."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.house import FLOOR_OF, ROOT, documents, outdated, problems, read_house, write

PARTS_RULE = "report/parts may import base and study only"
SOUND = {
    "widenet/__init__.py": '"""Names."""',
    "widenet/base/__init__.py": '"""Base: errors -> all."""',
    "widenet/base/errors.py": "import math",
    "widenet/kernels/__init__.py": '"""Kernels of nets."""\nfrom widenet.kernels.relu import Relu',
    "widenet/kernels/relu.py": "from widenet.base.errors import Error",
    "widenet/audit/__init__.py": '"""One study."""',
    "widenet/audit/run.py": "from widenet.kernels import Relu",
    "widenet/compare/__init__.py": '"""Another study."""',
    "widenet/report/__init__.py": '"""Pages."""',
    "widenet/report/parts/__init__.py": '"""Parts of pages."""',
    "widenet/report/parts/page.py": "from widenet.base import errors",
    "widenet/report/audit.py": "import widenet.audit.run\nfrom widenet.report.parts.page import page",
}


@pytest.fixture
def house(tmp_path: Path):
    def build(changes: dict[str, str] | None = None):
        for name, text in (SOUND | (changes or {})).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return read_house(tmp_path)

    return build


def test_the_tree_keeps_the_rules_and_its_page_and_picture_are_up_to_date():
    ours = read_house(ROOT)
    assert problems(ours) == []
    assert outdated(ROOT, documents(ours), "python -m tools.house") == []


def test_a_sound_house_has_no_problems(house):
    assert problems(house()) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("base/errors.py", "import widenet.kernels.relu", "base stands below kernels"),
        ("kernels/relu.py", "def f():\n    from widenet.audit.run import run", "kernels stands below audit"),
        ("kernels/relu.py", "from ..audit import run", "kernels stands below audit"),
        ("audit/run.py", "from widenet.report import audit", "audit stands below report"),
        ("audit/run.py", "import widenet", "audit stands below front door"),
        ("compare/run.py", "from widenet.audit.run import run", "compare and audit stand on one floor"),
        ("report/parts/page.py", "from widenet.audit import run", PARTS_RULE),
        ("report/parts/page.py", "import widenet.kernels", PARTS_RULE),
        ("report/parts/page.py", "from widenet.report import audit", PARTS_RULE),
        ("kernels/erf.py", "try:\n    import widenet.cli\nexcept ImportError:\n    import widenet.audit.run",
         "kernels stands below audit"),
        ("attic/box.py", "", "widenet/attic/box.py is in no room"),
        ("loose.py", "", "widenet/loose.py is in no room"),
        ("compare/__init__.py", "", "widenet/compare/__init__.py has no docstring"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_named(house, name, text, expected):
    (found,) = [each for each in problems(house({f"widenet/{name}": text})) if "circle" not in each]
    assert expected in found


def test_modules_in_a_circle_are_named_even_within_a_room(house):
    (found,) = problems(
        house(
            {
                "widenet/kernels/relu.py": "from widenet.kernels import erf",
                "widenet/kernels/erf.py": "def f():\n    from .relu import Relu",
            }
        )
    )
    assert "circle" in found
    assert "widenet.kernels.relu" in found
    assert "widenet.kernels.erf" in found


@pytest.mark.parametrize("test", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_imports_for_types_alone_do_not_count(house, test):
    text = f"if {test}:\n    from widenet.audit.run import run\n"
    assert problems(house({"widenet/kernels/relu.py": text})) == []
    other = text + "else:\n    from widenet.audit.run import run\n"
    assert any("stands below" in each for each in problems(house({"widenet/kernels/relu.py": other})))


def test_edges_count_the_imports_of_other_rooms(house):
    found = house()
    assert found.edges("report") == {"audit": 1, "report/parts": 1}
    assert found.edges("kernels") == {"base": 1}
    assert found.edges("base") == {}


def test_documents_show_every_room_and_module(house):
    found = house()
    page, picture = documents(found).values()
    texts = [
        element.text for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    ]
    for room in FLOOR_OF:
        assert (room in texts) == bool(found.modules(room))
    assert "Errors → all." in texts
    for path in found.paths.values():
        assert f"(../{path})" in page


def test_an_import_more_makes_the_documents_out_of_date(house, tmp_path):
    write(tmp_path, documents(house()))
    assert outdated(tmp_path, documents(house()), "command") == []
    changed = documents(house({"widenet/audit/more.py": "import widenet.base.errors"}))
    assert [each.partition(" ")[0] for each in outdated(tmp_path, changed, "command")] == [
        "docs/house.md",
        "docs/images/house.svg",
    ]
