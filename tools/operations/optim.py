"""Cases of `std.optim`: the update rules of the papers, written out in NumPy."""

import numpy as np

from cases import Cases

c = Cases("optim", 114)


def momentum(p, velocity, g, rate, decay, nesterov):
    """Sutskever et al. 2013, as in PyTorch."""
    velocity = decay * velocity + g
    return p - rate * (g + decay * velocity if nesterov else velocity), velocity


def adam(p, m, v, g, step, rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """Kingma and Ba 2015, algorithm 1."""
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    return p - rate * (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + eps), m, v


p, g, velocity = c.normal(4), c.normal(4), c.normal(4)
m, v = 0.1 * c.normal(4), np.abs(c.normal(4))
for rate in (0.0, 0.1, 2.0):
    c.add("sgd", dict(p=p, g=g, rate=rate), p - rate * g, "by hand")
c.add("sgd", dict(p=np.zeros(0), g=np.zeros(0), rate=0.5), np.zeros(0), "by hand")
for nesterov in (False, True):
    args = dict(p=p, velocity=velocity, g=g, rate=0.1, decay=0.9, nesterov=nesterov)
    c.add("momentum", args, momentum(**args), "Sutskever et al. 2013")
for step in (1, 2, 1000, 10**6):
    args = dict(p=p, m=m, v=v, g=g, step=step, rate=0.01)
    c.add("adam", args, adam(**args), "Kingma and Ba 2015, algorithm 1")
args = dict(p=0.5, m=0.25, v=0.75, g=-1.5, step=3, rate=1e-3)
c.add("adam__number", args, adam(**args, beta1=0.8, beta2=0.99, eps=1e-6), "Kingma and Ba 2015, algorithm 1")
for decay in (0.0, 0.1):
    args = dict(p=p, m=m, v=v, g=g, step=2, rate=0.05)
    c.add("adamw", args | dict(decay=decay), adam(**args | dict(p=p * (1 - 0.05 * decay))),
          "Loshchilov and Hutter 2019, algorithm 2")
c.write()
