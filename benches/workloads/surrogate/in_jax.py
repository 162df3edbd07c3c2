"""A Gaussian process by the library's factorisation; distances by differences, or by one product."""

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular

from in_jax import gradient


def formulations(arguments):
    def by_differences(z):
        return ((z[:, None] - z[None]) ** 2).sum(-1)

    def by_product(z):
        squares = (z * z).sum(1)
        return squares[:, None] + squares - 2.0 * z @ z.T

    def surrogate(a, distances):
        covariance = a["size"] * jnp.exp(-0.5 * distances(a["x"] / a["length"])) + a["noise"] * jnp.eye(a["y"].size)
        factor = jnp.linalg.cholesky(covariance)
        white = solve_triangular(factor, a["y"], lower=True)
        return 0.5 * white @ white + jnp.log(jnp.diag(factor)).sum()

    def formulation(distances):
        function = lambda a: surrogate(a, distances)
        return function, gradient(function, ["length", "size", "noise"])

    return {"differences": formulation(by_differences), "product": formulation(by_product)}
