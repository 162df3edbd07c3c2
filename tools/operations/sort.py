"""Cases of `std.sort`."""

import numpy as np
import scipy
import scipy.stats

from cases import Cases

c = Cases("sort", 104)
c.uses(scipy)
d2, d3, single, empty = c.distinct(3, 6), c.distinct(2, 2, 5), c.normal(2, 1), np.zeros((2, 0))
ties = np.array([[2.0, 1.0, 2.0, 3.0], [0.0, -0.0, 1.0, 1.0]])
wild = np.array([[1.0, np.nan, np.inf, -np.inf]])
nan = np.nan


def descending(x):
    """Positions from the largest to the smallest, equal ones in their order, NaN first."""
    return x.shape[-1] - 1 - np.argsort(x[..., ::-1], -1, kind="stable")[..., ::-1]


for x in (d2, single, empty, ties, wild):
    order = descending(x)
    c.add("argsort_descending", dict(x=x), order, "numpy.argsort, stable, backwards")
    c.add("sort_descending", dict(x=x), np.take_along_axis(x, order, -1), "numpy.sort, backwards", x is ties)
    for k in (0, 1, x.shape[-1]):
        for largest in (True, False):
            if k <= x.shape[-1]:
                at = (order if largest else np.argsort(x, -1, kind="stable"))[:, :k]
                c.add("topk", dict(x=x, k=k, largest=largest), (np.take_along_axis(x, at, -1), at),
                      "numpy.argsort, stable", x is ties)
c.fails("topk", dict(x=single, k=2, largest=True), "R0002", "there are fewer")
at = descending(d3)[..., :2]
c.add("topk__largest", dict(x=d3, k=2), (np.take_along_axis(d3, at, -1), at), "numpy.argsort, stable")
# Of those that tie the first is taken, and gets the derivative.
c.add("topk", dict(x=ties[:1], k=2, largest=True), (np.array([[3.0, 2.0]]), np.array([[3, 0]])), "by hand", True,
      dict(x=np.array([[1.0, 0.0, 0.0, 1.0]])))
for k in (0, 3, 5):
    at = np.argsort(d2, -1)[:, k]
    c.add("kth", dict(x=d2, k=k), (d2[np.arange(3), at], at), "numpy.argsort")
for x in (d2, d2[:, :5], single, wild):
    c.add("median", dict(x=x), np.median(x, -1), "numpy.median")
c.add("median__rank1", dict(x=d2[0]), np.median(d2[0]), "numpy.median")
c.add("median", dict(x=np.array([[1.0, 2.0, 2.0, 5.0], [2.0, 2.0, 2.0, 2.0]])), np.array([2.0, 2.0]), "numpy.median", True,
      dict(x=np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.5, 0.0]])))
c.fails("median", dict(x=empty), "R0001", "nothing has no middle")
for q in (0.0, 0.1, 0.25, 0.5, 0.8, 1.0):
    c.add("quantile", dict(x=d2, q=q), np.quantile(d2, q, -1), "numpy.quantile, linear", q in (0.0, 0.8, 1.0))
c.add("quantile", dict(x=single, q=0.3), np.quantile(single, 0.3, -1), "numpy.quantile, linear")
c.add("quantile", dict(x=np.array([[1.0, nan, 2.0]]), q=0.0), np.array([nan]), "numpy.quantile, linear")
c.fails("quantile", dict(x=d2, q=1.5), "R0001", "past the end")
edges = np.array([-1.0, 0.0, 0.0, 0.5, 2.0])
values = np.array([-2.0, -1.0, 0.0, 0.25, 0.5, 2.0, 3.0, np.inf, -np.inf])
for right in (False, True):
    for s in (edges, np.zeros(0)):
        c.add("searchsorted", dict(sorted=s, values=values, right=right),
              np.searchsorted(s, values, "right" if right else "left"), "numpy.searchsorted")
c.add("searchsorted", dict(sorted=edges, values=np.zeros(0), right=False), np.zeros(0, int), "numpy.searchsorted")
c.add("searchsorted__left", dict(sorted=edges, value=0.0), 1, "numpy.searchsorted")
far = np.array([2**24, 2**24 + 1, 2**53, 2**53 + 1])
c.add("searchsorted__integers", dict(sorted=far, values=far), np.arange(4), "numpy.searchsorted")
keys, values = np.array([2.0, 1.0, 2.0, 0.5]), np.array([10.0, 20.0, 30.0, 40.0])
order = np.argsort(keys, kind="stable")
c.add("sort_by_key", dict(keys=keys, values=values), (keys[order], values[order]), "numpy.argsort, stable", True)
keys, values = d2[0], d2[1]
c.add("sort_by_key", dict(keys=keys, values=values), (np.sort(keys), values[np.argsort(keys)]), "numpy.argsort, stable")
for x in (d2, ties, empty):
    ranks = np.stack([scipy.stats.rankdata(row, "ordinal") for row in x]).astype(int) - 1
    c.add("ranks", dict(x=x), ranks.reshape(x.shape), "scipy.stats.rankdata, ordinal")
x = np.array([[1.0, 1.0, 2.0], [1.0, 0.0, 2.0], [3.0, 2.0, 1.0]])
c.add("is_sorted", dict(x=x), np.array([True, False, False]), "by hand")
c.add("is_sorted", dict(x=empty), np.array([True, True]), "by hand")
for x in (ties[0], ties[1], d2[0], np.zeros(0), np.array([5.0, 5.0, 5.0])):
    values, counts = np.unique(x, return_counts=True)
    c.add("count_unique", dict(x=x), len(values), "numpy.unique")
    c.add("unique", dict(x=x), (values, counts), "numpy.unique", len(values) < len(x),
          dict(x=np.isin(np.arange(len(x)), np.unique(x, return_index=True)[1]).astype(float)))
c.write()
