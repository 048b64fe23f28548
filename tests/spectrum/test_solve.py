import pytest
import torch

from widenet.base.checkpoint import Checkpoint, Saved
from widenet.base.errors import NotConvergedError
from widenet.spectrum.gram import FULL_BLOCK, DenseGram
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


def test_columns_that_are_done_are_left_out_of_products(generator):
    H = decaying_matrix(200, generator=generator, smallest=1e-2)
    B = torch.randn(200, 20, generator=generator, dtype=torch.float64)
    rtol = torch.tensor([1e-10] * 3 + [1e-2] * 17, dtype=torch.float64)
    gram = Watched(H)
    solution = conjugate_gradients(gram, B, rtol=rtol)
    assert gram.widths[0] == 20
    assert gram.widths[-1] == FULL_BLOCK
    assert gram.widths == sorted(gram.widths, reverse=True)
    residuals = (B - H @ solution.Z).norm(dim=0) / B.norm(dim=0)
    assert (residuals <= 1.01 * rtol).all()
    assert residuals[3:].max() > 1e-6  # they were not solved along with the others
    assert solution.residual == pytest.approx(float(residuals.max()), rel=0.01)


class Watched(DenseGram):
    """Remembers how many columns its products had."""

    def __init__(self, matrix):
        super().__init__(matrix)
        self.widths = []

    def matmul(self, V):
        self.widths.append(V.shape[1])
        return super().matmul(V)


def test_a_sketch_of_all_columns_is_the_matrix(generator):
    H = decaying_matrix(40, generator=generator, smallest=1e-3)
    made = nystrom_preconditioner(DenseGram(H), 0.1, rank=40, generator=generator)
    torch.testing.assert_close(made.vectors @ (made.eigenvalues[:, None] * made.vectors.T), H)
    # P⁻¹(H + ρI) is then a multiple of the identity.
    V = torch.randn(40, 3, generator=generator, dtype=torch.float64)
    scale = float(made.eigenvalues[-1]) + 0.1
    torch.testing.assert_close(made.apply(H @ V + 0.1 * V), scale * V)


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


def test_what_is_no_number_any_more_is_told_at_once(generator):
    gram = DenseGram(decaying_matrix(20, generator=generator))
    B = torch.full((20, 1), 1e160, dtype=torch.float64)
    with pytest.raises(NotConvergedError, match=r"after [1-9] products"):
        conjugate_gradients(gram, B)
