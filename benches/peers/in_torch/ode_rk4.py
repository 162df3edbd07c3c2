"""The Lotka-Volterra equations by the classical Runge-Kutta method; the formula stands in `in_jax/ode_rk4.py`."""

import torch

from . import reverse


def formulations(arguments):
    steps, h = int(arguments["steps"]), float(arguments["h"])

    def ode(a):
        alpha, beta, gamma, delta = a["p"][:4]
        # Both equations are one operation on the vector (x, y).
        own, mixed = torch.stack([alpha, -gamma]), torch.stack([-beta, delta])
        slope = lambda at: torch.addcmul(own * at, mixed, at[0] * at[1])
        at = a["p"][4:6]
        for _ in range(steps):
            k1 = slope(at)
            k2 = slope(torch.add(at, k1, alpha=0.5 * h))
            k3 = slope(torch.add(at, k2, alpha=0.5 * h))
            k4 = slope(torch.add(at, k3, alpha=h))
            at = torch.add(at, torch.add(k1 + k4, k2 + k3, alpha=2.0), alpha=h / 6.0)
        return at[0] + 2.0 * at[1]

    return {"autograd": reverse(ode, ["p"])}
