"""The operations of `benches/operations/operations.cot`: each forward, and the gradient of its result times weights."""

import torch

from . import quiet, reverse

# What is an array of complex numbers here, and pairs of numbers elsewhere.
COMPLEX = {"transformed": ["x", "w"]}

# Each operation, and what it is differentiated in.
ROWS = {
    "total": (lambda a: a["x"].sum(), ["x"]),
    "softmax_rows": (lambda a: torch.softmax(a["x"], -1), ["x"]),
    "cumsum_rows": (lambda a: torch.cumsum(a["x"], -1), ["x"]),
    "cumsum_vector": (lambda a: torch.cumsum(a["x"], -1), ["x"]),
    "sorted": (lambda a: torch.sort(a["x"], stable=True).values, ["x"]),
    "gathered": (lambda a: a["x"].index_select(0, a["at"]), ["x"]),
    "solved": (lambda a: torch.linalg.solve(a["a"], a["b"]), ["a", "b"]),
    "convolution": (lambda a: torch.nn.functional.conv2d(a["x"], a["k"], padding="same"), ["x", "k"]),
    "transformed": (lambda a: torch.fft.fft(a["x"]), ["x"]),
}


def weighted(forward):
    def value(a):
        w, y = a["w"], forward(a)
        if y.is_complex():
            return (torch.view_as_real(w) * torch.view_as_real(y)).sum()
        return (w * y).sum()

    return value


def formulations(arguments, row):
    forward, names = ROWS[row]
    return {"autograd": (quiet(forward), reverse(weighted(forward), names)[1])}
