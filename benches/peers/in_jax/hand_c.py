"""Hand tracking on the surface: each measured point belongs to the point (u_1, u_2, 1 - u_1 - u_2) of a triangle.

The derivative has a row for each of the two coordinates of every residual's own point, then one for each angle.
"""

import jax
import jax.numpy as jnp

from .hand import in_angles, vertices


def formulations(arguments):
    posed = vertices(arguments)

    def on_surface(a, u):
        corners = posed(a)[a["triangles"][a["corresponding"]]]
        shares = jnp.stack([u[:, 0], u[:, 1], 1.0 - u[:, 0] - u[:, 1]], axis=1)
        return a["points"] - jnp.einsum("nc,nci->ni", shares, corners)

    of_angles = in_angles(lambda a: on_surface(a, a["u"]))

    def derivative(a):
        # Residuals depend on their own coordinates alone: one direction for all first ones, one for all second ones.
        directions = jnp.broadcast_to(jnp.eye(2)[:, None, :], (2, *a["u"].shape))
        own = jax.vmap(lambda d: jax.jvp(lambda u: on_surface(a, u), (a["u"],), (d,))[1])(directions)
        return None, [own, of_angles(a)]

    return {"jacfwd": (lambda a: on_surface(a, a["u"]).sum(), derivative)}
