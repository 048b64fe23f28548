"""The command line, called as a user calls it."""

import sys
from collections.abc import Callable

import pytest

from widenet import cli

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def widenet(monkeypatch, capsys, tmp_path) -> Run:
    """Run the command line in an empty folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["widenet", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return run
