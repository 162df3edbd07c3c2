"""Cases of `std.conv`, by PyTorch in double precision."""

import torch
import torch.nn.functional as F

from cases import Cases

c = Cases("conv", 106)
c.uses(torch)


def tensor(*shape):
    return torch.tensor(c.normal(*shape))


def convolution(d, x, w, **attributes):
    attributes = dict(dict(stride=1, padding=0, dilation=1, groups=1), **attributes)
    c.add(f"conv{d}d", dict(x=x, w=w, **attributes), getattr(F, f"conv{d}d")(x, w, **attributes), f"torch conv{d}d")


def transposed(d, x, w, **attributes):
    attributes = dict(dict(stride=1, padding=0, output_padding=0, dilation=1, groups=1), **attributes)
    result = getattr(F, f"conv_transpose{d}d")(x, w, **attributes)
    c.add(f"conv_transpose{d}d", dict(x=x, w=w, **attributes), result, f"torch conv_transpose{d}d")


SPACE = {1: (9,), 2: (6, 5), 3: (3, 4, 3)}
TAPS = {1: (3,), 2: (3, 2), 3: (2, 2, 2)}
for d in (1, 2, 3):
    space, taps = SPACE[d], TAPS[d]
    x, w = tensor(2 if d < 3 else 1, 4, *space), tensor(2, 4, *taps)
    convolution(d, x, w)
    convolution(d, x, w, stride=2)
    convolution(d, x, w, padding=2)
    convolution(d, x, w, dilation=2, padding=1)
    convolution(d, x, tensor(4, 2, *taps), groups=2)
    convolution(d, x, tensor(4 if d == 3 else 8, 1, *taps), groups=4, stride=2, padding=1)
    convolution(d, x, tensor(4, 2, *taps), groups=2, stride=3, padding=2, dilation=2)
    convolution(d, x, tensor(1, 4, *([1] * d)))
    convolution(d, tensor(1, 1, *taps), tensor(1, 1, *taps))
    if d < 3:
        c.add(f"conv{d}d__plain", dict(x=x, w=w), getattr(F, f"conv{d}d")(x, w), f"torch conv{d}d")
    w = tensor(4, 2, *taps)
    transposed(d, x, w)
    transposed(d, x, w, stride=2)
    transposed(d, x, w, padding=1)
    transposed(d, x, w, stride=3, output_padding=2)
    transposed(d, x, w, dilation=2)
    transposed(d, x, w, groups=2)
    transposed(d, x, w, stride=2, padding=1, output_padding=1, dilation=2, groups=4)
    transposed(d, tensor(1, 4, *([1] * d)), w, stride=2)
x, w = tensor(2, 3, 6, 7), tensor(2, 3, 3, 2)
c.add("convolved", dict(x=x, w=w), F.conv2d(x, w, stride=(2, 1), padding=(0, 2), dilation=(1, 3)), "torch conv2d")
w = tensor(3, 2, 3, 2)
c.add("conv_transpose2d__plain", dict(x=x, w=w), F.conv_transpose2d(x, w), "torch conv_transpose2d")
c.add("convolved_back", dict(x=x, w=w), F.conv_transpose2d(x, w, None, (2, 1), (1, 0), (1, 0), 1, (1, 2)),
      "torch conv_transpose2d")
# No images, no channels, no outputs.
convolution(2, tensor(0, 2, 4, 4), tensor(3, 2, 3, 3))
empty = torch.zeros(1, 0, 2, 2, dtype=torch.float64)
c.add("conv2d", dict(x=torch.zeros(1, 0, 4, 4), w=torch.zeros(2, 0, 3, 3), stride=1, padding=0, dilation=1, groups=1),
      torch.zeros(1, 2, 2, 2), "an empty sum")
c.fails("conv2d", dict(x=tensor(1, 3, 4, 4), w=tensor(2, 2, 3, 3), stride=1, padding=0, dilation=1, groups=1), "R0007",
        "kernels for two channels, three there")
c.fails("conv2d", dict(x=tensor(1, 4, 4, 4), w=tensor(3, 2, 3, 3), stride=1, padding=0, dilation=1, groups=2), "R0007",
        "three outputs in two groups")
x, b = tensor(2, 3, 2, 2), tensor(3)
c.add("channel_bias", dict(y=x, bias=b), x + b[:, None, None], "torch broadcasting")
c.write()
