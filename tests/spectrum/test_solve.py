import pytest
import torch

from widenet.base.checkpoint import Checkpoint, Saved
from widenet.base.errors import NotConvergedError
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.solve import conjugate_gradients, nystrom_preconditioner
from widenet.testing import decaying_matrix


@pytest.mark.parametrize("rank", [None, 20])
def test_solution_equals_a_direct_one(rank, generator):
    H = decaying_matrix(100, generator=generator)
    B = torch.randn(100, 3, generator=generator, dtype=torch.float64)
    gram = DenseGram(H)
    preconditioner = rank and nystrom_preconditioner(gram, 0.1, rank=rank, generator=generator)
    solution = conjugate_gradients(gram, B, ridge=0.1, preconditioner=preconditioner, rtol=1e-11)
    expected = torch.linalg.solve(H + 0.1 * torch.eye(100, dtype=torch.float64), B)
    torch.testing.assert_close(solution.Z, expected, rtol=1e-7, atol=1e-9)
    assert solution.residual <= 1e-11


def test_preconditioner_saves_products(generator):
    gram = DenseGram(decaying_matrix(300, generator=generator))
    B = torch.randn(300, 2, generator=generator, dtype=torch.float64)
    preconditioner = nystrom_preconditioner(gram, 0.1, rank=100, generator=generator)
    plain = conjugate_gradients(gram, B, ridge=0.1)
    fast = conjugate_gradients(gram, B, ridge=0.1, preconditioner=preconditioner)
    assert fast.num_matvecs < plain.num_matvecs / 2


def test_a_column_of_zeros_stays_zero(generator):
    gram = DenseGram(decaying_matrix(30, generator=generator))
    B = torch.randn(30, 2, generator=generator, dtype=torch.float64)
    B[:, 0] = 0
    solution = conjugate_gradients(gram, B, ridge=1.0)
    assert (solution.Z[:, 0] == 0).all()
    assert solution.Z.isfinite().all()


def test_an_unconverged_solution_is_an_error_that_says_what_to_do(generator):
    gram = DenseGram(decaying_matrix(100, generator=generator))
    B = torch.randn(100, 1, generator=generator, dtype=torch.float64)
    with pytest.raises(NotConvergedError, match="max_matvecs"):
        conjugate_gradients(gram, B, max_matvecs=5)


def test_a_state_after_the_last_product_is_an_unconverged_solution_too(generator):
    class Kept(Checkpoint):
        """Gives back what was saved last."""

        state = None

        def load(self):
            return self.state

        def is_due(self):
            return True

        def save(self, arrays, grown=None):
            self.state = Saved(arrays)

    gram, kept, told = DenseGram(decaying_matrix(100, generator=generator)), Kept(), []
    B = torch.randn(100, 1, generator=generator, dtype=torch.float64)
    for _ in range(2):  # killed between the last saving and its removal, then resumed
        with pytest.raises(NotConvergedError) as caught:
            conjugate_gradients(gram, B, max_matvecs=5, checkpoint=kept)
        told.append(str(caught.value))
    assert told[0] == told[1]
