"""Heat on triangles: all of them at once in each step; their flows are added to the points."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    steps = int(arguments["steps"])

    def mesh(a, wrap):
        corner = a["triangle"]
        p = a["point"][corner]
        # The edges against each corner, turned.
        edge = jnp.roll(p, -2, axis=1) - jnp.roll(p, -1, axis=1)
        turned = jnp.stack([-edge[..., 1], edge[..., 0]], axis=-1)
        d, e = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
        area = 0.5 * (d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0])

        def step(u, _):
            at = u[corner]
            slope = jnp.einsum("ec,eci->ei", at, turned) / (2.0 * area)[:, None]
            k = 0.5 * a["conductivity"] * (1.0 + at.mean(1) ** 2)
            flow = k[:, None] * jnp.einsum("ei,eci->ec", slope, turned)
            return u.at[corner].add(-a["dt"] * flow), None

        u = jax.lax.scan(wrap(step), a["start"], None, length=steps)[0]
        return u @ u

    def formulation(wrap):
        function = lambda a: mesh(a, wrap)
        return function, gradient(function, ["conductivity", "start"])

    return {"scan": formulation(lambda step: step), "scan, steps again in reverse": formulation(jax.checkpoint)}
