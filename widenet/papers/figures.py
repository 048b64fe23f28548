"""The papers' figures by name: a `Study` each, which reads no data."""

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.study.study import Study, named

FIGURES = {  # "paper/figure": where its `Study` stands
    "resnet-beyond-kernels/separation": "widenet.papers.resnet_beyond_kernels.separation.study:SEPARATION",
}


def figure_by_name(name: str) -> Study:
    """The study of a figure, as "paper/figure".

    >>> figure_by_name("resnet-beyond-kernels/separation").name
    'separation'
    """
    if name not in FIGURES:
        raise InputError(f"There is no figure {shown(name)}: {near_names(name, tuple(FIGURES))}")
    study: Study = named(FIGURES[name])
    return study
