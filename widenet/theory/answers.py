"""What each theorem of three papers says of one network on one data set."""

from widenet.theory.answer import Answer, Setting
from widenet.theory.fine_grained.answers import fine_grained_answers
from widenet.theory.measured import Measured
from widenet.theory.mild_memorisation.answers import memorisation_answers
from widenet.theory.resnet_beyond_kernels.answers import resnet_answers


def all_answers(data: Measured, setting: Setting) -> tuple[Answer, ...]:
    """One answer for each theorem, paper by paper."""
    return (
        *fine_grained_answers(data, setting),
        *resnet_answers(data, setting),
        *memorisation_answers(data, setting),
    )
