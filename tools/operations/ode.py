"""Cases of `std.ode`: the tableau of the method in NumPy, held against SciPy's adaptive solver."""

import numpy as np
import scipy
import scipy.integrate

from cases import Cases

c = Cases("ode", 115)
c.uses(scipy)

A = [[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]]
B = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
C = [0.0, 0.5, 0.5, 1.0]


def step(f, t, y, h):
    """One step by the Butcher tableau."""
    k = []
    for row, at in zip(A, C):
        k.append(f(t + at * h, y + h * sum((a * k for a, k in zip(row, k)), np.zeros_like(y))))
    return y + h * sum(b * k for b, k in zip(B, k))


def solve(f, y, t0, t1, steps):
    """So many steps."""
    h = (t1 - t0) / steps
    for i in range(steps):
        y = step(f, t0 + h * i, y, h)
    return y


def oscillator(damping):
    """A damped oscillator that is driven."""
    return lambda t, y: np.array([y[1], np.sin(t) - y[0] - damping * y[1]])


y = np.array([1.0, -0.5])
for t, h, damping in ((0.0, 0.1, 0.3), (1.5, 0.5, 0.0), (2.0, -0.25, 0.1), (1.0, 0.0, 0.1)):
    c.add("rk4_step", dict(t=t, y=y, h=h, damping=damping), step(oscillator(damping), t, y, h), "the Butcher tableau")
for t1, steps in ((1.0, 1), (2.0, 7), (-1.0, 5)):
    found = solve(oscillator(0.3), y, 0.0, t1, steps)
    c.add("rk4", dict(y=y, t0=0.0, t1=t1, steps=steps, damping=0.3), found, "the Butcher tableau")
exact = scipy.integrate.solve_ivp(oscillator(0.3), (0.0, 2.0), y, rtol=1e-12, atol=1e-12).y[:, -1]
assert np.abs(solve(oscillator(0.3), y, 0.0, 2.0, 200) - exact).max() < 1e-8
c.write()
