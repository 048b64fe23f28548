"""The named concept classes of `widenet.data`, as the theorems see them."""

import math

import torch

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.data.concept_names import CONCEPTS, is_concept, parse_draw
from widenet.theory.concepts import in_class, report
from widenet.theory.demand import all_met, in_words
from widenet.theory.entry import Argument
from widenet.theory.numbers import as_float, shown_number
from widenet.theory.quantity import Citation
from widenet.theory.smooth.complexity import C_STAR, SMOOTH, star_constant
from widenet.theory.stated import Found, entries

PLACES = {
    "Concept 1": Citation("resnet-beyond-kernels", "Section 5, Concept 1, and D.4"),
    "Concept 2": Citation("resnet-beyond-kernels", "Definition A.1 and Concept 2"),
    "(3.1)": Citation("beyond-two-layers", "(3.1)"),
    "(4.1)": Citation("beyond-two-layers", "(4.1)"),
}


@SMOOTH.states(
    "",
    "p, C_s, B_F, L_G and OPT of a target of the papers' experiments",
    "concept",
    name=Argument(f"concept class, one of {', '.join(CONCEPTS)}, with options, such as resnet-hard:d=20,k=3"),
)
def concept(name: str, c_star: float = C_STAR) -> Found:
    """Complexity of a named concept class, with p, the bounds of Fact A.3 and OPT under its label noise.

    Args:
        name: With its options, as "resnet-hard:d=20,k=3,noise=0.1".
        c_star: C*.
    """
    if not is_concept(name):
        known = name.partition(":")[0]
        raise InputError(f"{shown(known)} is not a concept class: {near_names(known, tuple(CONCEPTS))}")
    draw = parse_draw(name)
    generator = torch.Generator().manual_seed(draw.seed)
    found = report(in_class(draw.concept, generator=generator), generator=generator, c_star=c_star)
    part, value = next(iter(found.complexities.items()))
    return Found(
        value,
        f"{part} = max C_s(φ) over the functions φ of {found.form}",
        f"{part} = {shown_number(value)}",
        {"k": found.num_outputs, **found.sizes, **found.complexities, **found.bounds, "OPT": found.OPT},
        holds=all_met(found.demands) and as_float(value) < math.inf,
        notes=(
            f"{name} is a member of {found.form} after rescaling inputs and outputs; OPT is E ½‖H(x) − y‖² "
            "in these units.",
            *in_words(found.demands),
        ),
        constants={"C*": star_constant(c_star)},
        source=PLACES[found.form],
    )


QUANTITIES = entries(concept)
