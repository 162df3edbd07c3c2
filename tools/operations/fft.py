"""Cases of `std.fft`."""

import numpy as np

from cases import Cases

c = Cases("fft", 112)
n = c.normal


def pairs(z):
    """Complex numbers as pairs of floats."""
    return np.stack([z.real, z.imag], -1)


def complex_of(x):
    return x[..., 0] + 1j * x[..., 1]


for k in (1, 2, 3, 4, 5, 8, 12, 17):
    x = n(k, 2)
    c.add("fft", dict(x=x), pairs(np.fft.fft(complex_of(x))), "numpy.fft.fft")
    c.add("ifft", dict(x=x), pairs(np.fft.ifft(complex_of(x))), "numpy.fft.ifft")
c.add("fft", dict(x=n(0, 2)), n(0, 2), "nothing")
x = n(3, 4, 2)
c.add("fft__forward", dict(x=x), pairs(np.fft.fft(complex_of(x), norm="forward")), "numpy.fft.fft")
c.add("ifft__forward", dict(x=x), pairs(np.fft.ifft(complex_of(x), norm="forward")), "numpy.fft.ifft")
x = n(2, 1, 5, 2)
c.add("fft__ortho", dict(x=x), pairs(np.fft.fft(complex_of(x), norm="ortho")), "numpy.fft.fft")
x = n(6, 2)
c.add("ifft__ortho", dict(x=x), pairs(np.fft.ifft(complex_of(x), norm="ortho")), "numpy.fft.ifft")
for k in (1, 2, 3, 4, 7, 16):
    x = n(k)
    c.add("rfft", dict(x=x), pairs(np.fft.rfft(x)), "numpy.fft.rfft")
    c.add("rfft__forward", dict(x=x), pairs(np.fft.rfft(x, norm="forward")), "numpy.fft.rfft")
    z = n(k // 2 + 1, 2)
    c.add("irfft", dict(z=z, n=k), np.fft.irfft(complex_of(z), k), "numpy.fft.irfft")
    c.add("irfft__forward", dict(z=z, n=k), np.fft.irfft(complex_of(z), k, norm="forward"), "numpy.fft.irfft")
x = n(3, 5)
c.add("rfft__batched", dict(x=x), pairs(np.fft.rfft(x, norm="ortho")), "numpy.fft.rfft")
z = n(3, 3, 2)
c.add("irfft__batched", dict(z=z, n=5), np.fft.irfft(complex_of(z), 5, norm="ortho"), "numpy.fft.irfft")
for shape in ((2, 3), (4, 1), (1, 5)):
    x = n(*shape, 2)
    c.add("fft2", dict(x=x), pairs(np.fft.fft2(complex_of(x))), "numpy.fft.fft2")
    c.add("ifft2", dict(x=x), pairs(np.fft.ifft2(complex_of(x))), "numpy.fft.ifft2")
x = n(2, 3, 4, 2)
c.add("fft2__batched", dict(x=x), pairs(np.fft.fft2(complex_of(x), norm="ortho")), "numpy.fft.fft2")
x = n(2, 3, 2, 2)
c.add("fft3", dict(x=x), pairs(np.fft.fftn(complex_of(x))), "numpy.fft.fftn")
c.add("ifft3", dict(x=x), pairs(np.fft.ifftn(complex_of(x), norm="ortho")), "numpy.fft.ifftn")
c.write()
