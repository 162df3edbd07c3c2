"""A Kalman filter: a scan over the measurements."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    def tracker(a, unroll):
        f, h, noise = a["f"], a["h"], jnp.diag(a["q"])

        def step(state, z):
            x, p = state
            x = f @ x
            p = f @ p @ f.T + noise
            gain = p @ h
            s = h @ gain + a["r"]
            e = z - h @ x
            return (x + e / s * gain, p - jnp.outer(gain, gain) / s), 0.5 * (e * e / s + jnp.log(s))

        return jax.lax.scan(step, (jnp.zeros_like(h), noise), a["z"], unroll=unroll)[1].sum()

    def formulation(unroll):
        function = lambda a: tracker(a, unroll)
        return function, gradient(function, ["f", "h", "q", "r"])

    return {"scan": formulation(1), "scan, 4 steps unrolled": formulation(4)}
