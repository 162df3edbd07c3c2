"""The volatility of returns: a scan over time for the variances; likelihoods at once, or within it."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    def volatility(a, unroll):
        r = a["r"]
        shocks = a["base"] + jnp.where(r < 0.0, a["shock"] + a["loss"], a["shock"]) * r * r
        step = lambda h, shock: (shock + a["memory"] * h, h)
        h = jax.lax.scan(step, a["first"], shocks, unroll=unroll)[1]
        return 0.5 * (jnp.log(h) + r * r / h).sum()

    def associative(a):
        r = a["r"]
        shocks = a["base"] + jnp.where(r < 0.0, a["shock"] + a["loss"], a["shock"]) * r * r
        shocks = jnp.concatenate([a["first"][None], shocks[:-1]])
        join = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])
        h = jax.lax.associative_scan(join, (jnp.full_like(r, a["memory"]), shocks))[1]
        return 0.5 * (jnp.log(h) + r * r / h).sum()

    names = ["base", "shock", "loss", "memory", "first"]
    found = {"scan, %d steps unrolled" % n: (lambda a, n=n: volatility(a, n)) for n in (1, 16)}
    found["associative scan"] = associative
    return {name: (function, gradient(function, names)) for name, function in found.items()}
