"""The pull of planets on a star, all times and planets at once. Reverse mode needs a fixed number of Newton's steps."""

import jax.numpy as jnp

from in_jax import gradient

STEPS = 8


def kepler(a):
    e = a["eccentricity"]
    mean = 2.0 * jnp.pi * a["time"][:, None] / a["period"] + a["phase"]
    x = mean
    for _ in range(STEPS):
        x = x - (x - e * jnp.sin(x) - mean) / (1.0 - e * jnp.cos(x))
    distance = 1.0 - e * jnp.cos(x)
    along = (jnp.cos(x) - e) / distance
    across = jnp.sqrt(1.0 - e * e) * jnp.sin(x) / distance
    pull = a["amplitude"] * (jnp.cos(a["angle"]) * (along + e) - jnp.sin(a["angle"]) * across)
    return ((pull.sum(1) - a["velocity"]) ** 2).mean()


def formulations(arguments):
    names = ["period", "eccentricity", "phase", "amplitude", "angle"]
    return {"%d steps of Newton" % STEPS: (kepler, gradient(kepler, names))}
