"""Time the Gram matrix of a depth-3 ReLU NTK in neural-tangents; runs in its own environment.

Usage: python neural_tangents_gram.py ROWS.npy REPEATS, which prints one JSON object with the seconds of each
run after compilation and a few values of the matrix to compare with.
"""

import json
import sys
import time

import jax
import numpy as np
from neural_tangents import stax


def main(rows_file: str, num_repeats: int) -> None:
    X = np.load(rows_file)
    layers = [
        stax.Dense(1, W_std=1.0, b_std=None),
        stax.Relu(),
        stax.Dense(1, W_std=2**0.5, b_std=None),
        stax.Relu(),
        stax.Dense(1, W_std=1.0, b_std=None),
    ]
    _, _, kernel_fn = stax.serial(*layers)
    # neural-tangents divides ⟨x, z⟩ by the number of columns.
    rows = jax.device_put(X * np.float32(X.shape[1] ** 0.5))
    # Compiled and given both arguments: the fastest of the ways to call it.
    ntk = jax.jit(lambda x, z: kernel_fn(x, z, "ntk"))
    gram = ntk(rows, rows).block_until_ready()
    seconds = []
    for _ in range(num_repeats):
        start = time.perf_counter()
        gram = ntk(rows, rows).block_until_ready()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "first_row": np.asarray(gram[0, 1:9]).tolist()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
