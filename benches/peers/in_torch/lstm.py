"""The loss of an LSTM on a sequence; the formula stands in `in_jax/lstm.py`."""

import torch

from . import reverse


def formulations(arguments):
    n_layers = arguments["weights"].shape[0]
    length, size = arguments["sequence"].shape

    def lstm(a):
        hidden, cells = list(a["state"][:, 0]), list(a["state"][:, 1])
        scales, shifts = a["weights"].unbind(1)
        scales, shifts = scales.unbind(0), shifts.unbind(0)
        last = []
        for element in a["sequence"][:-1]:
            y = element * a["extra"][0]
            for layer in range(n_layers):
                # The four gates of a layer are one operation.
                gates = torch.stack([y, hidden[layer], y, hidden[layer]]) * scales[layer] + shifts[layer]
                forget, entering, leaving = torch.sigmoid(gates[:3])
                cells[layer] = cells[layer] * forget + entering * torch.tanh(gates[3])
                hidden[layer] = y = leaving * torch.tanh(cells[layer])
            last.append(y)
        prediction = torch.stack(last) * a["extra"][1] + a["extra"][2]
        normalisation = torch.log(2.0 + torch.exp(prediction).sum(1, keepdim=True))
        return -(a["sequence"][1:] * (prediction - normalisation)).sum() / (size * (length - 1))

    return {"autograd": reverse(lstm, ["weights", "extra"])}
