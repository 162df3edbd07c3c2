"""Cases of `std.shape`."""

import numpy as np

from cases import Cases

c = Cases("shape", 101)
x1, x2, x3, x4 = c.normal(5), c.normal(3, 6), c.normal(2, 3, 4), c.normal(2, 1, 3, 2)
none, none2, one = np.zeros(0), np.zeros((2, 0)), c.normal(1)

for x in (c.normal(4, 1), np.zeros((0, 1))):
    c.add("squeeze", dict(x=x), x[..., 0], "numpy.squeeze")
for x in (x1, none, one):
    c.add("unsqueeze", dict(x=x), x[..., None], "numpy.expand_dims")
for x in (x3, np.zeros((2, 0, 3)), c.normal(1, 1, 1)):
    c.add("flatten", dict(x=x), x.ravel(), "numpy.ravel")
    c.add("flatten_last", dict(x=x), x.reshape(x.shape[0], -1) if x.size else np.zeros((2, 0)), "numpy.reshape")
    c.add("swap_last", dict(x=x), x.swapaxes(-1, -2), "numpy.swapaxes")
    for name, order in (("bac", (1, 0, 2)), ("bca", (1, 2, 0)), ("cab", (2, 0, 1)), ("cba", (2, 1, 0))):
        c.add(f"permute_{name}", dict(x=x), x.transpose(order), "numpy.transpose")
c.add("permute_bca__rank4", dict(x=x4), x4.transpose(0, 2, 3, 1), "numpy.transpose")
for size in (1, 2, 3, 6):
    c.add("chunks", dict(x=x2, size=size), x2.reshape(3, -1, size), "numpy.reshape")
c.fails("chunks", dict(x=x2, size=4), "R0007", "no whole number of chunks")
for x in (x2, none2, c.normal(1, 1)):
    c.add("flip", dict(x=x), x[..., ::-1], "numpy.flip")
    c.add("flip2d", dict(x=x), x[::-1, ::-1], "numpy.flip")
    c.add("quarter_turn", dict(x=x), np.rot90(x), "numpy.rot90")
    for times in (0, 1, 3):
        c.add("tile", dict(x=x, times=times), np.tile(x, (1, times)), "numpy.tile")
        c.add("repeat", dict(x=x, times=times), np.repeat(x, times, -1), "numpy.repeat")
    c.add("stack_last", dict(a=x, b=2 * x), np.stack([x, 2 * x], -1), "numpy.stack")
    c.add("join", dict(a=x, b=3 * x[:, :1]), np.concatenate([x, 3 * x[:, :1]], -1), "numpy.concatenate")
for x in (x1, none, one):
    c.add("stack", dict(a=x, b=2 * x), np.stack([x, 2 * x]), "numpy.stack")
    c.add("interleave", dict(a=x, b=2 * x), np.stack([x, 2 * x], -1).ravel(), "numpy.stack")
for x in (x2, none2, c.normal(1, 2)):
    c.add("halves", dict(x=x), tuple(np.split(x, 2, -1)), "numpy.split")
for at in (0, 2, 6):
    c.add("split", dict(x=x2, at=at), (x2[:, :at], x2[:, at:]), "numpy.split")
for at, then in ((1, 3), (0, 0), (2, 5)):
    c.add("split_in_three", dict(x=x1, at=at, then=then), tuple(np.split(x1, [at, then])), "numpy.split")
for start, length in ((0, 6), (2, 3), (4, 0), (5, 1)):
    c.add("narrow", dict(x=x2, start=start, length=length), x2[:, start:start + length], "slices of numpy")
c.fails("narrow", dict(x=x2, start=4, length=3), "R0001", "past the end")
for start, stop, step in ((0, 6, 1), (1, 6, 2), (0, 5, 3), (2, 2, 1), (1, 5, 4), (0, 1, 7)):
    c.add("slice", dict(x=x2, start=start, stop=stop, step=step), x2[:, start:stop:step], "slices of numpy")
c.add("slice__every", dict(x=x1, start=1, stop=4), x1[1:4], "slices of numpy")
for start, length, step in ((0, 5, 1), (4, 5, -1), (2, 3, 0), (4, 2, -3), (1, 2, 3), (0, 0, 1)):
    at = start + step * np.arange(length)
    c.add("strided", dict(x=x1, start=start, length=length, step=step), x1[at], "numpy.take")

for before, after in ((0, 0), (2, 0), (0, 1), (3, 2)):
    for x in (x1, none, one):
        c.add("pad", dict(x=x, before=before, after=after, value=1.5),
              np.pad(x, (before, after), constant_values=1.5), "numpy.pad")
    c.add("pad__rank3", dict(x=x3, before=before, after=after, value=-0.5),
          np.pad(x3, ((0, 0), (0, 0), (before, after)), constant_values=-0.5), "numpy.pad")
c.add("pad", dict(x=x1, before=-2, after=1, value=9.0), np.append(x1[2:], 9.0), "torch.nn.functional.pad, by hand")
c.add("pad", dict(x=x1, before=1, after=-3, value=9.0), np.append(9.0, x1[:2]), "torch.nn.functional.pad, by hand")
for sides in ((1, 0, 2, 1), (0, 0, 0, 0), (0, 2, 0, 3)):
    c.add("pad2d", dict(zip(("x", "top", "bottom", "left", "right", "value"), (x2, *sides, 0.25))),
          np.pad(x2, (sides[:2], sides[2:]), constant_values=0.25), "numpy.pad")
for before, after in ((0, 0), (2, 1), (4, 4), (7, 9)):
    for x in (x1, c.normal(2), one):
        for name, mode in (("reflect", "reflect"), ("symmetric", "symmetric"), ("replicate", "edge"), ("circular", "wrap")):
            c.add(f"pad_{name}", dict(x=x, before=before, after=after), np.pad(x, (before, after), mode=mode),
                  f"numpy.pad, {mode}")
for name in ("reflect", "replicate", "circular"):
    c.fails(f"pad_{name}", dict(x=none, before=1, after=0), "R0001", "there is nothing to continue")

for shift in (0, 1, 2, -1, 7, -13):
    c.add("roll", dict(x=x1, shift=shift), np.roll(x1, shift), "numpy.roll")
    c.add("roll__rank2", dict(x=x2, shift=shift), np.roll(x2, shift, -1), "numpy.roll")
c.add("roll", dict(x=none, shift=1), none, "numpy.roll")
c.add("roll", dict(x=one, shift=3), one, "numpy.roll")
c.add("roll", dict(x=np.array([np.nan, np.inf, -0.0]), shift=1), np.array([-0.0, np.nan, np.inf]), "numpy.roll")
c.add("roll__rank4", dict(x=x4, shift=1), np.roll(x4, 1, -1), "numpy.roll")
far = np.array([2**24 + 1, 2**53 + 1, -2**62])
c.add("roll__integers", dict(x=far, shift=1), np.roll(far, 1), "numpy.roll")
for offset in (-3, -1, 0, 1, 2, 6):
    for x in (x2, c.normal(4, 2), none2, c.normal(1, 1)):
        c.add("tril", dict(x=x, offset=offset), np.tril(x, offset), "numpy.tril")
        c.add("triu", dict(x=x, offset=offset), np.triu(x, offset), "numpy.triu")
    c.add("diagonal", dict(x=x2, offset=offset), np.diagonal(x2, offset), "numpy.diagonal")
    c.add("diagonal_matrix", dict(x=x1[:3], offset=offset), np.diag(x1[:3], offset), "numpy.diag")
    c.add("eye", dict(n=3, m=4, offset=offset), np.eye(3, 4, offset), "numpy.eye")
c.add("tril__main", dict(x=x3), np.tril(x3), "numpy.tril")
c.add("triu__main", dict(x=x3), np.triu(x3), "numpy.triu")
c.add("tril", dict(x=np.full((2, 2), np.nan), offset=0), np.array([[np.nan, 0.0], [np.nan, np.nan]]), "by hand")
c.add("diagonal", dict(x=x2, offset=-7), none, "numpy.diagonal")
c.add("diagonal__rank3", dict(x=x3), np.diagonal(x3, axis1=1, axis2=2), "numpy.diagonal")
c.add("eye", dict(n=0, m=2, offset=0), np.zeros((0, 2)), "numpy.eye")
for x, y in ((x1, x2[0]), (one, none)):
    c.add("meshgrid", dict(x=x, y=y), tuple(np.meshgrid(x, y, indexing="ij")), "numpy.meshgrid")
    c.add("meshgrid3d", dict(x=x, y=one, z=y[:2]), tuple(np.meshgrid(x, one, y[:2], indexing="ij")), "numpy.meshgrid")

for size, step, dilation in ((2, 1, 1), (3, 2, 1), (2, 1, 3), (2, 3, 2), (6, 1, 1), (1, 1, 4)):
    windows = np.lib.stride_tricks.sliding_window_view(x2, dilation * (size - 1) + 1, -1)[:, ::step, ::dilation]
    c.add("unfold", dict(x=x2, size=size, step=step, dilation=dilation), windows,
          "numpy.lib.stride_tricks.sliding_window_view")
    w, sums = c.normal(*windows.shape), np.zeros((3, 6))
    for k in range(windows.shape[1]):
        for j in range(size):
            sums[:, k * step + j * dilation] += w[:, k, j]
    c.add("fold_windows", dict(x=w, n=6, step=step, dilation=dilation), sums, "a loop in numpy")
c.add("unfold__plain", dict(x=x1, size=3), np.lib.stride_tricks.sliding_window_view(x1, 3),
      "numpy.lib.stride_tricks.sliding_window_view")
for start, stop, n in ((0.0, 1.0, 5), (2.5, -1.0, 4), (0.1, 0.7, 3), (3.0, 7.0, 1), (1.0, 2.0, 0)):
    c.add("linspace", dict(start=start, stop=stop, n=n), np.linspace(start, stop, n), "numpy.linspace", False,
          dict(start=n / 2 if n > 1 else n, stop=n / 2 if n > 1 else 0.0))
for n in (0, 3):
    c.add("eye__square", dict(n=n), np.eye(n), "numpy.eye")
c.write()
