"""Cube roots by Newton's method, as in `in_jax/newton.py`: a masked loop over all numbers, as long as any goes on."""

import torch

from . import reverse


def newton(a):
    x = torch.ones_like(a["a"])
    is_on = torch.ones_like(x, dtype=torch.bool)
    for _ in range(50):
        step = (x * x * x - a["a"]) / (3.0 * x * x)
        x = torch.where(is_on, x - step, x)
        is_on = is_on & (step.abs() >= 1e-12)
        if not is_on.any():
            break
    return x.sum()


def formulations(arguments):
    return {"autograd": reverse(newton, ["a"])}
