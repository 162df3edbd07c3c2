"""Hand tracking; the formula stands in `in_jax/hand.py`."""

import numpy as np
import torch

from bones import angles_of_bones, generations

from . import quiet


def rotation(r):
    """Rodrigues' formula, for an angle that is not zero."""
    angle = torch.sqrt(r @ r)
    axis = r / angle
    x, y, z = axis
    o = torch.zeros_like(x)
    across = torch.stack([o, -z, y, z, o, -x, -y, x, o]).reshape(3, 3)
    outer = torch.outer(axis, axis)
    return outer + torch.cos(angle) * (torch.eye(3) - outer) + torch.sin(angle) * across


def vertices(arguments):
    """All vertices as a function of the placed arguments."""
    parent = arguments["model.parent"]
    levels = generations(parent)
    bend, spread = (torch.tensor(angles) for angles in angles_of_bones())
    # Where each bone, and the parent of each bone of a generation, stands in the list of generations.
    back = torch.tensor(np.argsort(np.concatenate(levels)))
    rank = {bone: at for level in levels for at, bone in enumerate(level)}
    above = [torch.tensor([rank[parent[bone]] for bone in level]) for level in levels[1:]]
    levels = [torch.tensor(level) for level in levels]

    def posed(a):
        theta = a["theta"]
        turns = torch.cat([theta, torch.zeros(1)])
        sx, cx = torch.sin(turns[bend]), torch.cos(turns[bend])
        sz, cz = torch.sin(turns[spread]), torch.cos(turns[spread])
        o, i = torch.zeros_like(sx), torch.ones_like(sx)
        joints = torch.stack([cz, -sz * cx, sz * sx, o, sz, cz * cx, -cz * sx, o, o, sx, cx, o, o, o, o, i], 1)
        local = a["model.relative"] @ joints.reshape(-1, 4, 4)
        absolute = [local[levels[0]]]
        for bones, parents in zip(levels[1:], above):
            absolute.append(absolute[-1][parents] @ local[bones])
        transforms = (torch.cat(absolute)[back] @ a["model.inverse"])[:, :3].reshape(-1, 12)
        skinned = (a["model.weight"] @ transforms).reshape(-1, 3, 4)
        at = (skinned * a["model.position"][:, None, :]).sum(-1)
        return at @ rotation(theta[:3]).T + theta[3:6]

    return posed


def in_angles(residuals):
    """The derivatives of residuals in each angle: a row for each."""
    return lambda a: torch.func.jacfwd(lambda theta: residuals({**a, "theta": theta}).reshape(-1))(a["theta"]).T


def formulations(arguments):
    posed = vertices(arguments)

    def residuals(a):
        return a["points"] - posed(a)[a["corresponding"]]

    derivative = in_angles(residuals)
    return {"func.jacfwd": (quiet(lambda a: residuals(a).sum()), lambda a: (None, [derivative(a)]))}
