"""A recurrent layer: a scan over the sequence. The products with inputs are inside of it, or one before it."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    def recurrent(a, before):
        def step(h, pair):
            given, y = pair
            h = jnp.tanh((given if before else a["w"] @ given + a["b"]) + a["u"] @ h)
            return h, (a["v"] @ h - y) ** 2

        given = a["x"] @ a["w"].T + a["b"] if before else a["x"]
        return jax.lax.scan(step, jnp.zeros_like(a["b"]), (given, a["y"]))[1].mean()

    def formulation(before):
        function = lambda a: recurrent(a, before)
        return function, gradient(function, ["w", "u", "b", "v"])

    return {"products in the scan": formulation(False), "one product before the scan": formulation(True)}
