"""Settings of one network, trained together as one batched computation.

Settings that share all but rates and decays see the same rows at the same time. Their parameters lie in one
tensor with a leading axis of copies; no operation mixes copies, so a copy that diverges leaves the others bit
for bit as they were.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from widenet.base.errors import InputError
from widenet.networks.initialise import draw_parameters
from widenet.networks.network import ALIGNED, Network, Parameters, Tape, laid_out
from widenet.training.losses import DIVERGED, LOSSES, check_targets
from widenet.training.optimisers import OPTIMISERS, chosen
from widenet.training.rows import Rows, measure_errors
from widenet.training.run import TrainingRun, norms_of, sign_changes
from widenet.training.settings import TrainingSettings
from widenet.training.subnormals import flushed_subnormals

RECORDS = 40  # times that the losses are measured, besides the start

# What was measured of one copy on its way: at each look a number for every field of a `TrainingRun` that
# tells of it. What has no rows to be measured on is left out.
History = list[dict[str, Any]]


def share_batches(first: TrainingSettings, second: TrainingSettings) -> bool:
    """Whether two settings differ in rates and decays alone, so that they can be trained together."""
    same = {"rate": 0.0, "rate_v": None, "decay": 0.0, "decay_two_four": 0.0}
    return replace(first, **same) == replace(second, **same)  # type: ignore[arg-type]


def num_blanks(num_rows: int) -> int:
    """Blank rows that join a batch, so that everything that is computed from it is `aligned` as it is."""
    return -num_rows % ALIGNED


def _with_blank(rows: Tensor) -> Tensor:
    """The rows (n, p) and a row of zeros."""
    return torch.cat([rows, rows.new_zeros(1, rows.shape[1])])


def _in_full_batches(order: Tensor, batch: int, blank: int) -> Tensor:
    """The rows in this order, with blank ones after each batch."""
    num_full = len(order) // batch * batch
    full = pad(order[:num_full].view(-1, batch), (0, num_blanks(batch)), value=blank)
    rest = order[num_full:]
    return torch.cat([full.flatten(), pad(rest, (0, num_blanks(len(rest))), value=blank)])


class Group:
    """Copies of one network under training, one for each setting.

    Attributes:
        alive: Index of the setting of each copy; a copy that diverged is dropped. There may be one copy more,
            the last one's twin.
        params: Parameters by name, moved or not, shapes (s, …).
        start: The parameters that all of them began with, shapes (1, …).
    """

    def __init__(
        self, network: Network, train: Rows, settings: Sequence[TrainingSettings], fewest: int = 1
    ) -> None:
        common, dtype, device = settings[0], train.X.dtype, train.X.device
        if getattr(network, "fixed_biases", False) and any(each.decay for each in settings):
            raise InputError("Weight decay would move biases that must stay fixed; set decay to 0.")
        check_targets(common.loss, train.Y)
        self.fewest = fewest
        places = self._filled(torch.arange(len(settings)))
        self.network, self.train, self.common = network, train, common
        self.loss = LOSSES[common.loss]
        self.train_and_blank = Rows(_with_blank(train.X), _with_blank(train.Y))
        self.generator = torch.Generator().manual_seed(common.seed)
        d, k = train.X.shape[1] - 1, train.Y.shape[1]
        self.start = draw_parameters(
            network, d, k, common.initialisation, generator=self.generator, dtype=dtype, device=device
        )
        self.moved = {name: laid_out(self.start[name].expand(len(places), -1, -1)) for name in network.moved}
        each = [settings[place] for place in places.tolist()]
        self.optimiser = OPTIMISERS[common.optimiser](self.moved, each, d)
        self.alive = torch.arange(len(settings))
        self._arrange()

    def _filled(self, copies: Tensor) -> Tensor:
        """These copies, and the last of them again where there are fewer than `fewest`."""
        return torch.cat([copies, copies[-1:].repeat(max(self.fewest - len(copies), 0))])

    def _arrange(self) -> None:
        """Lay out what depends on the number of copies."""
        s = max(len(self.alive), self.fewest)
        copied = {name: part.expand(s, *part.shape[1:]) for name, part in self.start.items()}
        self.params: Parameters = {**copied, **self.moved}
        self._tapes: dict[int, Tape] = {}

    def _tape(self, b: int) -> Tape:
        if b not in self._tapes:
            self._tapes[b] = self.network.tape(self.params, b)
        return self._tapes[b]

    def epoch(self, number: int) -> None:
        """One pass over as many rows as there are."""
        n, batch = self.train.n, min(self.common.batch or self.train.n, self.train.n)
        order, factor = torch.arange(n), self.common.rate_factor(number)
        if self.common.sampling == "replacement":
            order = torch.randint(n, (n,), generator=self.generator)
        elif self.common.batch is not None:
            order = torch.randperm(n, generator=self.generator)
        rows = self.train_and_blank[_in_full_batches(order, batch, blank=n)]
        size = batch + num_blanks(batch)
        for start, X, Y in zip(range(0, n, batch), rows.X.split(size), rows.Y.split(size), strict=True):
            self.step(Rows(X, Y), min(batch, n - start), factor)

    def step(self, rows: Rows, num_rows: int, factor: float) -> None:
        """One step of every copy on the first of these rows; the others are blank."""
        tape, optimiser = self._tape(rows.n), self.optimiser
        out = self.network.forward(self.params, rows.X, tape)
        slopes = self.loss.slopes_(out, rows.Y).div_(num_rows)
        if num_rows < rows.n:
            slopes[:, num_rows:] = 0
        self.network.backward(self.params, rows.X, tape, slopes, optimiser.sums, optimiser.keep)
        optimiser.step(self.moved, factor)

    def look(
        self, test: Rows | None, validation: Rows | None, histories: Sequence[History], epoch: int
    ) -> Tensor:
        """Measure every copy, write it down, and return the training losses, shape (s,)."""
        seen = measure_errors(self.network, self.params, self.train, self.loss)
        measured = {"train_loss": seen.loss, "train_error": seen.error}
        if test is not None:
            tested = measure_errors(self.network, self.params, test, self.loss)
            measured |= {"test_error": tested.error, "test_misclassified": tested.misclassified}
        if validation is not None:
            held_out = measure_errors(self.network, self.params, validation, self.loss)
            measured["validation_error"] = held_out.error
        for copy, index in enumerate(self.alive.tolist()):
            numbers = {name: float(values[copy]) for name, values in measured.items()}
            histories[index].append({"epochs": epoch, **numbers})
        return seen.loss[: len(self.alive)]

    def is_finite(self) -> Tensor:
        """Whether all weights of each copy are finite, shape of `alive`."""
        sums = torch.stack([part.sum((1, 2)) for part in self.moved.values()]).sum(0)
        return sums[: len(self.alive)].isfinite()

    def drop(self, diverged: Tensor) -> None:
        """Go on without the copies that diverged, a mask of the shape of `alive`; some must be left."""
        left = torch.nonzero(~diverged)[:, 0].cpu()
        self.alive = self.alive[left]
        places = self._filled(left)
        self.moved = chosen(self.moved, places)
        self.optimiser.select(places)
        self._arrange()


@flushed_subnormals()
def train_together(
    network: Network,
    train: Rows,
    settings: Sequence[TrainingSettings],
    *,
    test: Rows | None = None,
    validation: Rows | None = None,
    fewest: int = 1,
    keep_weights: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> list[TrainingRun]:
    """Train one network under each setting, all at once.

    Args:
        network: The architecture.
        train: Rows to train on.
        settings: They differ in rates and decays alone (`share_batches`).
        test: Rows on which the error is measured.
        validation: Other rows on which it is measured, to choose a setting by.
        fewest: Copies to train at least, the last one twice if need be. A copy alone takes other ways through
            the products than one among others: with 2, a run is bit for bit the same in any company.
        keep_weights: Return the weights with the runs.
        progress: Called with the number of epochs done, after each.
    """
    begin = time.perf_counter()
    group = Group(network, train, settings, fewest)
    histories: list[History] = [[] for _ in settings]
    initial = group.look(test, validation, histories, 0)
    num_epochs = settings[0].epochs
    records = {round(num_epochs * record / RECORDS) for record in range(1, RECORDS + 1)}
    for epoch in range(1, num_epochs + 1):
        group.epoch(epoch - 1)
        diverged = ~group.is_finite()
        if epoch in records:
            loss = group.look(test, validation, histories, epoch)
            diverged |= ~(loss <= DIVERGED * initial[group.alive])
        if bool(diverged.all()):
            group.alive = group.alive[:0]
            break
        if bool(diverged.any()):
            group.drop(diverged)
        progress(epoch)
    seconds = (time.perf_counter() - begin) / len(settings)
    at = {index: copy for copy, index in enumerate(group.alive.tolist())}
    return [
        _run(group, setting, at.get(index), histories[index], seconds, keep_weights)
        for index, setting in enumerate(settings)
    ]


@flushed_subnormals()
def weights_together(
    network: Network, train: Rows, settings: Sequence[TrainingSettings], *, fewest: int = 2
) -> list[Parameters | None]:
    """Weights at the end of training under each setting, shapes (1, …); None where a run diverged.

    They are those of `train_together`. Nothing is measured on the way: norms, signs and errors cost more than
    the training itself where rows are few.
    """
    group = Group(network, train, settings, fewest)
    initial = measure_errors(network, group.params, train, group.loss).loss[: len(settings)]
    for epoch in range(settings[0].epochs):
        group.epoch(epoch)
        finite = group.is_finite()
        if not bool(finite.any()):
            return [None] * len(settings)
        if not bool(finite.all()):
            group.drop(~finite)
    loss = measure_errors(network, group.params, train, group.loss).loss[: len(group.alive)]
    kept = dict(zip(group.alive.tolist(), (loss <= DIVERGED * initial[group.alive]).tolist(), strict=True))
    copies = {index: copy for copy, (index, stable) in enumerate(kept.items()) if stable}
    return [
        {name: part[copies[index]][None].clone() for name, part in group.params.items()}
        if index in copies
        else None
        for index in range(len(settings))
    ]


def _run(
    group: Group,
    setting: TrainingSettings,
    copy: int | None,
    history: History,
    seconds: float,
    keep_weights: bool,
) -> TrainingRun:
    """The run of one setting; `copy` is None where it diverged."""
    measured: dict[str, Any] = {name: tuple(look[name] for look in history) for name in history[0]}
    weights, moved, changes = None, {}, {}
    if copy is not None:
        weights = {name: part[copy : copy + 1].clone() for name, part in group.params.items()}
        moved = {name: norms_of(weights[name][0], group.start[name][0]) for name in group.network.moved}
        changes = sign_changes(group.network, weights, group.start, group.train)
    return TrainingRun(
        network=group.network.name,
        width=group.network.width,
        settings=setting,
        **{"test_error": None, "test_misclassified": None, **measured},
        sign_changes=changes,
        moved=moved,
        diverged=copy is None,
        seconds=seconds,
        weights=weights if keep_weights else None,
    )
