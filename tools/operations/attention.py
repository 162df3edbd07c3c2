"""Cases of `std.attention`: the definitions in NumPy; gradients by the complex step."""

import numpy as np

from cases import Cases, complex_step

c = Cases("attention", 117)
inf = np.inf


def softmax(x):
    e = np.exp(x - np.max(np.real(x), -1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend_with(q, k, v, bias, scale):
    return softmax(scale * q @ k.swapaxes(-1, -2) + bias) @ v


def attend(q, k, v):
    return attend_with(q, k, v, 0.0, 1 / np.sqrt(q.shape[-1]))


def rope(x, offset=0, base=10000.0, interleaved=False):
    """The planes as complex numbers, turned."""
    n, d = x.shape[-2], x.shape[-1] // 2
    angle = (offset + np.arange(n))[:, None] * base ** (-np.arange(d) / d)
    first, second = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :d], x[..., d:])
    pair = (first * np.cos(angle) - second * np.sin(angle), first * np.sin(angle) + second * np.cos(angle))
    return np.stack(pair, -1).reshape(x.shape) if interleaved else np.concatenate(pair, -1)


qkv = dict(q=c.normal(3, 2), k=c.normal(4, 2), v=c.normal(4, 3))
c.add("attend", qkv, attend(**qkv), "the definition in NumPy", False, complex_step(attend, qkv))
batch = dict(q=c.normal(2, 2, 2), k=c.normal(2, 3, 2), v=c.normal(2, 3, 1))
c.add("attend__batch", batch, attend(**batch), "the definition in NumPy", False, complex_step(attend, batch))
args = qkv | dict(bias=c.normal(3, 4), scale=0.75)
c.add("attend_with", args, attend_with(**args), "the definition in NumPy", False, complex_step(attend_with, args))
mask = np.array([[0.0, -inf, -inf, 0.0], [0.0, 0.0, -inf, 0.0], [-inf, -inf, 0.0, -inf]])
args = qkv | dict(bias=mask, scale=0.75)
gradient = complex_step(lambda q, k, v, scale: attend_with(q, k, v, mask, scale), {n: args[n] for n in ("q", "k", "v", "scale")})
c.add("attend_with", args, attend_with(**args), "the definition in NumPy", True, gradient)
args = qkv | dict(bias=np.array([[0.0] * 4, [-inf] * 4, [0.0] * 4]), scale=0.75)
rest = attend_with(**(args | dict(bias=np.zeros((3, 4)))))
rest[1] = 0
c.add("attend_with", args, rest, "by hand: a row that looks at nothing", True,
      dict(v=np.repeat(softmax(0.75 * qkv["q"] @ qkv["k"].T)[[0, 2]].sum(0)[:, None], 3, 1)))
args = dict(q=np.array([[1e2, 0.0], [0.0, 1e2]]), k=np.array([[1e2, 0.0], [0.0, 1e2]]), v=np.array([[1.0], [2.0]]),
            bias=np.zeros((2, 2)), scale=1.0)
c.add("attend_with", args, np.array([[1.0], [2.0]]), "by hand: scores of 1e4", False,
      dict(q=np.zeros((2, 2)), k=np.zeros((2, 2)), v=np.ones((2, 1))))
for n, m in ((3, 3), (2, 4), (0, 2)):
    ahead = np.arange(m)[None, :] - np.arange(n)[:, None] - (m - n)
    c.add("causal", dict(n=n, m=m), np.where(ahead <= 0, 0.0, -inf), "numpy.where")
    c.add("window", dict(n=n, m=m, size=2), np.where((ahead <= 0) & (ahead > -2), 0.0, -inf), "numpy.where")
allowed = np.array([[True, False], [False, False]])
c.add("of_mask", dict(mask=allowed), np.where(allowed, 0.0, -inf), "numpy.where")
args = dict(x=c.normal(3, 4))
for interleaved in (False, True):
    f = lambda x: rope(x, interleaved=interleaved)
    c.add("rope", args | dict(interleaved=interleaved), f(**args), "turned planes in NumPy", False, complex_step(f, args))
args = dict(x=c.normal(2, 2, 2))
f = lambda x: rope(x, offset=1000, base=500.0)
c.add("rope__offset", args, f(**args), "turned planes in NumPy", False, complex_step(f, args))
c.write()
