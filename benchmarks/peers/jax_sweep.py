"""Train the three-layer ResNet under many settings with jit(vmap(scan)); runs in an environment of its own.

Usage: python jax_sweep.py WIDTH SETTINGS STEPS REPEATS, which prints a JSON object with the microseconds per
setting and step of each run after compilation, and the final loss of each setting on the last batch.
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

D, K, BATCH = 30, 15, 50


def loss(params, x, y):
    W, V, A = params
    first = jax.nn.relu(x @ W[:, :-1].T + W[:, -1]) @ A.T
    out = first + jax.nn.relu(first @ V[:, :-1].T + V[:, -1]) @ A.T
    return 0.5 * jnp.mean(jnp.sum((y - out) ** 2, axis=1))


def train(params, rate, decay, X, Y):
    """SGD with momentum .9 over batches X (steps, b, d), Y (steps, b, k)."""

    def step(state, rows):
        params, sums = state
        value, gradient = jax.value_and_grad(loss)(params, *rows)
        sums = jax.tree.map(lambda v, g, w: 0.9 * v + g + decay * w, sums, gradient, params)
        params = jax.tree.map(lambda w, v: w - rate * v, params, sums)
        return (params, sums), value

    start = (params, jax.tree.map(jnp.zeros_like, params))
    (params, _), values = jax.lax.scan(step, start, (X, Y))
    return params, values[-1]


def main(width: int, num_settings: int, num_steps: int, num_repeats: int) -> None:
    rng = np.random.default_rng(0)
    shapes = [(width, D + 1), (width, K + 1), (K, width)]
    draw = [rng.standard_normal(shape, dtype=np.float32) / width**0.5 for shape in shapes]
    params = tuple(jnp.asarray(np.repeat(part[None], num_settings, axis=0)) for part in draw)
    X = jnp.asarray(rng.choice([-1.0, 1.0], (num_steps, BATCH, D)).astype(np.float32))
    Y = jnp.asarray(rng.standard_normal((num_steps, BATCH, K), dtype=np.float32))
    rates = jnp.asarray(0.001 * (1 + np.arange(num_settings) / 100), dtype=jnp.float32)
    decays = jnp.full(num_settings, 0.001, dtype=jnp.float32)
    run = jax.jit(jax.vmap(train, in_axes=(0, 0, 0, None, None)))
    jax.block_until_ready(run(params, rates, decays, X, Y))
    micros = []
    for _ in range(num_repeats):
        start = time.perf_counter()
        _, losses = jax.block_until_ready(run(params, rates, decays, X, Y))
        micros.append(1e6 * (time.perf_counter() - start) / (num_settings * num_steps))
    print(json.dumps({"microseconds": micros, "losses": np.asarray(losses).tolist()}))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
