"""Squares of Jacobians, by vmap over the inputs, in either mode."""

import jax
import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    def contractive(a, mode):
        encode = lambda x: jnp.tanh(a["w"] @ x + a["b"])
        return (jax.vmap(mode(encode))(a["x"]) ** 2).sum((1, 2)).mean()

    def formulation(mode):
        function = lambda a: contractive(a, mode)
        return function, gradient(function, ["w", "b"])

    return {"jacfwd": formulation(jax.jacfwd), "jacrev": formulation(jax.jacrev)}
