"""Radiation by antidiagonals: a scan over them, all directions and all cells of one in each step."""

import jax
import jax.numpy as jnp
import numpy as np

from in_jax import gradient


def formulations(arguments):
    n, m = arguments["absorbs"].shape
    # Diagonal k holds the cells (i, k - i), at position i; cells that are not there are repeated and masked.
    i = np.arange(n)
    j = np.arange(n + m - 1)[:, None] - i
    is_there = (j >= 0) & (j < m)
    j = np.clip(j, 0, m - 1)

    def sweep(a):
        down, right = a["down"][:, None], a["right"][:, None]

        def step(u, cells):
            absorbs, emits, mask = cells
            # Above cell i lies the one at position i - 1 of the diagonal before, left of it that at position i.
            above = jnp.pad(u, ((0, 0), (1, 0)))[:, :-1]
            u = jnp.where(mask, (down * above + right * u + emits) / (down + right + absorbs), 0.0)
            return u, u.sum(0)

        start = jnp.zeros((a["down"].size, n))
        cells = a["absorbs"][i, j], a["emits"][i, j], is_there
        flux = jax.lax.scan(step, start, cells)[1]
        return (flux**2).sum()

    return {"scan over antidiagonals": (sweep, gradient(sweep, ["absorbs", "emits"]))}
