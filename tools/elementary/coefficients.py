"""Writes the polynomials of the elementary functions to crates/cotan-ops/src/elementary/coefficients.rs.

Each is a minimax polynomial by the exchange algorithm of Remez (E. Ya. Remez, 1934), in high precision, of the least
degree whose weighted error is below the bound. Needs mpmath (and gmpy2, for speed):

    pip install mpmath gmpy2
    python3 tools/elementary/coefficients.py
"""

import pathlib
import struct

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 70
TARGET = pathlib.Path(__file__).parents[2] / "crates/cotan-ops/src/elementary/coefficients.rs"
GRID = 1200


def chebyshev_points(lo, hi, n):
    return [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]


def evaluate(coefficients, x):
    return mp.polyval(coefficients[::-1], x)


def remez(f, weight, lo, hi, degree):
    """The polynomial of that degree whose error times the weight is least, and that error."""
    n = degree + 2
    grid = chebyshev_points(lo, hi, GRID)
    values = [(x, f(x), weight(x)) for x in grid]
    points = [values[int((k + 0.5) * GRID / n)] for k in range(n)]
    for _ in range(30):
        system = mp.matrix(n, n)
        for row, (x, _, w) in enumerate(points):
            for k in range(degree + 1):
                system[row, k] = x**k
            system[row, degree + 1] = (-1) ** row / w
        solution = mp.lu_solve(system, mp.matrix([y for _, y, _ in points]))
        coefficients = [solution[k] for k in range(degree + 1)]
        level = abs(solution[degree + 1])
        errors = [(y - evaluate(coefficients, x)) * w for x, y, w in values]
        # One extremum for each run of equal signs.
        extrema = []
        for k, error in enumerate(errors):
            if extrema and (errors[extrema[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[extrema[-1]]):
                    extrema[-1] = k
            else:
                extrema.append(k)
        while len(extrema) > n:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        worst = max(abs(e) for e in errors)
        if len(extrema) < n or worst < level * mpf("1.01"):
            break
        points = [values[k] for k in extrema]
    return coefficients, worst


def fit(name, doc, f, weight, lo, hi, bits=57, single_bits=27):
    """The polynomials of least degree whose weighted errors are below 2 to the power -bits and -single_bits, as Rust text."""
    lo, hi = mpf(lo), mpf(hi)
    wanted, series = [single_bits, bits], []
    for degree in range(1, 40):
        coefficients, worst = remez(f, weight, lo, hi, degree)
        while wanted and worst < mpf(2) ** -wanted[0]:
            wanted.pop(0)
            series.append((coefficients, worst))
        if not wanted:
            break
    single, double = series
    said = " and ".join(f"2^{mp.nstr(mp.log(worst, 2), 4)}" for _, worst in [double, single])
    print(f"{name}: degrees {len(double[0]) - 1} and {len(single[0]) - 1}, errors {said}")
    lines = [f"/// {line}" for line in doc.splitlines()]
    lines.append(f"/// Weighted errors {said}.")
    lines.append(f"pub(super) const {name}: Series = Series {{")
    for format, (coefficients, _) in [("double", double), ("single", single)]:
        lines.append(f"    {format}: &[")
        lines += [f"        {number(c)}," for c in coefficients]
        lines.append("    ],")
    lines.append("};")
    return "\n".join(lines)


def number(x):
    """A literal that Rust reads as the nearest double, with as few digits as that needs."""
    text = repr(float(x))
    if "e" in text:
        return text.replace("e+", "e")
    return text


def parts_of(value, parts, bits, rounded):
    """A constant as a sum of floats; all but the last are cut to so many bits."""
    rows = []
    for k in range(parts):
        part = value
        if k + 1 < parts:
            exponent = int(mp.floor(mp.log(abs(value), 2)))
            scale = mpf(2) ** (bits - 1 - exponent)
            part = mp.nint(value * scale) / scale
        part = rounded(part)
        rows.append(number(part))
        value -= part
    return f"[{', '.join(rows)}]"


def to_double(x):
    return mpf(float(x))


def to_single(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def split(name, doc, value, parts, bits, single_bits):
    """A constant as a sum of floats of each format."""
    double, single = parts_of(value, parts, bits, to_double), parts_of(value, parts, single_bits, to_single)
    return f"/// {doc}\npub(super) const {name}: Parts<{parts}> = Parts {{\n    double: {double},\n    single: {single},\n}};"


def digits(name, doc, value, words):
    """The binary digits of a fraction, 64 in a word."""
    with mp.workprec(64 * words + 64):
        whole = int(mp.floor(value() * mpf(2) ** (64 * words)))
    rows = [f"    0x{whole >> 64 * (words - 1 - k) & (1 << 64) - 1:016X}," for k in range(words)]
    return f"/// {doc}\npub(super) const {name}: [u64; {words}] = [\n" + "\n".join(rows) + "\n];"


LN2 = mp.log(2)
HALF_LN2 = LN2 / 2 * mpf("1.0001")
SQRT2 = mp.sqrt(2)
QUARTER_TURN = mp.pi / 4 * mpf("1.0001")
ERFC_CENTRE = mpf("3.7")


def log_remainder(f):
    return (mp.log1p(f) - f + f**2 / 2) / f**3


def quotient_log_remainder(z):
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s - s**3 * 2 / 3) / s**5


def sin_remainder(z):
    r = mp.sqrt(z)
    return (mp.sin(r) - r) / r**3


def cos_remainder(z):
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def sin_pi(z):
    r = mp.sqrt(z)
    return mp.sin(mp.pi * r) / r


def atan_remainder(z):
    t = mp.sqrt(z)
    return (mp.atan(t) - t) / t**3


def asin_remainder(z):
    t = mp.sqrt(z)
    return (mp.asin(t) - t) / t**3


def erf_remainder(z):
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def scaled_erfc(t):
    x = ERFC_CENTRE * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.erfc(x) * mp.exp(x**2)


def erfc_argument(x):
    return (mpf(x) - ERFC_CENTRE) / (mpf(x) + ERFC_CENTRE)


def gamma_beside_two(t):
    return (mp.loggamma(2 + t).real / t - (1 - mp.euler)) / t


def stirling(w):
    x = 1 / mp.sqrt(w)
    return (mp.loggamma(x).real - (x - mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def one(_):
    return mpf(1)


def main():
    near = mpf(10) ** -12
    parts = [
        split("LN_2", "The logarithm of 2; multiples of the first part by exponents are exact.", LN2, 2, 40, 15),
        split("LOG2_E", "1 / ln 2.", 1 / LN2, 2, 53, 24),
        split("LOG10_E", "1 / ln 10.", 1 / mp.log(10), 2, 53, 24),
        split("LOG10_2", "ln 2 / ln 10; multiples of the first part by exponents are exact.", LN2 / mp.log(10), 2, 40, 15),
        split("HALF_PI", "A quarter of a turn.", mp.pi / 2, 3, 53, 24),
        digits("TWO_OVER_PI", "The binary digits of `2/pi`.", lambda: 2 / mp.pi, 20),
        split("LN_PI", "The logarithm of pi.", mp.log(mp.pi), 2, 53, 24),
        split("TWO_THIRDS", "2 / 3.", mpf(2) / 3, 2, 53, 24),
        split("GAMMA_SLOPE", "1 less Euler's constant.", 1 - mp.euler, 2, 53, 24),
        split("STIRLING_CONSTANT", "`(ln(2 pi) - 1) / 2`.", (mp.log(2 * mp.pi) - 1) / 2, 1, 53, 24),
        fit(
            "EXP",
            "`(exp(r) - 1 - r) / r^2` for `|r| <= ln 2 / 2`.",
            lambda r: (mp.expm1(r) - r) / r**2,
            lambda r: r**2 / mp.exp(r),
            -HALF_LN2,
            HALF_LN2,
        ),
        fit(
            "EXP2",
            "`(2^f - 1) / f` for `|f| <= 1/2`.",
            lambda f: mp.expm1(f * LN2) / f,
            lambda f: f / mp.exp(f * LN2) if f > 0 else -f / mp.exp(f * LN2),
            "-0.50001",
            "0.50001",
        ),
        fit(
            "LOG",
            "`(log(1 + f) - f + f^2/2) / f^3` for `1 + f` from `sqrt(1/2)` to `sqrt(2)`.",
            log_remainder,
            lambda f: f**3 / mp.log1p(f),
            1 / SQRT2 - 1,
            SQRT2 - 1,
            bits=56,
        ),
        fit(
            "QUOTIENT_LOG",
            "`(log((1 + s)/(1 - s)) - 2 s - 2/3 s^3) / s^5` in `s^2`, for `s` up to `3 - sqrt(8)`.",
            quotient_log_remainder,
            lambda z: z**2 / 2,
            near,
            (3 - mp.sqrt(8)) ** 2 * mpf("1.0001"),
            bits=69,
            single_bits=38,
        ),
        fit("SIN", "`(sin(r) - r) / r^3` in `r^2`, for `|r| <= pi/4`.", sin_remainder, lambda z: z, near, QUARTER_TURN**2),
        fit(
            "COS",
            "`(cos(r) - 1 + r^2/2) / r^4` in `r^2`, for `|r| <= pi/4`.",
            cos_remainder,
            lambda z: z**2 / mp.cos(mp.sqrt(z)),
            near,
            QUARTER_TURN**2,
        ),
        fit(
            "SIN_PI",
            "`sin(pi r) / r` in `r^2`, for `|r| <= 1/2`.",
            sin_pi,
            lambda z: 1 / sin_pi(z),
            near,
            "0.2501",
        ),
        fit("ATAN", "`(atan(t) - t) / t^3` in `t^2`, for `|t| <= sqrt(2) - 1`.", atan_remainder, lambda z: z, near, (SQRT2 - 1) ** 2 * mpf("1.0001")),
        fit("ASIN", "`(asin(t) - t) / t^3` in `t^2`, for `|t| <= 1/2`.", asin_remainder, lambda z: z, near, "0.2501"),
        fit("ERF", "`erf(x) / x - 1` in `x^2`, for `|x| <= 1/2`.", erf_remainder, one, near, "0.2501"),
        fit(
            "ERFC",
            "`(1 + 2 x) erfc(x) exp(x^2)` in `(x - 3.7)/(x + 3.7)`, for `x` from 1/2 to 28.",
            scaled_erfc,
            lambda t: 1 / scaled_erfc(t),
            erfc_argument("0.4999"),
            erfc_argument(28),
        ),
        fit(
            "GAMMA",
            "`(log(gamma(2 + t)) / t - (1 - c)) / t` for `|t| <= 1/2`, where `c` is Euler's constant.",
            gamma_beside_two,
            lambda t: t**2,
            "-0.50001",
            "0.50001",
            single_bits=31,
        ),
        fit(
            "STIRLING",
            "`x` times what Stirling's series adds, in `1/x^2`, for `x >= 8`.",
            stirling,
            mp.sqrt,
            mpf(10) ** -9,
            mpf(1) / 64,
        ),
        fit(
            "RECIPROCAL_CBRT",
            "`m^(-1/3)` for `m` from `sqrt(1/2)` to 8 times that.",
            lambda m: m ** (-mpf(1) / 3),
            lambda m: m ** (mpf(1) / 3),
            1 / SQRT2,
            8 / SQRT2,
            bits=8,
            single_bits=8,
        ),
    ]
    head = "//! Generated by `tools/elementary/coefficients.py`: polynomials, coefficient of the lowest power first.\n\n"
    head += '#![allow(clippy::excessive_precision, clippy::approx_constant, reason = "the numbers are generated")]\n\n'
    head += "use super::real::{Parts, Series};\n\n"
    TARGET.write_text(head + "\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
