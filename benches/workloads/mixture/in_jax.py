"""A mixture of Gaussians, all points at once; distances by differences, or by one product."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    d = arguments["x"].shape[1]

    def by_differences(x, mean):
        return ((x[:, None] - mean[None]) ** 2).sum(-1)

    def by_product(x, mean):
        return (x * x).sum(1)[:, None] + (mean * mean).sum(1) - 2.0 * x @ mean.T

    def mixture(a, distances):
        squares = distances(a["x"], a["mean"])
        terms = a["weight"] - 0.5 * squares * jnp.exp(-2.0 * a["size"]) - d * a["size"]
        return a["x"].shape[0] * jax.nn.logsumexp(a["weight"]) - jax.nn.logsumexp(terms, axis=1).sum()

    def formulation(distances):
        function = lambda a: mixture(a, distances)
        return function, gradient(function, ["weight", "mean", "size"])

    return {"differences": formulation(by_differences), "product": formulation(by_product)}
