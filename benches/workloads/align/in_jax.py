"""All alignments by antidiagonals: a scan over them, each a vector indexed by the position in the first sequence."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    n, m = arguments["a"].size, arguments["b"].size

    def align(a):
        gap = a["gap"]
        i = jnp.arange(n + 1)

        def step(state, k):
            earlier, before = state
            j = k - i
            is_inside = (i > 0) & (j > 0) & (j <= m)
            letters = a["a"][jnp.maximum(i - 1, 0)], a["b"][jnp.clip(j - 1, 0, m - 1)]
            both = jnp.roll(earlier, 1) + a["score"][letters]
            x = jnp.stack([both, jnp.roll(before, 1) - gap, before - gap])
            now = jax.nn.logsumexp(jnp.where(is_inside, x, 0.0), axis=0)
            return (before, jnp.where(is_inside, now, -gap * k)), None

        start = jnp.full(n + 1, 0.0), jnp.full(n + 1, -gap)
        return jax.lax.scan(step, start, jnp.arange(2, n + m + 1))[0][1][n]

    return {"scan over antidiagonals": (align, gradient(align, ["score", "gap"]))}
