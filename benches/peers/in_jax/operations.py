"""The operations of `benches/operations/operations.cot`: each forward, and the gradient of its result times weights."""

import jax
import jax.numpy as jnp

from . import gradient

# What is an array of complex numbers here, and pairs of numbers elsewhere.
COMPLEX = {"transformed": ["x", "w"]}


def total(a):
    return jnp.sum(a["x"])


def softmax_rows(a):
    return jax.nn.softmax(a["x"], axis=-1)


def cumsum(a):
    return jnp.cumsum(a["x"], axis=-1)


def ordered(a):
    return jnp.sort(a["x"])


def gathered(a):
    return a["x"].at[a["at"]].get(mode="promise_in_bounds")


def solved(a):
    return jnp.linalg.solve(a["a"], a["b"][..., None])[..., 0]


def convolution(a):
    return jax.lax.conv_general_dilated(a["x"], a["k"], (1, 1), "SAME")


def convolution_by_rows(a):
    """The same with channels innermost, which is what the library of products behind it likes best."""
    x, k = a["x"].transpose(0, 2, 3, 1), a["k"].transpose(2, 3, 1, 0)
    y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y.transpose(0, 3, 1, 2)


def transformed(a):
    return jnp.fft.fft(a["x"])


# Each operation in one way or several, and what it is differentiated in.
ROWS = {
    "total": ([total], ["x"]),
    "softmax_rows": ([softmax_rows], ["x"]),
    "cumsum_rows": ([cumsum], ["x"]),
    "cumsum_vector": ([cumsum], ["x"]),
    "sorted": ([ordered], ["x"]),
    "gathered": ([gathered], ["x"]),
    "solved": ([solved], ["a", "b"]),
    "convolution": ([convolution, convolution_by_rows], ["x", "k"]),
    "transformed": ([transformed], ["x"]),
}


def weighted(forward):
    def value(a):
        w, y = a["w"], forward(a)
        return jnp.sum(w.real * y.real + w.imag * y.imag) if jnp.iscomplexobj(y) else jnp.sum(w * y)

    return value


def formulations(arguments, row):
    ways, names = ROWS[row]
    return {way.__name__: (way, gradient(weighted(way), names)) for way in ways}
