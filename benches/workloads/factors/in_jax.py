"""Factors of users and items: rows are gathered for all ratings at once."""

import jax.numpy as jnp

from in_jax import gradient


def formulations(arguments):
    def factors(a):
        u, v = a["user"][a["who"]], a["item"][a["what"]]
        errors = (u * v).sum(1) - a["rating"]
        return (errors**2).sum() + a["decay"] * ((a["user"] ** 2).sum() + (a["item"] ** 2).sum())

    return {"rows": (factors, gradient(factors, ["user", "item"]))}
