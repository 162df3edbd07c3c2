"""Vortices that carry each other: all pairs at once, a scan over time."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    steps = int(arguments["steps"])

    def vortices(a, wrap):
        def velocity(x):
            dx = x[:, None, 0] - x[None, :, 0]
            dy = x[:, None, 1] - x[None, :, 1]
            w = a["strength"] / (dx * dx + dy * dy + a["core"] ** 2)
            return jnp.stack([-(w * dy).sum(1), (w * dx).sum(1)], axis=1)

        def step(x, _):
            middle = x + 0.5 * a["dt"] * velocity(x)
            return x + a["dt"] * velocity(middle), None

        error = jax.lax.scan(wrap(step), a["start"], None, length=steps)[0] - a["target"]
        return (error**2).sum() / error.shape[0]

    def formulation(wrap):
        function = lambda a: vortices(a, wrap)
        return function, gradient(function, ["start", "strength"])

    return {"scan": formulation(lambda step: step), "scan, steps again in reverse": formulation(jax.checkpoint)}
