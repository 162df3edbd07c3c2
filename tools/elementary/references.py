"""Writes correctly rounded values of the elementary functions to crates/cotan-ops/tests/elementary/references.txt.

Under a line `name type` stand lines of hexadecimal bits: the operands, the value rounded to nearest, and by how many
hundredths of a unit in its last place the exact value lies above it. Operands are taken beside every point at which a
formula may change its mind, and at random from every part of the domain. Needs gmpy2:

    pip install gmpy2
    python3 tools/elementary/references.py
"""

import math
import pathlib
import random
import struct

import gmpy2
from gmpy2 import mpfr

TARGET = pathlib.Path(__file__).parents[2] / "crates/cotan-ops/tests/elementary/references.txt"
PRECISION = 400
POINTS = {"f64": 90, "f32": 30}
# Significant bits, exponent of the least number, least power of two that is too large.
FORMATS = {"f64": (53, -1074, 1024), "f32": (24, -149, 128)}

gmpy2.get_context().precision = PRECISION
gmpy2.get_context().emax = gmpy2.get_emax_max()
gmpy2.get_context().emin = gmpy2.get_emin_min()
random.seed(20)


def bits(x, ty):
    return struct.unpack("<Q", struct.pack("<d", x))[0] if ty == "f64" else struct.unpack("<I", struct.pack("<f", x))[0]


def number(b, ty):
    return struct.unpack("<d", struct.pack("<Q", b))[0] if ty == "f64" else struct.unpack("<f", struct.pack("<I", b))[0]


def rounded(x, ty):
    """The nearest number of the type; None beyond the greatest."""
    if ty == "f64":
        return x
    try:
        return number(bits(x, ty), ty)
    except OverflowError:
        return None


def beside(x, ty):
    """A number and its neighbours."""
    x = rounded(x, ty)
    if x is None or not math.isfinite(x):
        return []
    b = bits(abs(x), ty)
    top = bits(math.inf, ty)
    near = [number(b + d, ty) for d in (-2, -1, 0, 1, 2) if 0 <= b + d < top]
    return [math.copysign(y, x) for y in near]


def spread(lo, hi):
    """A random magnitude, all powers of two alike."""
    return 2.0 ** random.uniform(math.log2(lo), math.log2(hi))


def signed(x):
    return math.copysign(x, random.choice((-1, 1)))


def anything():
    x = number(random.getrandbits(64), "f64")
    return x if math.isfinite(x) else anything()


def around_zero(lo=1e-320, hi=1.0):
    return lambda: signed(spread(lo, hi))


def between(lo, hi):
    return lambda: random.uniform(lo, hi)


def positive():
    return abs(anything())


def near_one():
    return 1 + signed(spread(1e-16, 0.3))


def below_one():
    return signed(1 - spread(1e-16, 0.5))


def half_turns():
    return round(random.uniform(1, 1e6)) * math.pi / 2


LN2 = math.log(2)
TINY = 2.0**-1022
GREATEST = number(bits(math.inf, "f64") - 1, "f64")
EXP_EDGES = [709.782712893384, -745.1332191019411, -708.3964185322641, 88.72283935546875, -103.97207641601562, LN2 / 2, -LN2 / 2, 3 * LN2 / 2, 1.0, 5e-17, -5e-17]
LOG_EDGES = [1.0, 2.0, 0.5, 10.0, 1000.0, math.sqrt(0.5), math.sqrt(2), TINY, 5e-324, GREATEST]
TURN_EDGES = [k * math.pi / 4 for k in range(1, 9)] + [2.0**33, -(2.0**33), 1e22, GREATEST, 5e-324, 6381956970095103 * 2.0**797]

# Name: exact value, points beside which to look, ways to draw an operand.
UNARY = {
    "exp": (gmpy2.exp, EXP_EDGES, [between(-745, 709.7), between(-1, 1), around_zero()]),
    "exp2": (gmpy2.exp2, [1024.0, -1074.0, -1022.0, 128.0, -149.0, 0.5, -0.5, 1.0, 3.0], [between(-1074, 1023.9), between(-1, 1), around_zero()]),
    "expm1": (gmpy2.expm1, EXP_EDGES + [-37.0, -50.0, 37.0], [between(-60, 709.7), between(-2, 2), between(-0.4, 0.4), around_zero()]),
    "log": (gmpy2.log, LOG_EDGES, [positive, between(0.5, 2), near_one]),
    "log2": (gmpy2.log2, LOG_EDGES, [positive, between(0.5, 2), near_one]),
    "log10": (gmpy2.log10, LOG_EDGES, [positive, between(0.5, 2), near_one]),
    "log1p": (gmpy2.log1p, [-0.5, 1.0, math.sqrt(0.5) - 1, math.sqrt(2) - 1, -0.9999, GREATEST], [positive, between(-0.999, 2), between(-0.5, 0.5), around_zero()]),
    "sin": (gmpy2.sin, TURN_EDGES, [between(-10, 10), between(-1e5, 1e5), half_turns, anything, around_zero(1e-9, 1e12)]),
    "cos": (gmpy2.cos, TURN_EDGES, [between(-10, 10), between(-1e5, 1e5), half_turns, anything, around_zero(1e-9, 1e12)]),
    "tan": (gmpy2.tan, TURN_EDGES, [between(-10, 10), between(-1e5, 1e5), half_turns, anything, around_zero(1e-9, 1e12)]),
    "sinh": (gmpy2.sinh, [710.4758600739439, 40.0, 3e-9, 22.0, LN2 / 2, 89.41598629223294], [between(-710, 710), between(-1, 1), between(-4, 4), around_zero()]),
    "cosh": (gmpy2.cosh, [710.4758600739439, 40.0, LN2 / 2, 89.41598629223294], [between(-710, 710), between(-1, 1), between(-4, 4), around_zero()]),
    "tanh": (gmpy2.tanh, [20.0, 19.0615, LN2 / 4, 9.01], [between(-20, 20), between(-1, 1), between(-4, 4), around_zero()]),
    "asin": (gmpy2.asin, [0.5, 1.0, 1e-8], [between(-1, 1), between(-0.6, 0.6), below_one, around_zero()]),
    "acos": (gmpy2.acos, [0.5, -0.5, 1.0, -1.0, 1e-8], [between(-1, 1), between(-0.6, 0.6), below_one, around_zero()]),
    "atan": (gmpy2.atan, [math.sqrt(2) - 1, math.sqrt(2) + 1, 1.0, 1e300, GREATEST], [between(-1, 1), between(-5, 5), anything, around_zero()]),
    "asinh": (gmpy2.asinh, [1e9, 1.3e-16, 0.5, GREATEST], [between(-1, 1), between(-5, 5), anything, around_zero(1e-20, 1e12)]),
    "acosh": (gmpy2.acosh, [1.0, 1.5, 2.0, 1e9, GREATEST], [between(1, 3), between(1, 20), lambda: 1 + spread(1e-16, 1), lambda: spread(1, 1e308)]),
    "atanh": (gmpy2.atanh, [0.5, 1.3e-16, 1 - 2.0**-53], [between(-1, 1), between(-0.6, 0.6), below_one, around_zero()]),
    "cbrt": (gmpy2.cbrt, [1.0, 8.0, 27.0, 0.001, TINY, GREATEST], [anything, between(-8, 8)]),
    "sqrt": (gmpy2.sqrt, [1.0, 2.0, TINY, GREATEST], [positive, between(0, 4)]),
    "rsqrt": (gmpy2.rec_sqrt, [1.0, 2.0, TINY, GREATEST], [positive, between(0, 4)]),
    "erf": (gmpy2.erf, [0.5, 1.0, 3.0, 5.9], [between(-1, 1), between(-6, 6), around_zero()]),
    "erfc": (gmpy2.erfc, [0.5, -0.5, 1.0, 26.5, 27.2, -5.8, 9.1, 10.0], [between(-1, 1), between(-6, 6), between(0.4, 27), around_zero()]),
    "lgamma": (lambda x: gmpy2.lgamma(x)[0], [0.5, 1.0, 1.5, 2.0, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.0, -0.5, -2.457024738220801, -10.000000266, 2.55e305], [between(0, 3), between(0, 10), lambda: spread(1e-300, 1e300), between(-20, 0), between(-170, 0)]),
    "sigmoid": (lambda x: 1 / (1 + gmpy2.exp(-x)), [-745.0, -708.4, 37.0, -37.0, LN2 / 2, -LN2 / 2], [between(-740, 40), between(-1, 1), between(-4, 4), around_zero()]),
}



def both(f, g):
    return lambda: (f(), g())


BINARY = {
    "atan2": (gmpy2.atan2, [(1.0, 1.0), (math.sqrt(2) - 1, 1.0), (1e-300, -1.0), (GREATEST, GREATEST), (5e-324, 1e-310), (2.0**-300, 2.0**300)], [both(around_zero(1e-3, 1e3), around_zero(1e-3, 1e3)), both(between(-1, 1), between(-1, 1)), both(anything, anything)]),
    "hypot": (gmpy2.hypot, [(3.0, 4.0), (GREATEST, 1.0), (5e-324, 5e-324), (2.0**-300, 2.0**-300), (2.0**300, 2.0**299)], [both(around_zero(1e-3, 1e3), around_zero(1e-3, 1e3)), both(between(-1, 1), between(-1, 1)), both(anything, anything)]),
    "pow": (lambda x, y: x**y, [(2.0, 1023.9), (2.0, -1074.0), (1.0000000001, 1e12), (0.9999999999, 1e12), (10.0, 308.0), (-2.0, 3.0), (math.e, 709.7)], [both(lambda: spread(1e-3, 1e3), between(-90, 90)), both(positive, between(-1, 1)), both(between(0.5, 2), between(-1000, 1000)), both(near_one, around_zero(1, 1e6))]),
}


def line(f, operands, ty):
    precision, least, top = FORMATS[ty]
    exact = f(*[mpfr(x) for x in operands])
    if not gmpy2.is_finite(exact) or abs(exact) >= mpfr(2) ** top - mpfr(2) ** (top - precision - 1):
        return None
    unit = mpfr(2) ** (least if exact == 0 else max(gmpy2.get_exp(exact) - precision, least))
    steps = gmpy2.rint(exact / unit)
    value = float(steps * unit)
    above = int(gmpy2.rint((exact / unit - steps) * 100))
    words = [f"{bits(x, ty):x}" for x in operands] + [f"{bits(value, ty):x}", str(above)]
    return " ".join(words)


def table(name, f, tuples, ty):
    rows = []
    for operands in tuples:
        operands = [rounded(x, ty) for x in operands]
        if None not in operands:
            rows.append(line(f, operands, ty))
    rows = sorted({row for row in rows if row is not None})
    return "\n".join([f"{name} {ty}"] + rows)


def main():
    parts = []
    for ty in FORMATS:
        for name, (f, edges, draws) in UNARY.items():
            points = [y for edge in edges for y in beside(edge, ty)]
            points += [draws[k % len(draws)]() for k in range(POINTS[ty])]
            parts.append(table(name, f, [(x,) for x in points], ty))
        for name, (f, edges, draws) in BINARY.items():
            pairs = [(x, y) for a, b in edges for x in beside(a, ty) for y in beside(b, ty)]
            pairs += [draws[k % len(draws)]() for k in range(POINTS[ty])]
            parts.append(table(name, f, pairs, ty))
    TARGET.write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
