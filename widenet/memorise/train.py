"""A method from its start, or from where an earlier run was interrupted, to its end."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from widenet.base.progress import SILENT, Progress
from widenet.memorise.methods.method import FittingMethod, State, copied, last_loss, moved_to
from widenet.memorise.problem import SquaresProblem
from widenet.runs.kept import KeptState


def train_method(
    problem: SquaresProblem,
    method: FittingMethod,
    kept: KeptState,
    *,
    notes: Callable[[], dict[str, Any]] = dict,
    progress: Progress = SILENT,
) -> State:
    """The state at the end; what an interruption leaves is kept before it goes on.

    Args:
        problem: What is to be fitted.
        method: How.
        kept: Where the state is kept on the way, and looked for at the start.
        notes: What is kept beside it, as `KeptState.save` takes it.
        progress: Told of every piece of work.
    """
    earlier = {} if kept.earlier is None else kept.earlier.arrays
    stored = {name: torch.from_numpy(array) for name, array in earlier.items()}
    state = moved_to(problem.Z.device, stored or method.start(problem))
    state = copied(state)  # laid out as if it was stored, so that both round alike
    progress("training")
    try:
        while not method.done(state):
            state = method.advance(problem, state)
            progress("training", method.steps(state), detail=f"steps, loss {last_loss(state):.2e}")
            kept.save_if_due(state_arrays(state), notes())
    except KeyboardInterrupt:
        kept.save(state_arrays(state), notes())
        raise
    return state


def state_arrays(state: State) -> dict[str, np.ndarray]:
    """A state as `KeptState` takes it."""
    return {name: tensor.cpu().numpy() for name, tensor in state.items()}
