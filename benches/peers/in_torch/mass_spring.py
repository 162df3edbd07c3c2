"""The energy of masses between cubic springs; the formula stands in `in_jax/mass_spring.py`."""

import torch

from . import reverse


def formulations(arguments):
    steps = int(arguments["steps"])
    dt, c, beta = (float(arguments[name]) for name in ("dt", "c", "beta"))

    def energy(a):
        x, v = a["x0"], torch.zeros_like(a["x0"])
        for _ in range(steps):
            e = x[1:] - x[:-1] - 1.0
            force = torch.nn.functional.pad(a["k"] * torch.addcmul(e, e * e, e, value=beta), (1, 1))
            v = torch.add((1.0 - dt * c) * v, force[1:] - force[:-1], alpha=dt)
            x = torch.add(x, v, alpha=dt)
        e = x[1:] - x[:-1] - 1.0
        return 0.5 * (v @ v) + (a["k"] * (0.5 * e * e + 0.25 * beta * e * e * e * e)).sum()

    return {"autograd": reverse(energy, ["x0", "k"])}
