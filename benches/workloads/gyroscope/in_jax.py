"""A quaternion through all turns: a scan; errors at once, after it."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    def gyroscope(a, unroll):
        turns = 0.5 * a["dt"] * (a["scale"] * a["turn"] - a["bias"])

        def step(o, turn):
            w, x, y, z = o
            a, b, c = turn
            p, q = w - x * a - y * b - z * c, x + w * a + y * c - z * b
            r, s = y + w * b - x * c + z * a, z + w * c + x * b - y * a
            over = jax.lax.rsqrt(p * p + q * q + r * r + s * s)
            o = p * over, q * over, r * over, s * over
            return o, o

        w, x, y, z = jax.lax.scan(step, (1.0, 0.0, 0.0, 0.0), turns, unroll=unroll)[1]
        seen = jnp.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z], axis=1)
        return ((seen - a["gravity"]) ** 2).sum()

    def formulation(unroll):
        function = lambda a: gyroscope(a, unroll)
        return function, gradient(function, ["scale", "bias"])

    return {"scan": formulation(1), "scan, 8 steps unrolled": formulation(8)}
