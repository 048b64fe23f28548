"""Full-batch gradient descent of two-layer networks on two classes of images [fine-grained, Appendix A]."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from widenet.networks.two_layer import draw_fine_grained
from widenet.papers.jobs.images import TEST_LABELS, TRAIN_LABELS, image_projections, image_rows, signs_of
from widenet.papers.jobs.job import Desk, Job
from widenet.papers.jobs.spectra import eigen_bytes
from widenet.runs.trial import Record, TrialResult
from widenet.study.speed import Speed
from widenet.training.descent import DescentRun, UnseenRows, descend

NUM_RECORDS = 22  # steps that are kept, of all that are taken; more would be drawn without marks
USED = {"mnist-2": 608, "cifar10-2": 3072}  # pixels, which is what a step costs where rows are not fewer
SLOW = 1.3  # times the time of large matrix products


def descent_trial(
    data: str,
    n: int,
    num_test: int,
    portion: float | None,
    m: int,
    kappa: float,
    eta: float,
    num_steps: int,
    seed: int,
) -> dict[str, Any]:
    """The settings of one trial.

    Args:
        data: `mnist-2` or `cifar10-2`.
        n: Training rows, the first ones.
        num_test: Test rows, the first ones; 0 to look at none.
        portion: Of the labels of both that is drawn anew; None for the worst labels.
        m: Neurons.
        kappa: Scale of the initial weights.
        eta: Step size.
        num_steps: Steps.
        seed: Of weights and random labels.
    """
    network = {"m": m, "kappa": kappa, "eta": eta, "num_steps": num_steps, "seed": seed}
    rows = {"data": data, "n": n, "num_test": num_test, "portion": portion}
    return {"job": f"{__name__}:DESCENTS", **rows, **network}


def run_descents(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Train the networks one after the other, in float32.

    The worst labels are √n times the eigenvector of H∞'s smallest eigenvalue. Test rows have none such, so
    they are not looked at.
    """
    for trial in trials:
        y, unseen = _labelled(trial)
        train, _ = image_rows(trial["data"], trial["n"], trial["num_test"])
        start = draw_fine_grained(
            trial["m"],
            train.X.shape[1],
            trial["kappa"],
            generator=torch.Generator().manual_seed(trial["seed"]),
            dtype=torch.float32,
        )
        with desk.kept(trial) as kept:
            run = descend(
                start,
                train.X,
                y,
                eta=trial["eta"],
                num_steps=trial["num_steps"],
                num_records=NUM_RECORDS,
                unseen=unseen,
                kept=kept,
                progress=lambda step: desk.look_up(),
            )
        yield TrialResult(_record(run, trial["n"]))


def _labelled(trial: Record) -> tuple[Tensor, UnseenRows | None]:
    """Labels to train on, and the rows to be judged on."""
    train, test = image_rows(trial["data"], trial["n"], trial["num_test"])
    portion, seed = trial["portion"], trial["seed"]
    if portion is None:
        return image_projections(trial["data"], trial["n"], ()).worst, None
    y = signs_of(train.redrawn(portion, seed, TRAIN_LABELS))
    if not trial["num_test"]:
        return y, None
    return y, UnseenRows(test.X, signs_of(test.redrawn(portion, seed, TEST_LABELS)))


def _record(run: DescentRun, n: int) -> dict[str, Any]:
    """The run at its records; losses are ‖y − u‖²/n."""
    records = run.records
    assert records is not None
    steps = records.steps.to(torch.int64)
    measured = {
        "steps": steps,
        "loss": run.residual_norms[steps].square() / n,
        "distances": run.distances[steps],
        "sign_changes": records.sign_changes,
        "l1_errors": records.l1_errors,
        "misclassified": records.misclassified,
    }
    listed = {name: values.tolist() for name, values in measured.items() if values is not None}
    return {**listed, "diverged": run.diverged}


def descent_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """Two products with every weight for each row and step, and test rows at records.

    The worst labels are not counted: figures that have them find the spectrum, too, in a trial whose
    eigenvectors a process keeps. A run that goes on after that trial, or a worker elsewhere, finds them anew.
    """
    total = 0.0
    for trial in trials:
        d = min(trial["n"], USED[trial["data"]])
        steps = 4 * trial["n"] * trial["m"] * d * trial["num_steps"]
        records = 2 * NUM_RECORDS * trial["num_test"] * trial["m"] * USED[trial["data"]]
        total += SLOW * steps / speed.single + SLOW * records / speed.double
    return total


def descent_bytes(trials: Sequence[Record]) -> int:
    """Signs of all neurons on all rows, then and now, weights, and rows; before that perhaps eigenvectors."""
    found = []
    for trial in trials:
        n, m, d = trial["n"], trial["m"], USED[trial["data"]]
        eigenvectors = eigen_bytes(n) if trial["portion"] is None else 0
        found.append(max(eigenvectors, 2 * n * m + 16 * m * d + 20 * n * d))
    return max(found)


DESCENTS = Job(run_descents, descent_seconds, descent_bytes)
