"""Waves on a membrane: a scan over time, whole grids in each step."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    steps = int(arguments["steps"])

    def membrane(a, wrap):
        inner = a["speed"][1:-1, 1:-1]

        def step(state, _):
            before, u = state
            middle = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            moved = 2.0 * middle - before[1:-1, 1:-1] + inner * (around - 4.0 * middle)
            return (u, jnp.pad(moved, 1)), None

        u = jax.lax.scan(wrap(step), (a["start"], a["start"]), None, length=steps)[0][1]
        return ((u - a["target"]) ** 2).sum()

    def formulation(wrap):
        function = lambda a: membrane(a, wrap)
        return function, gradient(function, ["start", "speed"])

    return {"scan": formulation(lambda step: step), "scan, steps again in reverse": formulation(jax.checkpoint)}
