"""Cube roots by Newton's method: for each number until its step is below 1e-12, at most 50 steps; their sum.

JAX has no reverse mode through a loop whose length depends on data. What is left: forward mode, which takes a single
tangent only because root i depends on number i alone, and reverse mode through all 50 steps, most of them masked.
"""

import jax
import jax.numpy as jnp

from . import gradient

MOST = 50


def advance(a, x, is_on):
    step = (x * x * x - a) / (3.0 * x * x)
    return jnp.where(is_on, x - step, x), is_on & (jnp.abs(step) >= 1e-12)


def while_loop(a):
    def goes_on(state):
        return (state[2] < MOST) & state[1].any()

    def body(state):
        return (*advance(a, *state[:2]), state[2] + 1)

    return jax.lax.while_loop(goes_on, body, (jnp.ones_like(a), jnp.ones(a.shape, bool), 0))[0]


def masked(a):
    body = lambda state, _: (advance(a, *state), None)
    return jax.lax.scan(body, (jnp.ones_like(a), jnp.ones(a.shape, bool)), None, length=MOST)[0][0]


def formulations(arguments):
    def in_one_direction(given):
        roots, tangents = jax.jvp(while_loop, (given["a"],), (jnp.ones_like(given["a"]),))
        return roots.sum(), [tangents]

    in_reverse = lambda given: masked(given["a"]).sum()
    return {
        "while_loop, forward mode": (lambda given: while_loop(given["a"]).sum(), in_one_direction),
        "scan of 50 steps, reverse mode": (in_reverse, gradient(in_reverse, ["a"])),
    }
