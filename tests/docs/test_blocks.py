"""Every block of the documentation runs, and shows what comes out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.blocks import ROOT, Block, BlockError, Session, blocks_of, pages

BLOCKS = [block for page in pages(ROOT) for block in blocks_of(ROOT, page)]


def cases() -> Iterator:
    for block in BLOCKS:
        if block.is_run:
            marks = [pytest.mark.xdist_group(block.page)]  # blocks of a page build on each other
            marks += [pytest.mark.slow] if block.is_slow else []
            yield pytest.param(block, id=block.name, marks=marks)


@pytest.fixture(scope="module")
def session():
    opened: dict[tuple[str, bool], Session] = {}

    def of(block: Block) -> Session:
        key = block.page, block.is_slow
        if key not in opened:
            opened[key] = Session(block.page, slow=block.is_slow)
        return opened[key]

    yield of
    for each in opened.values():
        each.close()


@pytest.mark.parametrize("block", list(cases()))
def test_block_runs(block, session):
    session(block).run(block)


def test_no_command_hides_in_a_block_without_a_language():
    assert [block.name for block in BLOCKS if block.is_hidden_command] == []


@pytest.fixture
def run(tmp_path: Path):
    """Runs a page that holds this text, all of it, and returns what was run."""

    def run(text: str, *, slow: bool = True) -> list[Block]:
        (tmp_path / "README.md").write_text(text)
        blocks = blocks_of(tmp_path, "README.md")
        with Session("README.md", slow=slow, root=tmp_path) as session:
            for block in blocks:
                if block.is_run:
                    session.run(block)
        return blocks

    return run


def test_blocks_know_their_line_language_and_mark(run):
    text = "# Page\n\n```python\na = 1\n```\n\n<!-- slow: why -->\n```sh\ntrue\n```\ntext\n```\noutput\n```\n"
    found = [(block.name, block.language, block.mark) for block in run(text)]
    assert found == [("README.md:4", "python", ""), ("README.md:9", "sh", "slow"), ("README.md:13", "", "")]


def test_python_blocks_share_a_namespace_and_a_folder_with_shell_blocks(run):
    run(
        "```python\nimport pathlib\npathlib.Path('made').write_text('here')\n```\n"
        "```console\n$ cat made\nhere\n```\n"
        "```python\nassert pathlib.Path('made').exists()\n```\n"
    )


def test_a_block_may_be_a_file_that_others_import(run):
    run("<!-- file: made.py -->\n```python\nN = 3\n```\n```python\nimport made\n\nassert made.N == 3\n```\n")
    with pytest.raises(BlockError, match="No module named 'made'"):
        run("```python\nN = 3\n```\n```python\nimport made\n```\n")


def test_a_failing_block_is_named_with_the_line_of_the_page(run):
    with pytest.raises(BlockError, match=r"README.md:5 fails(.|\n)*README.md\", line 6") as found:
        run("```python\na = 1\n```\n```python\nb = a\n1 / 0\n```\n")
    assert "ZeroDivisionError" in str(found.value)


def test_an_exit_code_fails_a_shell_block_wherever_it_comes_from(run):
    for code in ("false\ntrue", "false | true", "exit 3"):
        with pytest.raises(BlockError, match="exit code"):
            run(f"```sh\n{code}\n```\n")


@pytest.mark.parametrize("shown", ["one\ntwo", "one\n...\nthree", "…\nthree", "two", ""])
def test_lines_of_the_output_may_be_left_out(run, shown):
    run(f"```console\n$ printf 'one\\ntwo\\nthree\\n'\n{shown}\n```\n")


@pytest.mark.parametrize("shown", ["four", "two\none", "one\none", "  one"])
def test_other_lines_are_refused(run, shown):
    with pytest.raises(BlockError, match="not in the output"):
        run(f"```console\n$ printf 'one\\ntwo\\nthree\\n'\n{shown}\n```\n")


def test_text_right_under_a_python_block_is_what_it_prints(run):
    code = "```python\nprint('one')\nprint('two')\n```\n"
    run(f"{code}\n```text\none\n...\n```\n")
    run(f"{code}\nAnother text:\n\n```text\nthree\n```\n")
    with pytest.raises(BlockError, match="not in the output"):
        run(f"{code}\n```text\nthree\n```\n")


def test_commands_are_those_of_this_interpreter(run):
    run(
        "```console\n$ .venv/bin/widenet --version\n...\n"
        "$ python -c 'import sys; print(sys.version_info[0])'\n3\n"
        "$ printf '%s\\n' \\\n  more\nmore\n```\n"
    )


def test_marks_leave_blocks_out(run):
    failing = "```sh\nfalse\n```\n"
    run(f"<!-- not run: it fails -->\n{failing}")
    run(f"<!-- slow -->\n{failing}", slow=False)
    with pytest.raises(BlockError):
        run(f"<!-- slow -->\n{failing}")


def test_commands_without_a_language_are_noticed(run):
    hidden = [block.is_hidden_command for block in run("```\nwidenet audit\n```\n```\n1 2 3\n```\n")]
    assert hidden == [True, False]
