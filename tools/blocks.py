"""Run the code blocks of README.md, CONTRIBUTING.md and docs/*.md.

    python -m tools.blocks [PAGE ...]    run every block of some pages, or of all, and say how long each takes

A `python` block runs in the namespace of its page, after the blocks before it; a `text` block right under it
is what it prints. An `sh` block must end with exit code 0. In a `console` block each command follows a `$`,
and its output stands under it. Lines that are shown must be in the output, in this order; three dots stand
for lines that were left out. Blocks of other languages are for reading. All blocks of a page run in one
temporary folder, in which `widenet` and `python` are those of this interpreter.

A comment on the line before a block says otherwise: `<!-- slow -->` or `<!-- slow: why -->` leaves it to
`make docs-check`, `<!-- not run: why -->` leaves it out, and `<!-- file: name.py -->` writes it to a file
that later blocks can import.
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RUN = ("python", "sh", "console")
SLOW_PAGES = {  # page: why none of its blocks is part of `make test`
    "docs/compare.md": "compares all kernels on the digits, several minutes",
    "docs/memorise.md": "memorises the digits",
    "docs/theory-inside.md": "measures spectra of the digits",
    "docs/theory-separation.md": "trains networks on a whole concept class",
}
COMMAND = re.compile(r"(\$ )?(\.venv/bin/|widenet |python |make |pip )")
FENCE = re.compile(r"\s*(```+)\s*(\w*)")
MARK = re.compile(r"<!-- (slow|not run|file)(?:: (.+))? -->")
DOTS = ("...", "…")


class BlockError(Exception):
    """A block does not do what the page says."""


@dataclass(frozen=True)
class Block:
    """A block of code on a page.

    Attributes:
        page: Its path from the root.
        line: Number of its first line of code.
        language: What follows the fence.
        code: Its lines.
        mark: `slow`, `not run`, `file`, or nothing.
        remark: What follows the mark.
        printed: Lines that the page shows as what it prints; of a `python` block.
    """

    page: str
    line: int
    language: str
    code: str
    mark: str
    remark: str = ""
    printed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Page and line, as an editor opens them."""
        return f"{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        """Whether it is run at all."""
        return self.language in RUN and self.mark != "not run"

    @property
    def is_slow(self) -> bool:
        """Whether it is left to `make docs-check`."""
        return self.mark == "slow" or self.page in SLOW_PAGES

    @property
    def is_hidden_command(self) -> bool:
        """Whether it looks like commands but has no language, so that nobody would run it."""
        return not self.language and any(COMMAND.match(line) for line in self.code.splitlines())


def pages(root: Path) -> list[str]:
    """The pages whose blocks are run."""
    found = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    return [str(path.relative_to(root)) for path in found if path.is_file()]


def blocks_of(root: Path, page: str) -> list[Block]:
    """Every block of a page, in order."""
    found: list[Block] = []
    fence, language, mark, remark, before = "", "", "", "", ""
    start, code, is_next = 0, list[str](), False
    for number, line in enumerate((root / page).read_text(encoding="utf-8").splitlines(), start=1):
        match = FENCE.match(line)
        if fence and match and match[1] == fence and not match[2]:
            if language == "text" and is_next:
                found[-1] = replace(found[-1], printed=tuple(code))
            found.append(Block(page, start, language, "\n".join(code) + "\n", mark, remark))
            fence, before, is_next = "", "", language == "python"
        elif fence:
            code.append(line)
        elif match:
            told = MARK.fullmatch(before)
            fence, language = match[1], match[2]
            mark, remark = (told[1], told[2] or "") if told else ("", "")
            start, code = number + 1, []
        else:
            before = line.strip()
            is_next = is_next and not before
    return found


class Session:
    """One page: its folder, its namespace, and how far it has been run."""

    def __init__(self, page: str, *, slow: bool, root: Path = ROOT) -> None:
        self._waiting = [
            block for block in blocks_of(root, page) if block.is_run and (slow or not block.is_slow)
        ]
        self._root = root
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name, "page")
        commands = Path(self._folder.name, "bin")
        self.folder.mkdir()
        commands.mkdir()
        for name, options in (("widenet", "-m widenet"), ("python", "")):
            script = commands / name
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {options} "$@"\n')
            script.chmod(0o755)
        if (root / "examples").is_dir():
            (self.folder / "examples").symlink_to(root / "examples")
        search = filter(None, (str(ROOT), str(root), os.environ.get("PYTHONPATH")))
        self._environment = {
            **os.environ,
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(search),
            "COLUMNS": "80",
        }
        self._python: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """End the page's interpreter and remove its folder."""
        if self._python is not None:
            self._python.communicate()
        self._folder.cleanup()

    def run(self, block: Block) -> None:
        """Run this block, after those before it that have not been run, whatever comes of these."""
        while block in self._waiting:
            earlier = self._waiting.pop(0)
            try:
                self._run(earlier)
            except BlockError:
                if earlier == block:
                    raise

    def _run(self, block: Block) -> None:
        if block.mark == "file":
            (self.folder / block.remark).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            compare(block, "the block", block.printed, self._run_python(block))
        elif block.language == "sh":
            self._run_shell(block, block.code)
        else:
            for command, expected in commands_of(block.code):
                compare(block, command.strip(), expected, self._run_shell(block, command))

    def _run_python(self, block: Block) -> str:
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-m", "tools.blocks", "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=self.folder,
                env=self._environment,
            )
        assert self._python.stdin is not None
        assert self._python.stdout is not None
        padded = "\n" * (block.line - 1) + block.code  # so that a traceback has the lines of the page
        self._python.stdin.write(json.dumps({"page": str(self._root / block.page), "code": padded}) + "\n")
        self._python.stdin.flush()
        answer = self._python.stdout.readline()
        found: dict[str, str] = json.loads(answer) if answer else {"error": "The interpreter ended."}
        if found["error"]:
            raise BlockError(f"{block.name} fails:\n{found['error']}")
        return found["output"]

    def _run_shell(self, block: Block, code: str) -> str:
        ended = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", code.replace(".venv/bin/", "")],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
        )
        if ended.returncode:
            raise BlockError(
                f"{block.name} ends with exit code {ended.returncode}:\n{code}{ended.stdout}{ended.stderr}"
            )
        return ended.stdout


def commands_of(code: str) -> Iterator[tuple[str, list[str]]]:
    """Each command after a `$`, and the lines of output under it."""
    command, expected = "", list[str]()
    for line in code.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, expected
            command, expected = line[2:] + "\n", []
        elif command.endswith("\\\n"):
            command += line + "\n"
        else:
            expected.append(line)
    if command:
        yield command, expected


def compare(block: Block, what: str, expected: Sequence[str], output: str) -> None:
    """Refuse a line that is not in the output after the lines before it."""
    lines = iter([line.rstrip() for line in output.splitlines()])
    for line in expected:
        if line.strip() and line.strip() not in DOTS and line.rstrip() not in lines:
            raise BlockError(
                f"{block.name} shows a line that is not in the output of {what}:\n{line}\n"
                f"The output is:\n{output}"
            )


def serve() -> None:
    """Run blocks that come in as lines of JSON, in one namespace; answer each with its output and error."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for line in sys.stdin:
        given, output, error = json.loads(line), io.StringIO(), ""
        try:
            with redirect_stdout(output):
                exec(compile(given["code"], given["page"], "exec"), namespace)
        except BaseException:
            error = traceback.format_exc()
        print(json.dumps({"output": output.getvalue(), "error": error}), flush=True)


def main(arguments: list[str]) -> int:
    """Run pages and time their blocks; returns the exit code."""
    failed = 0
    for page in arguments or pages(ROOT):
        with Session(page, slow=True) as session:
            for block in blocks_of(ROOT, page):
                if not block.is_run:
                    continue
                start = time.perf_counter()
                try:
                    session.run(block)
                    told = "slow" if block.is_slow else "fast"
                except BlockError as error:
                    failed, told = 1, f"failed\n{error}"
                print(f"{time.perf_counter() - start:6.1f} s  {block.name}  {told}", flush=True)
    return failed


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        sys.exit(main(sys.argv[1:]))
