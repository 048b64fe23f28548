"""The command line, a module for each command."""

from widenet.cli.main import main

__all__ = ["main"]
