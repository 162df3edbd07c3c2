"""Log likelihood of points under a mixture of Gaussians; the formula stands in `in_jax/gmm.py`."""

import math

import numpy as np
import torch

from . import eager_and_compiled


def formulations(arguments):
    n, d = arguments["x"].shape
    k = arguments["alphas"].size
    m = int(arguments["m"])
    column, row = np.triu_indices(d, 1)
    places = torch.tensor(row * d + column)

    def gmm(a):
        q, low = a["icf"][:, :d], a["icf"][:, d:]
        diagonal = torch.exp(q)
        below = torch.zeros(k, d * d).index_copy(1, places, low).reshape(k, d, d)
        factors = below + torch.diag_embed(diagonal)
        offsets = torch.einsum("kij,kj->ki", factors, a["means"])
        y = (a["x"] @ factors.reshape(k * d, d).T).reshape(n, k, d) - offsets
        each = torch.logsumexp(a["alphas"] + q.sum(1) - 0.5 * (y * y).sum(-1), 1)
        likelihood = each.sum() - n * torch.logsumexp(a["alphas"], 0) - 0.5 * n * d * math.log(2.0 * math.pi)
        nu = d + m + 1
        log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + torch.lgamma(0.5 * (nu - torch.arange(d))).sum()
        constant = nu * d * (torch.log(a["gamma"]) - 0.5 * math.log(2.0)) - log_gamma
        squares = (diagonal * diagonal).sum() + (low * low).sum()
        return likelihood + 0.5 * a["gamma"] ** 2 * squares - m * q.sum() - k * constant

    return eager_and_compiled(gmm, ["alphas", "means", "icf"])
