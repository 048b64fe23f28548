"""The reference has every public name, and is that of the code."""

from pathlib import Path

import pytest

from tools.api import ROOT, as_markdown, documents, leftover, problems, public_names
from tools.house import outdated, write

TREE = {
    "__init__.pyi": "from widenet.audit.run import run_audit as run_audit\n"
    "from widenet.audit.settings import AuditSettings as AuditSettings\n",
    "__init__.py": '"""Names."""',
    "audit/__init__.py": '"""Audit: data -> answers."""',
    "audit/run.py": 'def run_audit(data: str, *, eta: float = 0.5, **more: int) -> int:\n    """Run it."""\n',
    "audit/settings.py": "DEFAULT = 'relu'\n@dataclass(frozen=True)\nclass AuditSettings:\n"
    '    """Depends on."""\n    schema: ClassVar[str]\n    kernel: str = setting(DEFAULT, "Kernel.")\n'
    '    rows: int = required("Rows.")\n    seed: int = seed_setting()\n'
    '    @property\n    def size(self) -> int:\n        """Its size."""\n'
    '    def _hidden(self):\n        """Not shown."""\n',
    "base/__init__.py": '"""Base."""',
    "base/memory.py": 'def free():\n    """Bytes."""\n',
    "spectrum/__init__.py": '"""Spectra."""\nfrom widenet.base.memory import free\n'
    'from widenet.spectrum.gram import Gram, gram\n__all__ = ["Gram", "free", "gram"]\n',
    "spectrum/gram.py": 'class Gram:\n    """An operator."""\n    def __init__(self, n: int = 2): ...\n\n'
    'def gram():\n    """Another."""\n',
} | {
    f"{room}/__init__.py": '"""A room."""'
    for room in ("data", "kernels", "predict", "theory", "networks", "training")
}


def build(root: Path, changes: dict[str, str] | None = None) -> Path:
    for name, text in (TREE | (changes or {})).items():
        path = root / "widenet" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_every_public_name_has_a_docstring():
    assert problems(public_names(ROOT)) == []


def test_the_reference_is_up_to_date():
    made = documents(ROOT)
    assert outdated(ROOT, made, "python -m tools.api") + leftover(ROOT, made) == []


def test_names_stand_on_the_page_of_the_room_that_defines_them(tmp_path):
    names = {room: [each.name for each in members] for room, members in public_names(build(tmp_path)).items()}
    assert names == {"spectrum": ["Gram", "gram"], "audit": ["AuditSettings", "run_audit"]}


def test_signatures_defaults_meanings_and_methods_are_shown(tmp_path):
    made = documents(build(tmp_path))
    audit = made[Path("docs/api/audit.md")]
    assert "widenet.run_audit(data: str, *, eta: float = 0.5, **more: int) -> int\n" in audit
    assert "widenet.AuditSettings(kernel: str = 'relu', rows: int, seed: int = 0)\n" in audit
    assert "- `kernel`: Kernel.\n- `rows`: Rows." in audit
    assert "- `size`: Its size." in audit
    assert "_hidden" not in audit
    assert "(../../widenet/audit/run.py)" in audit
    assert "widenet.spectrum.Gram(n: int = 2)\n" in made[Path("docs/api/spectrum.md")]


def test_names_that_differ_in_capitals_have_anchors_of_their_own(tmp_path):
    index = documents(build(tmp_path))[Path("docs/api/index.md")]
    assert "[`Gram`](spectrum.md#gram) [`gram`](spectrum.md#gram-1)" in index


def test_a_missing_docstring_is_named(tmp_path):
    root = build(tmp_path, {"audit/run.py": "def run_audit(): ..."})
    assert problems(public_names(root)) == ["widenet.audit.run.run_audit is public and has no docstring."]


def test_a_name_that_nothing_defines_is_refused(tmp_path):
    with pytest.raises(LookupError, match=r"widenet\.audit\.run has no run_audit"):
        public_names(build(tmp_path, {"audit/run.py": "run = 1"}))


def test_another_docstring_makes_a_page_out_of_date(tmp_path):
    write(tmp_path, documents(build(tmp_path / "before")))
    changed = documents(build(tmp_path / "after", {"audit/run.py": 'def run_audit():\n    """Other."""'}))
    assert outdated(tmp_path, changed, "again") == ["docs/api/audit.md is out of date: run `again`."]
    del changed[Path("docs/api/audit.md")]
    assert leftover(tmp_path, changed) == ["docs/api/audit.md is about no room: remove it."]


def test_sections_become_lists_and_examples_blocks():
    text = "Sum of a*b*c in `a*b`.\n\n>>> f(1)\n2\n\nArgs:\n    a: One\n        and two.\n    b: Three <n."
    assert as_markdown(text) == (
        "Sum of a\\*b\\*c in `a*b`.\n\n```pycon\n>>> f(1)\n2\n```\n\n"
        "Args:\n\n- `a`: One and two.\n- `b`: Three \\<n."
    )
