"""Rays through a lens, all of them at once. Reverse mode needs a fixed number of Newton's steps."""

import jax.numpy as jnp

from in_jax import gradient

STEPS = 6


def sag(y, c, k, a):
    return c * y * y / (1.0 + jnp.sqrt(1.0 - (1.0 + k) * c * c * y * y)) + a * y**4


def slope(y, c, k, a):
    return c * y / jnp.sqrt(1.0 - (1.0 + k) * c * c * y * y) + 4.0 * a * y**3


def lens(a):
    y = a["height"]
    z, p, q = -jnp.ones_like(y), jnp.zeros_like(y), jnp.ones_like(y)
    for s in range(a["curvature"].size):
        shape = a["curvature"][s], a["conic"][s], a["fourth"][s]
        t = -z / q
        for _ in range(STEPS):
            at = y + t * p
            t = t - (z + t * q - sag(at, *shape)) / (q - slope(at, *shape) * p)
        y, z = y + t * p, z + t * q
        m = slope(y, *shape)
        size = jnp.sqrt(1.0 + m * m)
        cosine = (q - m * p) / size
        ratio = a["index"][s] / a["index"][s + 1]
        turn = (jnp.sqrt(1.0 - ratio * ratio * (1.0 - cosine * cosine)) - ratio * cosine) / size
        p, q = ratio * p - turn * m, ratio * q + turn
        z = z - a["gap"][s]
    image = y - z * p / q
    return (image * image).mean()


def formulations(arguments):
    return {"%d steps of Newton" % STEPS: (lens, gradient(lens, ["curvature", "conic", "fourth", "gap"]))}
