"""The papers' figures by name."""

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.papers.figure import Figure
from widenet.study.study import named

FIGURES = {  # "paper/figure": where its `Figure` stands
    "resnet-beyond-kernels/fig2a": "widenet.papers.resnet_beyond_kernels.fig2a:FIG2A",
    "resnet-beyond-kernels/fig2b": "widenet.papers.resnet_beyond_kernels.fig2b:FIG2B",
    "resnet-beyond-kernels/fig3a": "widenet.papers.resnet_beyond_kernels.fig3a:FIG3A",
    "resnet-beyond-kernels/fig3b": "widenet.papers.resnet_beyond_kernels.fig3b:FIG3B",
    "resnet-beyond-kernels/fig4a": "widenet.papers.resnet_beyond_kernels.fig4a:FIG4A",
    "resnet-beyond-kernels/fig4b": "widenet.papers.resnet_beyond_kernels.fig4b:FIG4B",
    "beyond-two-layers/fig1a": "widenet.papers.beyond_two_layers.fig1a:FIG1A",
    "beyond-two-layers/fig1b": "widenet.papers.beyond_two_layers.fig1b:FIG1B",
    "beyond-two-layers/fig2a": "widenet.papers.beyond_two_layers.fig2a:FIG2A",
    "beyond-two-layers/fig2b": "widenet.papers.beyond_two_layers.fig2b:FIG2B",
    "beyond-two-layers/fig3a": "widenet.papers.beyond_two_layers.fig3a:FIG3A",
    "beyond-two-layers/fig3b": "widenet.papers.beyond_two_layers.fig3b:FIG3B",
    "fine-grained/fig1a": "widenet.papers.fine_grained.fig1a:FIG1A",
    "fine-grained/fig1b": "widenet.papers.fine_grained.fig1b:FIG1B",
    "fine-grained/fig1c": "widenet.papers.fine_grained.fig1c:FIG1C",
    "fine-grained/fig1d": "widenet.papers.fine_grained.fig1d:FIG1D",
    "fine-grained/fig2a": "widenet.papers.fine_grained.fig2a:FIG2A",
    "fine-grained/fig2b": "widenet.papers.fine_grained.fig2b:FIG2B",
    "mild-memorisation/fig2": "widenet.papers.mild_memorisation.fig2:FIG2",
    "mild-memorisation/fig3a": "widenet.papers.mild_memorisation.fig3a:FIG3A",
    "mild-memorisation/fig3b": "widenet.papers.mild_memorisation.fig3b:FIG3B",
    "mild-memorisation/fig4a": "widenet.papers.mild_memorisation.fig4a:FIG4A",
    "mild-memorisation/fig4b": "widenet.papers.mild_memorisation.fig4b:FIG4B",
    "mild-memorisation/fig6": "widenet.papers.mild_memorisation.fig6:FIG6",
}


def figure_by_name(name: str) -> Figure:
    """The figure of that name.

    >>> figure_by_name("resnet-beyond-kernels/fig2a").place
    'Figure 2(a), section 8.1'
    """
    if name not in FIGURES:
        raise InputError(f"There is no figure {shown(name)}: {near_names(name, tuple(FIGURES))}")
    figure: Figure = named(FIGURES[name])
    return figure


def figures_by_name(*names: str) -> list[Figure]:
    """The figures of these names; that of a paper stands for all of its figures, no name for all."""
    papers = tuple(dict.fromkeys(name.partition("/")[0] for name in FIGURES))
    found: dict[str, Figure] = {}
    for name in names or papers:
        wanted = [each for each in FIGURES if each.startswith(f"{name}/")] if name in papers else [name]
        if "/" not in name and name not in papers:
            raise InputError(f"There is no paper {shown(name)}: {near_names(name, papers)}")
        found |= {each: figure_by_name(each) for each in wanted}
    return list(found.values())
