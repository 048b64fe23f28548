"""Every quantity by its name: sensible arguments give a number, extreme ones a number or one sentence."""

import json

import pytest

from widenet.base.errors import WidenetError
from widenet.report.parts.files import to_json
from widenet.theory.entry import Entry
from widenet.theory.names import entry_by_name, quantity_groups
from widenet.theory.quantity import Quantity

DESCENT = "n=37 floor=0.021 m=1e9 eta=1e-5 kappa=0.03 delta=0.04"
RESNET = "k=3 p_F=2 C_F=17.5 p_G=4 C_G=6"
LAYER = "n=60 d=80 k=18 p=1 v=0.02 delta=0.05"
SENSIBLE = {
    "c-epsilon": "phi=sin epsilon=0.1 c_star=3",
    "c-s": "phi=sin",
    "concept": "name=resnet-hard:d=20,k=3,noise=0.1",
    "resnet-theorem-1": f"{RESNET} alpha=0.003 delta=0.4",
    "resnet-corollary-7.1": "d=70 d1=35 k=3 alpha=0.11",
    "resnet-theorem-2": "d=70 d1=55 k=4 N=300 alpha=0.7",
    "resnet-theorem-2-conference": "d=5000 k=5 N=100 alpha=0.7",
    "resnet-theorem-3": "d=70 d1=55 k=4 D=300 alpha=0.7",
    "resnet-fact-a.3": RESNET,
    "resnet-table-1": f"m=1e30 {RESNET} alpha=1e-4",
    "resnet-lemma-a.2": "phi=exp(z)",
    "resnet-fact-a.3-slope": "phi=exp(z)",
    "resnet-proposition-b.1": "m=100 t=3",
    "resnet-lemma-b.3": "m=50 B=4 num_draws=20",
    "resnet-proposition-b.4": "m=1e4 delta=0.1",
    "resnet-lemma-c.1": "m=300 k=3 d=5",
    "resnet-lemma-e.1": "phi=sin m=300 d=4 k=2 p=2",
    "resnet-lemma-e.2": "phi=sin",
    "resnet-rademacher": "frobenius=3 N=40 d=5",
    "kernel-lower-bound": "num_samples=100 d1=13 k=4 alpha=0.6",
    "beyond-theorem-1": "phi=sin k=2 p=3 epsilon=1e-6 m=1e6",
    "beyond-theorem-2": "phi=z Phi=z**2 k=2 p1=2 p2=3 epsilon0=0.01 c_star=2",
    "beyond-theorem-3": "phi=z Phi=z**2 k=2 p1=2 p2=3 epsilon0=0.01 m=1e9 c_star=2",
    "indicator-to-function": "phi=sin",
    "beyond-lemma-a.4": "y=0.3 tau=0.01",
    "beyond-lemma-6.4": "phi=z epsilon=0.01 m1=1e4 m2=2e4",
    "beyond-lemma-6.2": "phi=z Phi=z**2 k=2 p1=2 p2=3 epsilon0=0.01 m1=1e9 m2=1e8 c_star=2",
    "beyond-lemma-a.1": "m=1e4 L=2 B=5",
    "beyond-lemma-b.1": "phi=z k=2 p=3 epsilon=1e-6 m=1e6 epsilon_a=0.1",
    "beyond-lemma-b.3": "m=1e4 k=2 epsilon_a=0.1 eta=1e-3 t=10",
    "beyond-claim-c.8": "m2=1e4 g1=0.01 g2=1e-4",
    "beyond-lemma-6.5": "m1=1e4 m2=2e4 tau_w=1e-3 tau_v=0.1 sigma_w=1e-4 sigma_v=1e-3",
    "beyond-lemma-6.9": "m1=1e4 m2=2e4 tau_w_max=1e-4 tau_v_max=1e-2 sigma_w=1e-4 sigma_v=1e-3",
    "beyond-lemma-6.11": "m1=1e4 m2=2e4 tau_w=2e-3 tau_v=0.1",
    "beyond-lemma-b.4": "phi=z k=2 p=3 epsilon=1e-6",
    "beyond-table-1": "m1=1e4 m2=2e4 epsilon0=0.01 epsilon=0.001 C_0=10 k=2",
    "beyond-lemma-6.7": "objective=0.7 OPT=0.01 epsilon0=0.01",
    "beyond-lemma-b.5": "m=1e4 N=100 tau_w_max=1e-4 epsilon_a=0.1",
    "beyond-lemma-6.10": "m1=1e4 m2=2e4 N=100 tau_w=2e-3 tau_v=0.1",
    "beyond-lemma-6.12": "m1=1e4 m2=2e4 N=100 tau_w=2e-3 tau_v=0.1",
    "fine-grained-theorem-3.1": DESCENT,
    "fine-grained-theorem-4.1": "eigenvalues=0.5,0.2 projections=1,2 m=1e30 eta=0.01 kappa=1e-4 epsilon=0.1 "
    "delta=0.1 steps=7",
    "fine-grained-lemma-5.3": f"{DESCENT} quadratic=4",
    "fine-grained-lemma-c.1": f"{DESCENT} residual=5",
    "fine-grained-lemma-c.2": DESCENT,
    "fine-grained-lemma-c.3": "n=37 m=1e9 delta=0.04",
    "fine-grained-theorem-5.1": f"{DESCENT} steps=100 quadratic=4",
    "fine-grained-corollary-5.2": f"{DESCENT} steps=100 quadratic=4",
    "fine-grained-complexity": "n=37 quadratic=4.7",
    "fine-grained-lemma-5.4": "n=37 m=1e9 kappa=0.03 R=1e-4 B=2 delta=0.04",
    "fine-grained-auxiliary": "data=three-sines n=9 m=40 steps=5",
    "fine-grained-definition-5.1": "data=three-sines n=9 floor=0.01 num_samples=20",
    "fine-grained-equation-13": "data=three-sines n=9",
    "fine-grained-theorem-b.1": "n=37 rademacher=0.1 delta=0.04",
    "fine-grained-theorem-6.1": "p=2 alpha=1 beta=1",
    "fine-grained-corollary-6.2": "powers=1,2 alphas=1,1 betas=1,1",
    "fine-grained-example-6.1": "beta=1",
    "fine-grained-example-6.2": "eigenvalues=1,2",
    "fine-grained-example-6.3": "beta=1",
    "fine-grained-example-6.4": "beta=0.5",
    "memorisation-lemma-1": "n=50 d=12 r=30 sigma=0.2 epsilon=0.01",
    "memorisation-lemma-3": "largest=0.7 d=12 r=30",
    "memorisation-lemma-4": "n=50 d=12 sigma=0.2 largest=0.7",
    "memorisation-lemma-5": "B=2 Y=3 gamma=0.1 ball=5",
    "memorisation-theorem-1": "n=50 d=12",
    "memorisation-theorem-3": "dimension=40 ell=7 rho=3 epsilon=0.1 delta=0.05 delta_f=2",
    "memorisation-theorem-4": "n=50 d=12 r=30 B=1.5 Y=2 sigma=0.2 f0=0.3 epsilon=0.01 delta=0.05",
    "memorisation-lemma-2": LAYER,
    "memorisation-lemma-6": "d=5 p=3",
    "memorisation-lemma-7": "d=5 p=3 epsilon=0.1",
    "memorisation-lemma-9": "d=3 p=3",
    "memorisation-lemma-10": "d=2 p=2",
    "memorisation-lemma-8": "n=20 d=8 k=9 p=2 v=0.01",
    "memorisation-lemma-13": LAYER,
    "memorisation-lemma-14": f"{LAYER} B=1",
    "memorisation-lemma-18": "d=9 k=200 p=2 delta=0.05",
    "memorisation-lemma-19": "d=9 k=200 p=2 sigma=0.3 delta=0.05",
    "memorisation-lemma-20": "d=80 k=18 p=2 B=1.1 delta=0.05",
    "memorisation-theorem-2": "n=50 d=12 p=2",
    "memorisation-theorem-5": "n=60 d=80 p=1 v=0.02 epsilon=0.1 delta=0.06",
    "memorisation-theorem-6": "n=60 d=9 k=200 p=2 sigma=0.3 epsilon=0.1 delta=0.06",
}
EXTREME = ("0", "-1", "5e-324", "1e300", "nan")


def arguments(name: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in SENSIBLE[name].split())


def answer(entry: Entry, given: dict[str, str]) -> Quantity | str:
    """The quantity, or the sentence with which it is refused."""
    try:
        return entry(given)
    except WidenetError as error:
        return str(error)


def test_every_quantity_is_here():
    assert {entry.name for group in quantity_groups().values() for entry in group} == SENSIBLE.keys()


@pytest.mark.parametrize("name", SENSIBLE)
def test_sensible_arguments_give_a_number(name):
    found = entry_by_name(name)(arguments(name))
    assert found.name == name
    assert found.value is not None
    assert found.value == found.value


@pytest.mark.parametrize("name", sorted(SENSIBLE.keys() - {"concept", "indicator-to-function"}))
def test_extreme_arguments_give_a_number_or_a_sentence(name):
    entry = entry_by_name(name)
    for key, argument in entry.arguments.items():
        if argument.kind is str:
            continue
        for value in EXTREME:
            found = answer(entry, arguments(name) | {key: value})
            if isinstance(found, str):
                assert 0 < len(found) < 300
                continue
            assert found.value == found.value, (key, value)
            assert "nan" not in " ".join((found.filled, *found.why)), (key, value)
            json.loads(to_json(found.to_dict()))
