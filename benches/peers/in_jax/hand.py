"""Hand tracking: measured points less the vertices of a skinned hand, and their derivatives in 26 angles.

Bone k turns by Rz(spread_k) Rx(bend_k) in the frame of its parent; a vertex follows the bones by its weights, then the whole
hand is turned about theta[0..3] and moved by theta[3..6]. The derivative has a row for each angle.
"""

import jax
import jax.numpy as jnp

from bones import angles_of_bones, generations


def rotation(r):
    """Rodrigues' formula, for an angle that is not zero."""
    angle = jnp.sqrt(r @ r)
    axis = r / angle
    x, y, z = axis
    across = jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    outer = jnp.outer(axis, axis)
    return outer + jnp.cos(angle) * (jnp.eye(3) - outer) + jnp.sin(angle) * across


def vertices(arguments):
    """All vertices as a function of the placed arguments."""
    parent = arguments["model.parent"]
    levels = generations(parent)
    bend, spread = angles_of_bones()

    def posed(a):
        theta = a["theta"]
        turns = jnp.append(theta, 0.0)
        sx, cx, sz, cz = jnp.sin(turns[bend]), jnp.cos(turns[bend]), jnp.sin(turns[spread]), jnp.cos(turns[spread])
        o, i = jnp.zeros_like(sx), jnp.ones_like(sx)
        joints = jnp.stack([cz, -sz * cx, sz * sx, o, sz, cz * cx, -cz * sx, o, o, sx, cx, o, o, o, o, i], axis=1)
        local = a["model.relative"] @ joints.reshape(-1, 4, 4)
        absolute = local
        for bones in levels[1:]:
            absolute = absolute.at[bones].set(absolute[parent[bones]] @ local[bones])
        transforms = (absolute @ a["model.inverse"])[:, :3].reshape(-1, 12)
        skinned = (a["model.weight"] @ transforms).reshape(-1, 3, 4)
        at = (skinned * a["model.position"][:, None, :]).sum(-1)
        return at @ rotation(theta[:3]).T + theta[3:6]

    return posed


def in_angles(residuals):
    """The derivatives of residuals, an array of placed arguments, in each angle: a row for each."""

    def derivative(a):
        columns = jax.jacfwd(lambda theta: residuals({**a, "theta": theta}).reshape(-1))(a["theta"])
        return columns.T

    return derivative


def formulations(arguments):
    posed = vertices(arguments)

    def residuals(a):
        return a["points"] - posed(a)[a["corresponding"]]

    derivative = in_angles(residuals)
    return {"jacfwd": (lambda a: residuals(a).sum(), lambda a: (None, [derivative(a)]))}
