"""Cases of `std.reduce`."""

import numpy as np
import scipy
import scipy.special

from cases import Cases

c = Cases("reduce", 103)
c.uses(scipy)
x2, d2, single = c.normal(3, 5), c.distinct(3, 5), c.normal(2, 1)
empty = np.zeros((2, 0))
nan, inf = np.nan, np.inf

for name, f in (("amax", np.max), ("amin", np.min)):
    for x in (d2, single):
        c.add(name, dict(x=x), f(x, -1), f"numpy.{f.__name__}")
    ties = np.array([[1.0, 3.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    top = f(ties, -1, keepdims=True) == ties
    c.add(name, dict(x=ties), f(ties, -1), f"numpy.{f.__name__}", True, dict(x=top / top.sum(-1, keepdims=True)))
    wild = np.array([[1.0, nan, 0.0], [inf, 1.0, -inf]])
    c.add(name, dict(x=wild), f(wild, -1), f"numpy.{f.__name__}", True)
    c.fails(name, dict(x=empty), "R0009", "nothing has no largest element")
for x in (x2, single, empty, np.array([[inf, -inf], [nan, 1.0]])):
    c.add("total", dict(x=x), x.sum(-1), "numpy.sum")
    c.add("product", dict(x=x), x.prod(-1), "numpy.prod")
x4 = c.normal(2, 1, 3, 4)
c.add("total__rank4", dict(x=x4), x4.sum(-1), "numpy.sum")
zeros = np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [2.0, 4.0, 8.0]])
c.add("product", dict(x=zeros), zeros.prod(-1), "numpy.prod", False,
      dict(x=np.array([[0.0, 6.0, 0.0], [0.0, 0.0, 0.0], [32.0, 16.0, 8.0]])))
mask = np.array([[True, False], [False, False], [True, True]])
for m in (mask, np.zeros((2, 0), bool)):
    c.add("any", dict(x=m), m.any(-1), "numpy.any")
    c.add("all", dict(x=m), m.all(-1), "numpy.all")
    c.add("count", dict(x=m), m.sum(-1), "numpy.sum")
for x in (x2, single):
    c.add("average", dict(x=x), x.mean(-1), "numpy.mean")
    c.add("variance", dict(x=x, ddof=0), x.var(-1), "numpy.var")
for ddof in (0, 1, 2):
    c.add("variance", dict(x=x2, ddof=ddof), x2.var(-1, ddof=ddof), "numpy.var")
    c.add("deviation", dict(x=x2, ddof=ddof), x2.std(-1, ddof=ddof), "numpy.std")
c.add("variance__population", dict(x=x2[0]), x2[0].var(), "numpy.var")
c.add("deviation__population", dict(x=x2[0]), x2[0].std(), "numpy.std")
far = x2[:1] + 1e8
c.add("variance", dict(x=far, ddof=1), far.var(-1, ddof=1), "numpy.var")
c.add("deviation", dict(x=np.full((1, 3), 2.5), ddof=0), np.zeros(1), "numpy.std", True, dict(x=np.zeros((1, 3))))

for p in (1.0, 2.0, 3.0, 0.5, 1.5, -1.0, inf, -inf, 0.0):
    c.add("norm_p", dict(x=d2, p=p), np.linalg.norm(d2, p, -1), "numpy.linalg.norm", p in (0.0, inf, -inf, 1.0, 2.0))
c.add("norm_p__fixed", dict(x=d2), tuple(np.linalg.norm(d2, p, -1) for p in (2, 1, inf, 3)), "numpy.linalg.norm")
for p, slope in ((1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (inf, 0.0)):
    c.add("norm_p", dict(x=np.zeros((1, 2)), p=p), np.zeros(1), "numpy.linalg.norm", True, dict(x=np.zeros((1, 2))))
c.add("norm_p", dict(x=np.array([[3.0, -3.0, 1.0]]), p=inf), np.array([3.0]), "numpy.linalg.norm", True,
      dict(x=np.array([[0.5, -0.5, 0.0]])))
c.add("norm_p", dict(x=np.array([[0.0, -3.0]]), p=1.0), np.array([3.0]), "numpy.linalg.norm", True,
      dict(x=np.array([[0.0, -1.0]])))
c.add("norm_p", dict(x=np.array([[0.0, -3.0]]), p=3.0), np.array([3.0]), "numpy.linalg.norm", True,
      dict(x=np.array([[0.0, -1.0]])))
c.add("norm_p", dict(x=np.array([[3e200, 4e200]]), p=2.0), np.array([5e200]), "by hand", True)
c.add("norm_p", dict(x=np.array([[3e200, 3e200]]), p=4.0), np.array([3e200 * 2**0.25]), "by hand", True)

huge = np.array([[1000.0, 1001.0, 999.0], [-1000.0, -1000.0, -1003.0]])
for x in (x2, single, huge):
    c.add("logsumexp", dict(x=x), scipy.special.logsumexp(x, -1), "scipy.special.logsumexp")
wild = np.array([[-inf, -inf], [-inf, 1.0], [inf, 1.0], [nan, 1.0]])
c.add("logsumexp", dict(x=wild), np.array([-inf, 1.0, inf, nan]), "scipy.special.logsumexp", True)
c.add("logsumexp__rank1", dict(x=x2[0]), scipy.special.logsumexp(x2[0]), "scipy.special.logsumexp")
for a, b in ((0.5, -0.25), (1000.0, 999.0), (-inf, 2.0), (-inf, -inf), (3.0, 3.0), (inf, 1.0), (nan, 1.0)):
    c.add("logaddexp", dict(a=a, b=b), np.logaddexp(a, b), "numpy.logaddexp")


def running(f, start, x, exclusive, reverse):
    """The running result of a ufunc."""
    y = x[..., ::-1] if reverse else x
    if exclusive:
        y = np.concatenate([np.full((*y.shape[:-1], 1), start), y], -1)[..., :y.shape[-1]]
    y = f.accumulate(y, -1) if y.shape[-1] > 0 else y
    return y[..., ::-1] if reverse else y


for name, f, start in (("cumsum", np.add, 0.0), ("cumprod", np.multiply, 1.0), ("cummax", np.maximum, -inf),
                       ("cummin", np.minimum, inf), ("logcumsumexp", np.logaddexp, -inf)):
    for exclusive in (False, True):
        for reverse in (False, True):
            for x in (d2, single, empty):
                c.add(name, dict(x=x, exclusive=exclusive, reverse=reverse), running(f, start, x, exclusive, reverse),
                      f"numpy.{f.__name__}.accumulate")
    wild = np.array([[1.0, nan, 2.0], [-1.0, -2.0, inf]])
    c.add(name, dict(x=wild, exclusive=False, reverse=False), f.accumulate(wild, -1), f"numpy.{f.__name__}.accumulate", True)
# Products with zeros are exact; ties are composed pair by pair.
x = np.array([[2.0, 0.0, 3.0]])
c.add("cumprod", dict(x=x, exclusive=False, reverse=False), np.array([[2.0, 0.0, 0.0]]), "by hand", False,
      dict(x=np.array([[1.0, 8.0, 0.0]])))
x = np.array([[2.0, 2.0, 2.0]])
for name in ("cummax", "cummin"):
    c.add(name, dict(x=x, exclusive=False, reverse=False), x, "by hand", True, dict(x=np.array([[1.75, 0.75, 0.5]])))
    c.add(name, dict(x=x, exclusive=False, reverse=True), x, "by hand", True, dict(x=np.array([[0.5, 0.75, 1.75]])))
x = d2[0]
c.add("cumsum__with_the_others", dict(x=x), tuple(f.accumulate(x) for f in (np.add, np.multiply, np.maximum, np.minimum, np.logaddexp)),
      "numpy")
c.write()
