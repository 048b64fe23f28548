"""Panels of tiles: they cover a symmetric matrix once, and products do not depend on who computes them."""

import numpy as np
import pytest
import torch

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.panels import (
    TILE as USUAL_TILE,
    Panel,
    Tiles,
    added_up,
    blocks_of,
    held_bytes,
    panel_product,
    panels_of,
)
from widenet.testing import unit_rows

KERNEL = kernel_by_name("relu2-hidden")
TILE = 16


@pytest.mark.parametrize("n", [1, 15, 16, 17, 130, 600])
def test_panels_cover_the_lower_half_once(n):
    seen = np.zeros((n, n), dtype=int)
    for panel in panels_of(n, TILE):
        entries = 0
        for i, j in panel.corners(TILE):
            seen[i : i + TILE, j : j + TILE] += 1
            entries += seen[i : i + TILE, j : j + TILE].size
        assert entries == panel.num_entries(n, TILE)
    assert (seen[np.tril_indices(n)] == 1).all()
    assert (seen[np.triu_indices(n, TILE)] == 0).all()
    assert held_bytes(n, torch.float32, TILE) == 4 * seen.sum()


def test_a_panel_is_of_bounded_size():
    assert max(panel.num_entries(10**5, USUAL_TILE) for panel in panels_of(10**5)) == 4096**2


def test_a_panel_is_multiplied_from_both_sides(generator):
    n, rows, columns = 70, (48, 70), (16, 48)
    X = unit_rows(n, 5, generator=generator)
    V = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    tiles = Tiles(KERNEL, X, TILE, torch.float64, 0)
    found = panel_product(tiles, Panel(rows, columns), blocks_of(V.T, TILE))
    H, of_rows, of_columns = gram_matrix(KERNEL, X), slice(*rows), slice(*columns)
    below, above = H[of_rows, of_columns] @ V[of_columns], H[of_columns, of_rows] @ V[of_rows]
    torch.testing.assert_close(found, torch.cat([below, above]).T, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("room", [0, 20_000, 10**9])
def test_tiles_are_held_as_far_as_there_is_room(room, generator):
    n = 200
    tiles = Tiles(KERNEL, unit_rows(n, 5, generator=generator), TILE, torch.float64, room)
    blocks = blocks_of(torch.randn(3, n, generator=generator, dtype=torch.float64), TILE)
    first, again = ([panel_product(tiles, panel, blocks) for panel in panels_of(n, TILE)] for _ in range(2))
    assert all(torch.equal(*pair) for pair in zip(first, again, strict=True))
    held = sum(tile.nbytes for tile in tiles._kept.values())
    assert held == min(room // (8 * TILE**2) * 8 * TILE**2, held_bytes(n, torch.float64, TILE))


def test_sums_leave_the_other_cores_to_the_panels(generator):
    n, seen = 200, []
    X, V = unit_rows(n, 5, generator=generator), torch.randn(n, 3, generator=generator, dtype=torch.float64)
    tiles, blocks = Tiles(KERNEL, X, TILE, torch.float64, 0), blocks_of(V.T, TILE)

    def products():
        for panel in panels_of(n, TILE):
            seen.append(torch.get_num_threads())
            yield panel_product(tiles, panel, blocks)

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        found = added_up(panels_of(n, TILE), products(), V.T).T
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}
    torch.testing.assert_close(found, gram_matrix(KERNEL, X) @ V, rtol=1e-12, atol=1e-12)


def test_no_rows_have_no_panels():
    assert panels_of(0) == []
