"""An option on a rate: all paths at once, a scan over time. A root of zero has a derivative of zero."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def root(x):
    return jnp.where(x > 0.0, jnp.sqrt(jnp.where(x > 0.0, x, 1.0)), 0.0)


def formulations(arguments):
    def rates(a, unroll):
        dt = a["dt"]

        def step(state, normal):
            rate, total = state
            move = a["speed"] * (a["level"] - rate) * dt + a["noise"] * root(rate) * jnp.sqrt(dt) * normal
            return (rate + move, total + rate * dt), None

        start = jnp.full(a["normal"].shape[0], a["start"])
        (rate, total), _ = jax.lax.scan(step, (start, jnp.zeros_like(start)), a["normal"].T, unroll=unroll)
        return (jnp.exp(-total) * jnp.maximum(rate - a["strike"], 0.0)).mean()

    def formulation(unroll):
        function = lambda a: rates(a, unroll)
        return function, gradient(function, ["start", "speed", "level", "noise"])

    return {"scan": formulation(1), "scan, 5 steps unrolled": formulation(5)}
