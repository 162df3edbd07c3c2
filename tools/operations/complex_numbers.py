"""Cases of `std.complex`: the complex numbers of NumPy, their parts one after the other."""

import numpy as np

from cases import Cases

c = Cases("complex", 118)


def parts(z):
    """The real and the imaginary parts."""
    return np.real(z), np.imag(z)


def numbers(*shape):
    return c.normal(*shape) + 1j * c.normal(*shape)


a, b, x, z = numbers(2, 3), numbers(3, 2), numbers(3), numbers(4)
ones = np.ones((2, 2)) + 1j * np.ones((2, 2))
# The gradient of re + im of a product is what the conjugate of the other factor makes of 1 + i.
args = dict(a_re=a.real, a_im=a.imag, b_re=b.real, b_im=b.imag)
of_a, of_b = ones @ b.conj().T, a.conj().T @ ones
c.add("matmul", args, parts(a @ b), "numpy.matmul", False,
      dict(a_re=of_a.real, a_im=of_a.imag, b_re=of_b.real, b_im=of_b.imag))
c.add("matvec", dict(a_re=a.real, a_im=a.imag, x_re=x.real, x_im=x.imag), parts(a @ x), "numpy.matmul")
c.add("abs2", dict(re=z.real, im=z.imag), np.abs(z)**2, "numpy.abs", False, dict(re=2 * z.real, im=2 * z.imag))
c.add("abs2", dict(re=np.zeros(1), im=np.zeros(1)), np.zeros(1), "numpy.abs", False, dict(re=np.zeros(1), im=np.zeros(1)))
w = numbers(4)
for name, value in (("add", z + w), ("sub", z - w), ("mul", z * w), ("div", z / w)):
    c.add(name, dict(a_re=z.real, a_im=z.imag, b_re=w.real, b_im=w.imag), parts(value), f"numpy {name}")
for name, value in (("neg", -z), ("conj", z.conj()), ("exponential", np.exp(z)), ("logarithm", np.log(z)),
                    ("inverse", 1 / z)):
    c.add(name, dict(re=z.real, im=z.imag), parts(value), f"numpy {name}")
for name, value in (("modulus", np.abs(z)), ("angle", np.angle(z))):
    c.add(name, dict(re=z.real, im=z.imag), value, f"numpy {name}")
r, phi = np.abs(c.normal(3)), c.normal(3)
c.add("polar", dict(r=r, phi=phi), parts(r * np.exp(1j * phi)), "numpy.exp")
c.add("scale", dict(a=-1.5, re=z.real, im=z.imag), parts(-1.5 * z), "numpy multiply")
c.add("abs2__number", dict(re=3.0, im=-4.0), 25.0, "by hand", False, dict(re=6.0, im=-8.0))
c.write()
