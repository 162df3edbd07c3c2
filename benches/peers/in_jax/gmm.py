"""Log likelihood of points under a mixture of Gaussians, with a Wishart prior on the precision matrices.

    sum_n lse_k(alpha_k + sum_i q_ki - |L_k (x_n - mu_k)|^2 / 2) - N lse(alpha) - N D log(2 pi) / 2
      + sum_k (gamma^2 / 2 (sum_i exp(2 q_ki) + sum l_k^2) - m sum_i q_ki) - K C

L_k is lower triangular with the diagonal exp(q_k) and l_k below it, column by column; icf_k holds q_k, then l_k.
"""

import numpy as np

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln, logsumexp

from . import gradient

BLOCK = 125


def formulations(arguments):
    n, d = arguments["x"].shape
    k = arguments["alphas"].size
    m = int(arguments["m"])
    # The strict lower triangle, column by column.
    column, row = np.triu_indices(d, 1)

    def gmm(a, block):
        q, low = a["icf"][:, :d], a["icf"][:, d:]
        diagonal = jnp.exp(q)
        factors = jnp.zeros((k, d, d)).at[:, row, column].set(low) + jax.vmap(jnp.diag)(diagonal)
        # L (x - mu) = L x - L mu: one matrix product for all components.
        flat = factors.reshape(k * d, d).T
        offsets = jnp.einsum("kij,kj->ki", factors, a["means"])
        weights = a["alphas"] + q.sum(1)

        def points(x):
            y = (x @ flat).reshape(-1, k, d) - offsets
            return logsumexp(weights - 0.5 * (y * y).sum(-1), axis=1).sum()

        if block:
            one = jax.checkpoint(points)
            likelihood = jax.lax.scan(lambda s, x: (s + one(x), None), 0.0, a["x"].reshape(-1, block, d))[0]
        else:
            likelihood = points(a["x"])
        likelihood -= n * logsumexp(a["alphas"]) + 0.5 * n * d * np.log(2.0 * np.pi)
        nu = d + m + 1
        log_gamma = 0.25 * d * (d - 1) * np.log(np.pi) + gammaln(0.5 * (nu - jnp.arange(d))).sum()
        constant = nu * d * (jnp.log(a["gamma"]) - 0.5 * np.log(2.0)) - log_gamma
        squares = (diagonal * diagonal).sum() + (low * low).sum()
        return likelihood + 0.5 * a["gamma"] ** 2 * squares - m * q.sum() - k * constant

    names = ["alphas", "means", "icf"]
    found = {"all points at once": (lambda a: gmm(a, 0), gradient(lambda a: gmm(a, 0), names))}
    if n % BLOCK == 0:
        # Blocks fit the cache; each is computed again in the backward sweep.
        blocked = lambda a: gmm(a, BLOCK)
        found["blocks of %d points" % BLOCK] = (blocked, gradient(blocked, names))
    return found
