"""Cases of `std.random`: published vectors of Philox4x32-10, and a second implementation of what is made of it."""

import numpy as np

from cases import Cases

c = Cases("random", 109)
MASK = 0xFFFFFFFF


def philox(counter, key):
    """Philox4x32-10 after Salmon et al. (2011), in Python's integers."""
    a, b, g, d = map(int, counter)
    k, l = map(int, key)
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * g
        a, b, g, d = (q >> 32) ^ b ^ k, q & MASK, (p >> 32) ^ d ^ l, p & MASK
        k, l = (k + 0x9E3779B9) & MASK, (l + 0xBB67AE85) & MASK
    return [a, b, g, d]


def words(key, at, sequence=0):
    return philox([at & MASK, at >> 32, sequence, 0], [key & MASK, key >> 32])


def uniform(key, n, single=False):
    numbers = []
    for i in range((n + 1) // 2):
        w = words(key, i)
        for high, low in ((w[0], w[1]), (w[2], w[3])):
            numbers.append((high >> 8) / 2**24 if single else ((high >> 5) * 2**26 + (low >> 6)) / 2**53)
    return np.array(numbers[:n])


def normal(key, n):
    u = uniform(key, n + n % 2)
    radius, angle = np.sqrt(-2 * np.log1p(-u[::2])), 2 * np.pi * u[1::2]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1).ravel()[:n]


def exponential(key, n):
    return -np.log1p(-uniform(key, n))


def gumbel(key, n):
    return -np.log(exponential(key, n))


hexes = lambda text: np.array([int(word, 16) for word in text.split()])
for counter, key, result in (
    ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
):
    assert philox(hexes(counter), hexes(key)) == list(hexes(result))
    c.add("philox", dict(counter=hexes(counter), key=hexes(key)), hexes(result), "known answers of Random123")
KEYS = (0, 42, 2**63 + 12345, 2**64 - 1)
TWICE = "Philox in Python"
for key in KEYS:
    for index in (0, 1, 2**40):
        w = words(key, index, 1)
        c.add("subkey", dict(key=key, index=index), w[0] + (w[1] << 32), TWICE)
    for n in (0, 1, 6, 7):
        c.add("uniform", dict(key=key, n=n), uniform(key, n), TWICE)
        c.add("uniform__single", dict(key=key, n=n), uniform(key, n, True), TWICE)
        c.add("normal", dict(key=key, n=n), normal(key, n), TWICE)
        c.add("exponential", dict(key=key, n=n), exponential(key, n), TWICE)
        c.add("gumbel", dict(key=key, n=n), gumbel(key, n), TWICE)
        c.add("permutation", dict(key=key, n=n), np.argsort(uniform(key, n), kind="stable"), TWICE)
        c.add("bernoulli", dict(key=key, p=0.3, n=n), uniform(key, n) < 0.3, TWICE)
        c.add("integers", dict(key=key, low=-3, high=4, n=n), -3 + np.floor(7 * uniform(key, n)).astype(int), TWICE)
low, width = c.normal(2, 3), np.abs(c.normal(2, 3))
u, z = uniform(7, 6).reshape(2, 3), normal(7, 6).reshape(2, 3)
c.add("uniform_between", dict(key=7, low=low, high=low + width), low + width * u, TWICE, False, dict(low=1 - u, high=u))
c.add("gaussian", dict(key=7, mean=low, deviation=width), low + width * z, TWICE, False, dict(mean=np.ones((2, 3)), deviation=z))
for rate in (0.0, 0.5, 0.9):
    kept = (u >= rate) / (1 - rate)
    c.add("dropout", dict(key=7, x=low, rate=rate), low * kept, TWICE, False, dict(x=kept))
logits = c.normal(5, 4)
logits[0] = [-np.inf, 0.0, -np.inf, -np.inf]
c.add("categorical", dict(key=11, logits=logits), np.argmax(logits + gumbel(11, 20).reshape(5, 4), -1), TWICE)
weights = np.array([0.0, 1.0, 2.0, 0.0, 1.0])
sums = np.cumsum(weights)
c.add("choice", dict(key=11, weights=weights, n=9), np.searchsorted(sums, uniform(11, 9) * sums[-1], "right"), TWICE)
# The moments of the distributions themselves: a sample of this size has them to two digits.
c.add("uniform__moments", dict(key=3, n=40001), np.array([0.0, 0.08, 0.0, 0.01]), "moments of the uniform distribution")
sample = normal(3, 40001)
assert abs(sample.mean()) < 0.005 and abs(sample.var() - 1) < 0.02 and abs((sample**4).mean() - 3) < 0.1
c.add("normal__moments", dict(key=3, n=40001), np.array([np.round((sample**p).mean(), 2) for p in (1, 2, 3, 4)]),
      "moments of the sample, near those of the normal distribution")
c.write()
