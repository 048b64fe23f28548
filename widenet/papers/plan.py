"""All trials of a figure at once, cut into pieces that keep every worker busy."""

from collections.abc import Sequence
from dataclasses import dataclass

from widenet.papers.jobs.job import job_of
from widenet.runs.trial import Record
from widenet.study.speed import Speed

PIECES = 4  # that each worker should find, so that none waits long for the last of them
SHORTEST, LONGEST = 2.0, 600.0  # seconds of a piece: less is not worth cutting, more is too much to lose


@dataclass(frozen=True)
class Piece:
    """Trials that are computed together on one thread."""

    places: tuple[int, ...]  # of each trial in the plan
    trials: tuple[Record, ...]
    seconds: float  # forecast
    num_bytes: int = 0  # forecast


def pieces(plan: Sequence[Sequence[Record]], num_workers: int, speed: Speed) -> list[Piece]:
    """The plan in pieces, those that take longest first.

    Args:
        plan: Batches of trials.
        num_workers: Places where pieces are computed side by side.
        speed: Of this machine.
    """
    costs = [job_of(batch[0]).seconds(batch, speed) for batch in plan]
    longest = min(max(sum(costs) / (PIECES * num_workers), SHORTEST), LONGEST)
    found, place = [], 0
    for batch, cost in zip(plan, costs, strict=True):
        fewest = -(-len(batch) // job_of(batch[0]).together(batch[0]))
        num_parts = min(len(batch), max(fewest, round(cost / longest)))
        size = -(-len(batch) // num_parts)
        for start in range(0, len(batch), size):
            part = tuple(batch[start : start + size])
            job, places = job_of(part[0]), tuple(range(place + start, place + start + len(part)))
            found.append(Piece(places, part, job.seconds(part, speed), job.num_bytes(part)))
        place += len(batch)
    return sorted(found, key=lambda piece: -piece.seconds)


def most_bytes(planned: Sequence[Piece], num_workers: int) -> int:
    """Memory that as many pieces hold at a time, where the largest of them meet."""
    return sum(sorted((piece.num_bytes for piece in planned), reverse=True)[:num_workers])


def workers_within(planned: Sequence[Piece], num_workers: int, num_bytes: int) -> int:
    """How many of the workers can be busy at a time within this memory, whatever they do; at least one."""
    fitting = (few for few in range(num_workers, 1, -1) if most_bytes(planned, few) <= num_bytes)
    return next(fitting, 1)


def wall_seconds(planned: Sequence[Piece], num_workers: int) -> float:
    """Time until the last piece is done, where each free worker takes the next one."""
    busy = [0.0] * num_workers
    for piece in planned:
        first = busy.index(min(busy))
        busy[first] += piece.seconds
    return max(busy)
