"""A cascade of second-order filters: one scan over the signal, in each step through all filters."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    k = arguments["b"].shape[0]

    def filters(a, unroll):
        def step(state, pair):
            x, target = pair
            new = []
            for s in range(k):
                b0, b1, b2 = a["b"][s]
                a1, a2 = a["a"][s]
                u, v = state[s]
                y = b0 * x + u
                new.append((b1 * x - a1 * y + v, b2 * x - a2 * y))
                x = y
            return new, (x - target) ** 2

        start = [(0.0, 0.0)] * k
        return jax.lax.scan(step, start, (a["signal"], a["target"]), unroll=unroll)[1].mean()

    def formulation(unroll):
        function = lambda a: filters(a, unroll)
        return function, gradient(function, ["b", "a"])

    return {"scan": formulation(1), "scan, 8 steps unrolled": formulation(8)}
