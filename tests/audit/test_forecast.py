"""What the forecast times."""

import torch

from widenet.audit.forecast import pilot_rows
from widenet.kernels.moments import close_pairs


def test_the_rows_that_are_timed_are_no_close_pairs():
    rows = pilot_rows()
    cosines = (rows @ rows.T).fill_diagonal_(0)
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(len(rows), dtype=torch.float64))
    assert len(close_pairs(cosines, 1.0, 1.0)[0]) == 0
