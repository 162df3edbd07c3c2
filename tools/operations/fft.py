"""Cases of `std.fft`."""

import numpy as np
import torch

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
c.uses(torch)
for k in (1, 4, 5):
    c.add("hann", dict(n=k), torch.hann_window(k, dtype=torch.float64), "torch.hann_window")


def stft(x, window, hop):
    z = torch.stft(torch.tensor(x), len(window), hop, window=torch.tensor(window), center=False, return_complex=True)
    return pairs(z.numpy().swapaxes(-1, -2))


for length, size, hop in ((16, 4, 2), (11, 5, 3), (8, 8, 1), (7, 1, 2)):
    x, window = n(length), np.abs(n(size)) + 0.1
    c.add("stft", dict(x=x, window=window, hop=hop), stft(x, window, hop), "torch.stft without centring")
x, window = n(2, 10), np.abs(n(4)) + 0.1
c.add("stft__batched", dict(x=x, window=window, hop=3), stft(x, window, 3), "torch.stft without centring")


def mel_filters(count, bins, rate, low, high):
    """Triangular filters on the scale 2595 log10(1 + f / 700), as torchaudio.functional.melscale_fbanks has them."""
    mel = lambda f: 2595.0 * np.log10(1.0 + f / 700.0)
    edges = 700.0 * (10.0 ** (np.linspace(mel(low), mel(high), count + 2) / 2595.0) - 1.0)
    frequencies = np.linspace(0.0, rate / 2, bins)
    rising = (frequencies - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - frequencies) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


for args in ((3, 9, 8000.0, 0.0, 4000.0), (2, 5, 16000.0, 100.0, 6000.0), (1, 4, 100.0, 1.0, 40.0)):
    names = dict(zip(("n", "bins", "rate", "low", "high"), args))
    c.add("mel_filters", names, mel_filters(*args), "numpy, the formula of the scale", kinks=True)
x, window = n(20), np.abs(n(8)) + 0.1
filters = mel_filters(3, 5, 8000.0, 0.0, 4000.0) + 0.01
powers = (np.abs(complex_of(stft(x, window, 4))) ** 2) @ filters.T
c.add("log_mel", dict(x=x, window=window, hop=4, filters=filters), np.log(np.maximum(powers, 1e-10)), "torch.stft, numpy")
c.write()
