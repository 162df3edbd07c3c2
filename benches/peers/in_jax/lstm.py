"""The loss of predicting each element of a sequence from those before it, with layers of LSTM cells.

The gates of a cell see only that cell: weights multiply element by element. weights[layer, 0] multiplies, weights[layer, 1]
is added; the rows are forget, input, output, change. extra holds the weights of the input, those of the prediction, and
its bias; state[layer] holds the hidden and the cell state before the first element.
"""

import jax
import jax.numpy as jnp

from . import gradient


def formulations(arguments):
    n_layers = arguments["weights"].shape[0]
    length, size = arguments["sequence"].shape

    def lstm(a, unroll):
        def step(state, pair):
            element, following = pair
            y = element * a["extra"][0]
            hidden, cells = [], []
            for layer in range(n_layers):
                w, b = a["weights"][layer]
                h, c = state[0][layer], state[1][layer]
                forget = jax.nn.sigmoid(y * w[0] + b[0])
                entering = jax.nn.sigmoid(h * w[1] + b[1])
                leaving = jax.nn.sigmoid(y * w[2] + b[2])
                change = jnp.tanh(h * w[3] + b[3])
                c = c * forget + entering * change
                y = leaving * jnp.tanh(c)
                hidden.append(y)
                cells.append(c)
            prediction = y * a["extra"][1] + a["extra"][2]
            normalisation = jnp.log(2.0 + jnp.exp(prediction).sum())
            return (hidden, cells), (following * (prediction - normalisation)).sum()

        start = (list(a["state"][:, 0]), list(a["state"][:, 1]))
        pairs = (a["sequence"][:-1], a["sequence"][1:])
        return -jax.lax.scan(step, start, pairs, unroll=unroll)[1].sum() / (size * (length - 1))

    def formulation(unroll):
        function = lambda a: lstm(a, unroll)
        return function, gradient(function, ["weights", "extra"])

    return {"scan": formulation(1), "scan, 8 steps unrolled": formulation(8)}
