"""Hand tracking on the surface; the formula stands in `in_jax/hand_c.py`."""

import torch

from . import quiet
from .hand import in_angles, vertices


def formulations(arguments):
    posed = vertices(arguments)

    def on_surface(a, u):
        corners = posed(a)[a["triangles"][a["corresponding"]]]
        shares = torch.stack([u[:, 0], u[:, 1], 1.0 - u[:, 0] - u[:, 1]], 1)
        return a["points"] - torch.einsum("nc,nci->ni", shares, corners)

    of_angles = in_angles(lambda a: on_surface(a, a["u"]))

    def derivative(a):
        # Residuals depend on their own coordinates alone: one direction for all first ones, one for all second ones.
        directions = torch.eye(2)[:, None, :].expand(2, *a["u"].shape)
        along = lambda d: torch.func.jvp(lambda u: on_surface(a, u), (a["u"],), (d,))[1]
        return None, [torch.func.vmap(along)(directions), of_angles(a)]

    return {"func.jacfwd": (quiet(lambda a: on_surface(a, a["u"]).sum()), derivative)}
