"""x + 2 y of the Lotka-Volterra equations after steps of the classical Runge-Kutta method.

    x' = alpha x - beta x y,  y' = delta x y - gamma y

p holds alpha, beta, gamma, delta and the start.
"""

import jax

from . import gradient


def formulations(arguments):
    steps = int(arguments["steps"])

    def slope(p, x, y):
        return p[0] * x - p[1] * x * y, p[3] * x * y - p[2] * y

    def advance(p, h, x, y):
        a1, b1 = slope(p, x, y)
        a2, b2 = slope(p, x + 0.5 * h * a1, y + 0.5 * h * b1)
        a3, b3 = slope(p, x + 0.5 * h * a2, y + 0.5 * h * b2)
        a4, b4 = slope(p, x + h * a3, y + h * b3)
        return x + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4), y + h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)

    def ode(a, wrap):
        p, h = a["p"], a["h"]
        step = wrap(lambda state, _: (advance(p, h, *state), None))
        (x, y), _ = jax.lax.scan(step, (p[4], p[5]), None, length=steps)
        return x + 2.0 * y

    plain = lambda a: ode(a, lambda step: step)
    # Without records of a step, which are many small arrays.
    again = lambda a: ode(a, jax.checkpoint)

    def forward(a):
        return plain(a), [jax.jacfwd(lambda p: plain({**a, "p": p}))(a["p"])]

    return {"scan, steps again in reverse": (plain, gradient(again, ["p"])), "scan, forward mode": (plain, forward)}
