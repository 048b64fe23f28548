"""What a study will cost, said before anything large is computed."""

from dataclasses import dataclass

from widenet.base.errors import InputError
from widenet.base.wording import HOUR, duration, memory


@dataclass(frozen=True)
class Forecast:
    """What is expected before a study begins.

    Attributes:
        seconds: Wall-clock time.
        memory_bytes: Peak resident memory; None where it was not forecast.
    """

    seconds: float
    memory_bytes: int | None = None

    def refuse_long(self, advice: str, *, allow_long: bool) -> None:
        """Refuse what takes more than an hour unless that is allowed; `advice` says what would shorten it."""
        if self.seconds > HOUR and not allow_long:
            raise InputError(
                f"This would take about {self.seconds / HOUR:,.1f} hours: {advice}, or allow it with "
                "`allow_long=True`."
            )

    def told(self) -> str:
        """The forecast in a sentence."""
        held = "" if self.memory_bytes is None else f"{memory(self.memory_bytes)} of memory and "
        return f"Forecast: {held}{duration(self.seconds)}."
