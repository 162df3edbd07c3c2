"""Cases of `std.pool`, by PyTorch in double precision."""

import numpy as np
import torch
import torch.nn.functional as F

from cases import Cases

c = Cases("pool", 107)
c.uses(torch)
SPACE = {1: (9,), 2: (6, 7), 3: (4, 5, 4)}


def maximum(d, x, size, stride, padding=0, dilation=1):
    attributes = dict(size=size, stride=stride, padding=padding, dilation=dilation)
    for suffix, ceil in (("", False), ("_ceil", True)):
        y = getattr(F, f"max_pool{d}d")(x[:, None], size, stride, padding, dilation, ceil)
        c.add(f"max_pool{d}d{suffix}", dict(x=x, **attributes), y[:, 0], f"torch max_pool{d}d, ceil_mode={ceil}")


def mean(d, x, size, stride, padding=0):
    for suffix, ceil in (("", False), ("_ceil", True)):
        for include in (True, False):
            y = getattr(F, f"avg_pool{d}d")(x[:, None], size, stride, padding, ceil, include)
            c.add(f"avg_pool{d}d{suffix}", dict(x=x, size=size, stride=stride, padding=padding, include_padding=include),
                  y[:, 0], f"torch avg_pool{d}d, ceil_mode={ceil}")


for d in (1, 2, 3):
    x = torch.tensor(c.distinct(2, *SPACE[d]))
    one = torch.tensor(c.distinct(1, *([1] * d)))
    for size, stride, padding, dilation in ((2, 2, 0, 1), (3, 1, 1, 1), (2, 3, 1, 1), (3, 2, 1, 1), (2, 1, 1, 2)):
        maximum(d, x, size, stride, padding, dilation)
        if dilation == 1:
            mean(d, x, size, stride, padding)
    maximum(d, one, 1, 1)
    mean(d, one, 1, 2)
x = torch.tensor(c.distinct(9))
c.add("max_pool1d__plain", dict(x=x, size=2, stride=2), F.max_pool1d(x[None], 2, 2)[0], "torch max_pool1d")
c.add("avg_pool1d__plain", dict(x=x, size=2, stride=2), F.avg_pool1d(x[None], 2, 2)[0], "torch avg_pool1d")
m = torch.tensor(c.distinct(4, 6))
c.add("max_pool2d__plain", dict(x=m, size=2, stride=2), F.max_pool2d(m[None], 2, 2)[0], "torch max_pool2d")
# Ties share equally, or the first takes all; -inf of the input is no padding, and a NaN is passed on.
x = np.array([1.0, 1.0, 2.0, 2.0, 2.0])
c.add("max_pool1d__plain", dict(x=x, size=3, stride=1), np.array([2.0, 2.0, 2.0]), "by hand", True,
      dict(x=np.array([0.0, 0.0, 1 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3])))
c.add("max_pool1d__first", dict(x=x, size=3, stride=1), np.array([2.0, 2.0, 2.0]), "by hand", True,
      dict(x=np.array([0.0, 0.0, 3.0, 0.0, 0.0])))
m = np.array([[3.0, 1.0, 0.0, 0.0], [3.0, 3.0, 0.0, -1.0]])
c.add("max_pool2d__plain", dict(x=m, size=2, stride=2), np.array([[3.0, 0.0]]), "by hand", True,
      dict(x=np.array([[1 / 3, 0.0, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3, 0.0]])))
c.add("max_pool2d__first", dict(x=m, size=2, stride=2), np.array([[3.0, 0.0]]), "by hand", True,
      dict(x=np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])))
c.add("max_pool1d", dict(x=np.array([[-np.inf, -1.0, np.nan, 4.0]]), size=2, stride=1, padding=1, dilation=1),
      np.array([[-np.inf, -1.0, np.nan, np.nan, 4.0]]), "torch max_pool1d, by hand", True)
c.add("max_pool1d", dict(x=np.zeros((0, 4)), size=2, stride=1, padding=0, dilation=1), np.zeros((0, 3)), "nothing")
for n in (1, 2, 4, 9, 11):
    x = torch.tensor(c.normal(2, 9))
    c.add("adaptive_avg_pool1d", dict(x=x, n=n), F.adaptive_avg_pool1d(x, n), "torch adaptive_avg_pool1d")
for rows, columns in ((1, 1), (2, 3), (4, 5), (6, 7)):
    x = torch.tensor(c.distinct(2, 6, 7))
    args = dict(x=x, rows=rows, columns=columns)
    c.add("adaptive_avg_pool2d", args, F.adaptive_avg_pool2d(x, (rows, columns)), "torch adaptive_avg_pool2d")
    c.add("adaptive_max_pool2d", args, F.adaptive_max_pool2d(x, (rows, columns)), "torch adaptive_max_pool2d")
x = torch.tensor(c.distinct(2, 3, 2, 4))
c.add("global_avg_pool", dict(x=x), x.mean((2, 3)), "torch mean")
c.add("global_max_pool", dict(x=x[:, :, 0]), x[:, :, 0].amax(2), "torch amax")
c.add("global_max_pool", dict(x=np.array([[[1.0, 5.0, 5.0]]])), np.array([[5.0]]), "by hand", True,
      dict(x=np.array([[[0.0, 0.5, 0.5]]])))
c.write()
