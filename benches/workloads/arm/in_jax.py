"""The calibration of an arm, by vmap over the poses."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def rotation(u, angle):
    s, c = jnp.sin(angle), jnp.cos(angle)
    across = jnp.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return c * jnp.eye(3) + s * across + (1.0 - c) * jnp.outer(u, u)


def arm(a):
    directions = a["axis"] / jnp.linalg.norm(a["axis"], axis=1, keepdims=True)

    def square(angle, end):
        p, r = jnp.zeros(3), jnp.eye(3)
        for j in range(angle.size):
            r = r @ rotation(directions[j], angle[j])
            p = p + r @ a["link"][j]
        return ((p - end) ** 2).sum()

    return jax.vmap(square)(a["angle"], a["end"]).mean()


def formulations(arguments):
    return {"vmap": (arm, gradient(arm, ["axis", "link"]))}
