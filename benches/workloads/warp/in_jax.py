"""Registration of images: splines as products with two matrices of weights, points of the image by gathers."""

import jax.numpy as jnp
import numpy as np

from in_jax import gradient


def splines(points, controls):
    """The matrix that takes control points to all points of an axis."""
    a = np.arange(points) * (controls - 3) / points
    start = np.floor(a).astype(int)
    t = a - start
    weights = [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, 1 + 3 * t + 3 * t**2 - 3 * t**3, t**3]
    matrix = np.zeros((points, controls))
    for k, weight in enumerate(weights):
        matrix[np.arange(points), start + k] = weight / 6.0
    return matrix


def formulations(arguments):
    (n, m), (g, h, _) = arguments["image"].shape, arguments["move"].shape
    down, right = splines(n, g), splines(m, h)

    def warp(a):
        image = a["image"]
        moved = jnp.einsum("ng,ghc,mh->cnm", down, a["move"], right)
        v = jnp.clip(np.arange(n)[:, None] + moved[0], 0.0, n - 1.000001)
        u = jnp.clip(np.arange(m) + moved[1], 0.0, m - 1.000001)
        i, j = jnp.floor(v).astype(int), jnp.floor(u).astype(int)
        s, t = v - jnp.floor(v), u - jnp.floor(u)
        low = (1.0 - t) * image[i, j] + t * image[i, j + 1]
        high = (1.0 - t) * image[i + 1, j] + t * image[i + 1, j + 1]
        return (((1.0 - s) * low + s * high - a["target"]) ** 2).mean()

    return {"products and gathers": (warp, gradient(warp, ["move"]))}
