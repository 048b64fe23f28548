"""The named concept classes of `widenet.data`, as the theorems see them."""

import torch

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.data.concept_names import CONCEPTS, is_concept, parse_draw
from widenet.theory.concepts import in_class, report
from widenet.theory.demand import all_met, in_words
from widenet.theory.entry import Argument, Entry
from widenet.theory.quantity import Citation, Quantity
from widenet.theory.smooth.complexity import C_STAR, as_float, log10, shown_number, star_constant

PLACES = {
    "Concept 1": Citation("resnet-beyond-kernels", "Section 5, Concept 1, and D.4"),
    "Concept 2": Citation("resnet-beyond-kernels", "Definition A.1 and Concept 2"),
    "(3.1)": Citation("beyond-two-layers", "(3.1)"),
    "(4.1)": Citation("beyond-two-layers", "(4.1)"),
}


def concept(name: str, c_star: float = C_STAR) -> Quantity:
    """Complexity of a named concept class, with p, the bounds of Fact A.3 and OPT under its label noise.

    Args:
        name: With its options, as "resnet-hard:d=20,k=3,noise=0.1".
        c_star: C*.
    """
    if not is_concept(name):
        known = name.partition(":")[0]
        raise InputError(f"{shown(known)} is no concept class: {near_names(known, tuple(CONCEPTS))}")
    draw = parse_draw(name)
    generator = torch.Generator().manual_seed(draw.seed)
    found = report(in_class(draw.concept, generator=generator), generator=generator, c_star=c_star)
    part, value = next(iter(found.complexities.items()))
    numbers = {key: as_float(number) for key, number in (*found.complexities.items(), *found.bounds.items())}
    return Quantity(
        "concept",
        as_float(value),
        f"{part} = max C_s(φ) over the functions φ of {found.form}",
        f"{part} = {shown_number(value)}",
        {"k": found.num_outputs, **found.sizes, **numbers, "OPT": found.OPT},
        all_met(found.demands) and numbers[part] < float("inf"),
        (
            f"{name} is a member of {found.form} after rescaling inputs and outputs; OPT is E ½‖H(x) − y‖² "
            "in these units.",
            *in_words(found.demands),
        ),
        PLACES[found.form],
        log10(value),
        {"C*": star_constant(c_star)},
    )


QUANTITIES = (
    Entry(
        "concept",
        concept,
        {
            "name": Argument(
                f"concept class, one of {', '.join(CONCEPTS)}, with options as resnet-hard:d=20,k=3", str
            ),
            "c_star": Argument("constant C*", float, 0.0, default=C_STAR, strict=True),
        },
        "p, C_s, B_F, L_G and OPT of a target of the papers' experiments",
    ),
)
