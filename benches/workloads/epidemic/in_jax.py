"""An epidemic in groups: a scan over the steps of Runge and Kutta."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    def epidemic(a, wrap):
        dt = a["dt"]

        def rates(s, i):
            infected = s * (a["contact"] @ i)
            return -infected, infected - a["recovery"] * i

        def step(state, observed):
            s, i = state
            s1, i1 = rates(s, i)
            s2, i2 = rates(s + dt / 2.0 * s1, i + dt / 2.0 * i1)
            s3, i3 = rates(s + dt / 2.0 * s2, i + dt / 2.0 * i2)
            s4, i4 = rates(s + dt * s3, i + dt * i3)
            s = s + dt / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
            i = i + dt / 6.0 * (i1 + 2.0 * i2 + 2.0 * i3 + i4)
            return (s, i), ((i - observed) ** 2).sum()

        return jax.lax.scan(wrap(step), (1.0 - a["start"], a["start"]), a["observed"])[1].sum()

    def formulation(wrap):
        function = lambda a: epidemic(a, wrap)
        return function, gradient(function, ["contact", "recovery", "start"])

    return {"scan": formulation(lambda step: step), "scan, steps again in reverse": formulation(jax.checkpoint)}
