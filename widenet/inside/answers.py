"""What each theorem of three papers says of one network on one data set."""

from widenet.inside.answer import Answer, Setting
from widenet.inside.fine_grained import fine_grained_answers
from widenet.inside.measured import Measured
from widenet.inside.mild_memorisation import memorisation_answers
from widenet.inside.resnet_beyond_kernels import resnet_answers


def all_answers(data: Measured, setting: Setting) -> tuple[Answer, ...]:
    """One answer for each theorem, paper by paper."""
    return (
        *fine_grained_answers(data, setting),
        *resnet_answers(data, setting),
        *memorisation_answers(data, setting),
    )
