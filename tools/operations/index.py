"""Cases of `std.index`."""

import numpy as np

from cases import Cases

c = Cases("index", 102)
x1, x2, x3 = c.normal(5), c.normal(3, 6), c.normal(2, 3, 4)
none, one = np.zeros(0), c.normal(1)
nothing = np.zeros(0, dtype=int)

for at in (np.array([5, 0, 0, 3]), np.array([2]), nothing):
    c.add("take", dict(x=x2, at=at), np.take(x2, at, -1), "numpy.take")
c.add("take", dict(x=np.zeros((2, 0)), at=nothing), np.zeros((2, 0)), "numpy.take")
c.add("take__rank1", dict(x=x1, at=np.array([4, 4, 1])), x1[[4, 4, 1]], "numpy.take")
c.add("take__rank1", dict(x=np.array([np.nan, np.inf, 1.0]), at=np.array([1, 0])), np.array([np.inf, np.nan]), "numpy.take")
c.fails("take__rank1", dict(x=x1, at=np.array([1, 5])), "R0001", "past the end")
c.fails("take__rank1", dict(x=x1, at=np.array([-1])), "R0001", "in front of the start")
c.add("take__far", dict(at=np.array([2**24 + 1, 2**24 + 3, 0]), n=2**24 + 4), np.array([2**24 + 1, 2**24 + 3, 0]), "numpy.take")
for k in (3, 1, 0):
    at = c.integers(0, 6, 3, k)
    c.add("take_along", dict(x=x2, at=at), np.take_along_axis(x2, at, -1), "numpy.take_along_axis")
at = c.integers(0, 4, 2, 3, 5)
c.add("take_along__rank3", dict(x=x3, at=at), np.take_along_axis(x3, at, -1), "numpy.take_along_axis")
at = c.integers(0, 6, 3)
c.add("pick", dict(x=x2, at=at), x2[np.arange(3), at], "indexing of numpy")
at = c.integers(0, 3, 2, 4)
c.add("embedding", dict(table=x2, at=at), x2[at], "torch.nn.functional.embedding, by indexing of numpy")
c.add("embedding", dict(table=x2, at=np.zeros((0, 2), dtype=int)), np.zeros((0, 2, 6)), "indexing of numpy")
at = np.stack([c.integers(0, 3, 5), c.integers(0, 6, 5)], -1)
c.add("gather2d", dict(x=x2, at=at), x2[tuple(at.T)], "indexing of numpy")
at = np.stack([c.integers(0, 2, 5), c.integers(0, 3, 5), c.integers(0, 4, 5)], -1)
c.add("gather3d", dict(x=x3, at=at), x3[tuple(at.T)], "indexing of numpy")
c.fails("gather2d", dict(x=x2, at=np.array([[0, 6]])), "R0001", "past the end")


def scattered(name, x, at, values):
    """The result, and by whom each position was last written."""
    y = x.copy()
    ufunc = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}.get(name)
    for row, (i, v) in enumerate(zip(at, values)):
        if ufunc is None:
            for p, q in zip(i, v):
                y[row, p] = q
        else:
            ufunc.at(y[row], i, v)
    return y


for name in ("add", "set", "mul", "max", "min"):
    source = f"numpy.{dict(add='add', mul='multiply', max='maximum', min='minimum').get(name, 'put')}.at"
    for k in (1, 4, 0):
        values, at = c.normal(3, k), c.integers(0, 6, 3, k)
        c.add(f"scatter_{name}", dict(x=x2, at=at, values=values), scattered(name, x2, at, values), source)
    c.fails(f"scatter_{name}", dict(x=x2[:1], at=np.array([[6]]), values=np.ones((1, 1))), "R0001", "past the end")
# Ties: the start value takes part, and all share equally. Of what is set the last one stays.
x, at, v = np.array([[1.0, 3.0, 0.0]]), np.array([[1, 1, 0, 1]]), np.array([[3.0, 3.0, 1.0, 2.0]])
c.add("scatter_max", dict(x=x, at=at, values=v), np.array([[1.0, 3.0, 0.0]]), "by hand", True,
      dict(x=np.array([[0.5, 1 / 3, 1.0]]), values=np.array([[1 / 3, 1 / 3, 0.5, 0.0]])))
c.add("scatter_min", dict(x=-x, at=at, values=-v), np.array([[-1.0, -3.0, 0.0]]), "by hand", True,
      dict(x=np.array([[0.5, 1 / 3, 1.0]]), values=np.array([[1 / 3, 1 / 3, 0.5, 0.0]])))
c.add("scatter_set", dict(x=x, at=at, values=v), np.array([[1.0, 2.0, 0.0]]), "by hand", False,
      dict(x=np.array([[0.0, 0.0, 1.0]]), values=np.array([[0.0, 0.0, 1.0, 1.0]])))
# A product with zeros, whose derivatives are the products of the others.
x, at, v = np.array([[2.0, 3.0]]), np.array([[0, 0, 1]]), np.array([[0.0, 0.0, 5.0]])
c.add("scatter_mul", dict(x=x, at=at, values=v), np.array([[0.0, 15.0]]), "by hand", False,
      dict(x=np.array([[0.0, 5.0]]), values=np.array([[0.0, 0.0, 3.0]])))
x, at, v = np.array([[2.0]]), np.array([[0, 0]]), np.array([[0.0, 7.0]])
c.add("scatter_mul", dict(x=x, at=at, values=v), np.array([[0.0]]), "by hand", False,
      dict(x=np.array([[0.0]]), values=np.array([[14.0, 0.0]])))

for at in (np.array([2, 0, 2]), nothing):
    c.add("one_hot", dict(at=at, n=3), np.eye(3)[at], "rows of numpy.eye")
c.fails("one_hot", dict(at=np.array([3]), n=3), "R0001", "past the end")
mask = x2 > 0
c.add("where", dict(mask=mask, a=x2, b=10 * x2), np.where(mask, x2, 10 * x2), "numpy.where")
bad = np.array([[np.nan, 1.0], [np.inf, 2.0]])
m = np.array([[False, True], [False, True]])
c.add("where", dict(mask=m, a=bad, b=np.ones((2, 2))), np.where(m, bad, 1.0), "numpy.where", False,
      dict(a=m.astype(float), b=(~m).astype(float)))
c.add("masked_fill", dict(x=x2, mask=mask, value=7.5), np.where(mask, 7.5, x2), "numpy.where", False,
      dict(x=(~mask).astype(float), value=float(mask.sum())))
c.add("masked_fill", dict(x=x2, mask=mask, value=-np.inf), np.where(mask, -np.inf, x2), "numpy.where")
for mask in (np.array([True, False, True, True, False]), np.zeros(5, bool), np.ones(5, bool)):
    c.add("compress", dict(x=x1, mask=mask), x1[mask], "numpy.compress")
    c.add("positions", dict(mask=mask), np.flatnonzero(mask), "numpy.flatnonzero")
c.add("positions", dict(mask=np.zeros(0, bool)), nothing, "numpy.flatnonzero")

segment = np.array([0, 2, 2, 0, 4, 2])
sums = np.stack([np.bincount(segment, row, 5) for row in x2])
counts = np.bincount(segment, minlength=5)
c.add("segment_sum", dict(x=x2, segment=segment, n=5), sums, "numpy.bincount with weights")
c.add("segment_mean", dict(x=x2, segment=segment, n=5), sums / np.maximum(counts, 1), "numpy.bincount with weights")
c.add("segment_sum_rows", dict(x=x2.T, segment=segment, n=5), sums.T, "numpy.bincount with weights")
for name, ufunc, start in (("max", np.maximum, -np.inf), ("min", np.minimum, np.inf)):
    y = np.full((3, 5), start)
    for row, r in zip(y, x2):
        ufunc.at(row, segment, r)
    c.add(f"segment_{name}", dict(x=x2, segment=segment, n=5), y, f"numpy.{ufunc.__name__}.at")
    x = np.array([[2.0, 5.0, 2.0]])
    c.add(f"segment_{name}", dict(x=x, segment=np.array([0, 1, 0]), n=2), np.array([[2.0, 5.0]]), "by hand", True,
          dict(x=np.array([[0.5, 1.0, 0.5]])))
for name in ("sum", "mean"):
    c.add(f"segment_{name}", dict(x=np.zeros((2, 0)), segment=nothing, n=2), np.zeros((2, 2)), "empty sums")
for x in (np.array([0, 2, 2, 5, 0, 0]), nothing, np.array([3])):
    c.add("bincount", dict(x=x, n=7), np.bincount(x, minlength=7), "numpy.bincount")
c.fails("bincount", dict(x=np.array([7]), n=7), "R0001", "past the end")
x = np.concatenate([c.random.uniform(-1.2, 1.2, 40).round(3), np.linspace(-1, 1, 9), [np.nan]])
for low, high, bins in ((-1.0, 1.0, 8), (-1.0, 1.0, 3), (0.1, 0.7, 7), (0.0, 1.0, 1)):
    known = x[~np.isnan(x)]
    c.add("histogram", dict(x=x, low=low, high=high, bins=bins), np.histogram(known, bins, (low, high))[0], "numpy.histogram")
c.add("histogram", dict(x=none, low=0.0, high=1.0, bins=2), np.array([0, 0]), "numpy.histogram")
c.write()
