"""What each theorem makes of a network on a data set."""

from dataclasses import dataclass
from typing import Any, ClassVar

from widenet.inside.answer import Answer
from widenet.inside.measured import MeasuredData
from widenet.inside.settings import InsideSettings
from widenet.study.result import Result


@dataclass(frozen=True, repr=False, kw_only=True)
class InsideResult(Result):
    """Which theorems speak of a network on a data set.

    Attributes:
        data: Name of the data set.
        setting: The network and its training, as given.
        measured: What was measured on the data.
        answers: One for each theorem.
    """

    schema: ClassVar[str] = "widenet/inside/1"
    data: str
    setting: InsideSettings
    measured: MeasuredData
    answers: tuple[Answer, ...]

    def count(self, inside: bool | None) -> int:
        """Number of theorems whose conditions are met (True), are not (False), or are undecided (None)."""
        return sum(answer.inside is inside for answer in self.answers)

    def facts(self) -> dict[str, str]:
        return {
            "data": self.data,
            "width": f"{self.setting.width}",
            "inside": f"{self.count(True)} of {len(self.answers)}",
            "undecided": f"{self.count(None)}",
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as JSON has them; numbers beyond a float go by their logarithms."""
        return super().to_dict() | {"answers": [answer.to_dict() for answer in self.answers]}
