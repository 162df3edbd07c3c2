"""Bundle adjustment: where cameras see points, less where they were seen, times weights.

A camera is a rotation (angle-axis), a centre, a focal length, a principal point and two coefficients of distortion. The
Jacobian has a block of 2 x 15 for each observation, and -2 w for each weight.
"""

import jax
import jax.numpy as jnp


def error(z, feature):
    """The two errors of one observation; z holds its camera (11), its point (3) and its weight."""
    r, x = z[0:3], z[11:14] - z[3:6]
    squared = r @ r
    # The square root is never taken of zero, so neither branch makes a NaN.
    angle = jnp.sqrt(jnp.where(squared == 0.0, 1.0, squared))
    axis = r / angle
    turned = x * jnp.cos(angle) + jnp.cross(axis, x) * jnp.sin(angle) + axis * ((axis @ x) * (1.0 - jnp.cos(angle)))
    p = jnp.where(squared == 0.0, x + jnp.cross(r, x), turned)
    e = p[:2] / p[2]
    rho = e @ e
    return z[14] * (z[6] * (1.0 + z[9] * rho + z[10] * rho * rho) * e + z[7:9] - feature)


def formulations(arguments):
    def joined(a):
        camera, point = a["observations"].T
        return jnp.concatenate([a["cameras"][camera], a["points"][point], a["weights"][:, None]], axis=1)

    def function(a):
        return jax.vmap(error)(joined(a), a["features"]).sum()

    def jacobian(mode):
        return lambda a: (None, [jax.vmap(mode(error))(joined(a), a["features"]), -2.0 * a["weights"]])

    return {"jacfwd": (function, jacobian(jax.jacfwd)), "jacrev": (function, jacobian(jax.jacrev))}
