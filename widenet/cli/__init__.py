"""The command line: a command for each study, made from its settings, and those that are none."""

from widenet.cli.main import main

__all__ = ["main"]
