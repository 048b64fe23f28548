"""What each theorem of four papers says of one network on one data set."""

from collections.abc import Callable

from widenet.inside import beyond_two_layers, fine_grained, mild_memorisation, resnet_beyond_kernels
from widenet.inside.answer import Answer
from widenet.inside.measured import MeasuredData
from widenet.inside.settings import InsideSettings

ANSWERS: dict[str, Callable[[MeasuredData, InsideSettings], tuple[Answer, ...]]] = {  # by paper
    fine_grained.PAPER: fine_grained.fine_grained_answers,
    resnet_beyond_kernels.PAPER: resnet_beyond_kernels.resnet_answers,
    beyond_two_layers.PAPER: beyond_two_layers.beyond_answers,
    mild_memorisation.PAPER: mild_memorisation.memorisation_answers,
}


def all_answers(data: MeasuredData, settings: InsideSettings) -> tuple[Answer, ...]:
    """One answer for each theorem, paper by paper."""
    return tuple(answer for answers in ANSWERS.values() for answer in answers(data, settings))
