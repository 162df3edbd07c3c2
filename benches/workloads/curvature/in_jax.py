"""Half the log determinant of the Hessian of a logistic regression, by forward over reverse mode."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def curvature(a):
    def loss(w):
        return jnp.logaddexp(0.0, a["x"] @ w).sum() + 0.5 * a["ridge"] * (w @ w)

    return 0.5 * jnp.linalg.slogdet(jax.hessian(loss)(a["w"]))[1]


def formulations(arguments):
    return {"hessian": (curvature, gradient(curvature, ["w"]))}
