"""Cases of `std.resample`, by PyTorch in double precision."""

import torch
import torch.nn.functional as F

from cases import Cases

c = Cases("resample", 108)
c.uses(torch)
x1, x2, x3 = torch.tensor(c.normal(2, 5)), torch.tensor(c.normal(2, 4, 3)), torch.tensor(c.normal(2, 2, 3, 2))

for n in (1, 3, 5, 7, 10):
    c.add("nearest1d", dict(x=x1, n=n), F.interpolate(x1[None], n)[0], "torch interpolate, nearest")
    for aligned in (False, True):
        y = F.interpolate(x1[None], n, mode="linear", align_corners=aligned)[0]
        c.add("linear1d", dict(x=x1, n=n, aligned=aligned), y, f"torch interpolate, linear, align_corners={aligned}")
for size in ((1, 1), (4, 3), (8, 6), (3, 5), (7, 2)):
    args = dict(x=x2, rows=size[0], columns=size[1])
    c.add("nearest2d", args, F.interpolate(x2[None], size)[0], "torch interpolate, nearest")
    for aligned in (False, True):
        y = F.interpolate(x2[None], size, mode="bilinear", align_corners=aligned)[0]
        c.add("bilinear2d", dict(args, aligned=aligned), y, f"torch interpolate, bilinear, align_corners={aligned}")
for size in ((4, 6, 4), (1, 2, 3)):
    args = dict(zip(("x", "layers", "rows", "columns"), (x3, *size)))
    c.add("nearest3d", args, F.interpolate(x3[None], size)[0], "torch interpolate, nearest")
one = torch.tensor(c.normal(1, 1))
for aligned in (False, True):
    y = F.interpolate(one[None], 3, mode="linear", align_corners=aligned)[0]
    c.add("linear1d", dict(x=one, n=3, aligned=aligned), y, "torch interpolate, linear")
c.add("linear1d", dict(x=x1, n=0, aligned=False), torch.zeros(2, 0), "nothing")
c.add("linear1d__plain", dict(x=x1[0], n=8), F.interpolate(x1[None], 8, mode="linear")[0, 0], "torch interpolate, linear")
c.add("bilinear2d__plain", dict(x=x2[0], rows=5, columns=5), F.interpolate(x2[None], (5, 5), mode="bilinear")[0, 0],
      "torch interpolate, bilinear")
c.fails("nearest1d", dict(x=torch.zeros(1, 0), n=2), "R0001", "nothing to take")
c.write()
