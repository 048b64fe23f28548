"""Command lines from a grammar that mostly gets past parsing: none may end in a traceback, or never.

A command runs in this process, in a folder with small tables. It must end with a documented exit code, say
something where that is not 0, and print JSON where it was asked to.
"""

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

from fuzz.report import FuzzReport
from widenet.cli.main import main
from widenet.theory.entry import Argument
from widenet.theory.names import quantity_groups

BUDGET = 30.0  # seconds that one command may take
CODES = {0: "done", 1: "failed or refuted", 2: "refused", 3: "partly or undecided"}
RARE = 0.02  # share of values that are none
ODD = (
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "1e400",
    "1e-400",
    "9" * 40,
    "a,b",
    "=",
    "'",
    "[red]x[/red]",
    "\x1b[31m",
    "é",
    "%s",
)
TABLES = ("table.csv", "table.csv", "table.csv", "numbers.csv", "numbers.csv", "repeated.csv", "few.csv")
POOR = ("one.csv", "empty.csv", "nothing.csv")  # tables that are refused
CONCEPTS = (
    "resnet-cube:n=30,d=8",
    "three-sines:n=20",
    "parity6:n=20,d=8",
    "resnet-cube:n=0",
    "resnet-cube:m=1",
)
METHODS = ("ridge", "gaussian", "relu2-bias-all", "2layer-all", "polynomial", "boosting", "nothing")
KERNELS = ("relu2-hidden", "relu2-all", "relu3-all", "gaussian", "arcsin", "recursive", "relu2-last", "relu")
FIGURES = ("mild-memorisation/fig2", "mild-memorisation/fig99", "nothing")
FORMULAS = (
    "sin(3*z)",
    "0,1,-1/2",
    "1/factorial(i)",
    "exp(z)",
    "2**(2**i)",
    "z**",
    "z/0",
    "cos(z)*z**3",
    "i",
    "((z))",
)
SHARES = {  # how often each command is drawn
    "theory": 0.45, "audit": 0.15, "memorise": 0.13, "verify": 0.1, "compare": 0.08, "data": 0.05,
    "reproduce": 0.02, "doctor": 0.01, "nothing": 0.01,
}  # fmt: skip


class OverBudgetError(BaseException):
    """A command took too long; nothing below catches it."""


class Grammar:
    """Draws command lines."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self.entries = {entry.name: entry for group in quantity_groups().values() for entry in group}

    def line(self) -> list[str]:
        """A command with its arguments."""
        name = str(self.generator.choice(list(SHARES), p=list(SHARES.values())))
        return [name, *(getattr(self, name)() if hasattr(self, name) else [])]

    def audit(self) -> list[str]:
        own = self.options(0.4, kernel=lambda: self.pick(*KERNELS), eta=lambda: self.number(0, 0.2))
        train = ["--train", "--width", self.pick("2", "16", "64", "7")] if self.chance(0.2) else []
        return [*self.data_set(), *own, *train, *self.ending("audited")]

    def compare(self) -> list[str]:
        chosen = ",".join(self.pick(*METHODS) for _ in range(self.generator.integers(1, 4)))
        small = ["--methods", chosen, "--width", self.whole(1, 8), "--epochs", self.whole(1, 5)]
        own = self.options(0.5, folds=lambda: self.whole(2, 4), repeats=lambda: self.whole(1, 2))
        return [*self.data_set(), *small, *own, *self.ending("compared")]

    def memorise(self) -> list[str]:
        own = self.options(
            0.25,
            layers=lambda: self.pick("2", "3"),
            method=lambda: self.pick("pgd", "direct", "direct"),
            width=lambda: str(2 * int(self.generator.integers(2, 60))),
            perturb=lambda: self.number(0, 0.1),
            random_rows=lambda: self.pick("equal", "gaussian"),
        )
        return [
            *self.data_set(),
            *own,
            *self.flags(0.02, "--theorem"),
            *self.ending("memorised", "memorised/deeper"),
        ]

    def verify(self) -> list[str]:
        data = [self.pick(*TABLES)] if self.chance(0.4) else []
        folder = self.pick("memorised", "memorised", "memorised/deeper", "audited")
        return [folder, *data, *self.flags(0.5, "--json")]

    def theory(self) -> list[str]:
        entry = self.entries[self.pick(*self.entries)]
        given = {
            key: self.argument(each)
            for key, each in entry.arguments.items()
            if self.chance(0.99 if each.default is None else 0.3)
        }
        return [entry.name, *(f"{key}={value}" for key, value in given.items()), *self.flags(0.5, "--json")]

    def data(self) -> list[str]:
        return [self.pick("digits", *CONCEPTS)]

    def reproduce(self) -> list[str]:
        return [
            self.pick(*FIGURES),
            *self.options(0.5, seeds=lambda: self.whole(1, 2)),
            *self.flags(0.5, "--json"),
        ]

    def argument(self, each: Argument) -> str:
        """A value of the kind that an argument has, mostly within its range."""
        low, high = max(each.low, -1e3), min(each.high, 1e3)
        if each.kind is int:
            return self.whole(int(low), int(min(high, low + 30)))
        if each.kind is float:
            return self.number(low, min(high, low + 10))
        if each.kind is tuple:
            return ",".join(  # as many numbers as most others have
                self.number(max(low, -3), min(high, 3)) for _ in range(self.generator.integers(1, 4))
            )
        if each.kind is bool:
            return self.pick("true", "false", "maybe")
        if "formula" in each.meaning:
            return self.pick(*FORMULAS)
        return self.pick(*CONCEPTS, *TABLES)

    def data_set(self) -> list[str]:
        """A table, mostly with its target, or a concept class."""
        if self.chance(0.2):
            return [self.pick(*CONCEPTS)]
        if self.chance(0.05):
            return [self.pick(*POOR)]
        target = ["--target", self.pick(*["y"] * 9, "a", "a", "nothing")] if self.chance(0.7) else []
        reading = self.options(
            0.1, prepare=lambda: self.pick("unit", "standard"), drop=lambda: self.pick("a", "b", "b,a", "c")
        )
        return [self.pick(*TABLES), *target, *reading]

    def ending(self, *folders: str) -> list[str]:
        """Options that every study has."""
        out = ["--out", self.pick(*folders)] if self.chance(0.7) else []
        flags = [*self.flags(0.6, "--json"), *self.flags(0.9, "--force")]
        return [*flags, *out, *self.options(0.2, seed=lambda: self.whole(0, 9))]

    def options(self, share: float, **makers: Callable[[], str]) -> list[str]:
        """Some of these options, each with a value."""
        drawn = {name: make() for name, make in makers.items() if self.chance(share)}
        return [word for name, value in drawn.items() for word in (f"--{name.replace('_', '-')}", value)]

    def flags(self, share: float, *names: str) -> list[str]:
        return [name for name in names if self.chance(share)]

    def chance(self, share: float) -> bool:
        return bool(self.generator.random() < share)

    def pick(self, *choices: str) -> str:
        return choices[int(self.generator.integers(len(choices)))]

    def whole(self, low: int, high: int) -> str:
        return str(self.generator.integers(low, high + 1)) if not self.chance(RARE) else self.pick(*ODD)

    def number(self, low: float, high: float) -> str:
        return f"{self.generator.uniform(low, high):.4g}" if not self.chance(RARE) else self.pick(*ODD)


@dataclass(frozen=True)
class Ending:
    """How a command ended: its exit code, or None where it took too long, and what it printed."""

    code: int | None
    out: str
    err: str

    def broken(self, wants_json: bool) -> str | None:
        """Which promise it broke."""
        if self.code is None:
            return f"took more than {BUDGET:g} s"
        if self.code not in CODES:
            return f"exit code {self.code}"
        if "Traceback" in self.err or "Unexpected" in self.err:
            return self.err.strip()
        if self.code in (1, 2) and not self.err and not self.out:
            return f"exit code {self.code} without a word"
        if wants_json and self.code == 0:
            with contextlib.suppress(ValueError):
                json.loads(self.out)
                return None
            return "no JSON"
        return None


def ended(line: list[str]) -> Ending:
    """Run a command to its end, or to that of its time."""
    out, err, code = io.StringIO(), io.StringIO(), None
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, BUDGET)
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            patch.object(sys, "argv", ["widenet", *line]),
        ):
            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except OverBudgetError:
        code = None
    except BaseException as error:  # what `main` let through is a traceback for whoever typed it
        err.write(f"Traceback: {type(error).__name__}: {error}")
        code = 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return Ending(code, out.getvalue(), err.getvalue())


def run(count: int, seed: int) -> FuzzReport:
    """Try as many command lines in one folder, where later ones find the results of earlier ones."""
    start = time.perf_counter()
    grammar = Grammar(np.random.default_rng(seed))
    outcomes: Counter[str] = Counter()
    failures = []
    with small_tables():
        for place in range(count):
            line = grammar.line()
            end = ended(line)
            outcomes["over budget" if end.code is None else CODES.get(end.code, "other")] += 1
            broken = end.broken("--json" in line)
            if broken:
                failures.append(
                    f"line {place} of seed {seed}: widenet {' '.join(map(repr, line))}: {broken[-300:]}"
                )
    return FuzzReport("commands", count, dict(outcomes), failures, time.perf_counter() - start)


@contextlib.contextmanager
def small_tables() -> Iterator[None]:
    """A folder with tables that are quickly read, as the current one."""
    before = Path.cwd()
    generator = np.random.default_rng(0)
    X = generator.normal(size=(24, 2)).round(3)
    classes = ["x" if a + b > 0 else "z" for a, b in X]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write("table.csv", [[*row, label] for row, label in zip(X, classes, strict=True)])
            write("numbers.csv", [[*row, row[0] * row[1]] for row in X])
            write("repeated.csv", [[1, 2, "x"]] * 8 + [[1, 3, "z"]] * 8)
            write("few.csv", [[k, -k, "xz"[k % 2]] for k in range(6)])
            write("one.csv", [[1, 2, "x"]])
            write("empty.csv", [])
            yield
        finally:
            os.chdir(before)


def write(name: str, rows: Sequence[Sequence[object]]) -> None:
    table: list[Sequence[object]] = [("a", "b", "y"), *rows]
    Path(name).write_text("".join(",".join(map(str, row)) + "\n" for row in table))


def _too_long(*_: object) -> None:
    raise OverBudgetError
