"""The energy of a line of unit masses between cubic springs after damped time steps from rest.

With e_i = x_{i+1} - x_i - 1 and the force F_i = k_i (e_i + beta e_i^3), each step adds dt (F_i - F_{i-1} - c v_i) to v_i, and
then dt v_i to x_i. The energy is sum v^2 / 2 + sum k_i (e_i^2 / 2 + beta e_i^4 / 4).
"""

import jax
import jax.numpy as jnp

from . import gradient


def formulations(arguments):
    steps = int(arguments["steps"])

    def energy(a, wrap):
        def step(state, _):
            x, v = state
            e = x[1:] - x[:-1] - 1.0
            force = jnp.pad(a["k"] * (e + a["beta"] * e * e * e), 1)
            v = v + a["dt"] * (force[1:] - force[:-1] - a["c"] * v)
            return (x + a["dt"] * v, v), None

        (x, v), _ = jax.lax.scan(wrap(step), (a["x0"], jnp.zeros_like(a["x0"])), None, length=steps)
        e = x[1:] - x[:-1] - 1.0
        return 0.5 * (v @ v) + (a["k"] * (0.5 * e * e + 0.25 * a["beta"] * e * e * e * e)).sum()

    def formulation(wrap):
        function = lambda a: energy(a, wrap)
        return function, gradient(function, ["x0", "k"])

    return {"scan": formulation(lambda step: step), "scan, steps again in reverse": formulation(jax.checkpoint)}
