"""Hidden Markov models: a scan over time, all sequences in each step."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    n = arguments["symbol"].shape[0]

    def states(a, unroll):
        def step(p, symbol):
            q = (p @ a["step"]) * a["emit"].T[symbol]
            scale = q.sum(1)
            return q / scale[:, None], jnp.log(scale)

        start = jnp.broadcast_to(a["start"], (n, a["start"].size))
        return -jax.lax.scan(step, start, a["symbol"].T, unroll=unroll)[1].sum()

    def formulation(unroll):
        function = lambda a: states(a, unroll)
        return function, gradient(function, ["start", "step", "emit"])

    return {"scan": formulation(1), "scan, 4 steps unrolled": formulation(4)}
