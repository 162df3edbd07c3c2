"""A framework that differentiates, on the arguments of one benchmark, asked line by line.

    serve.py versions
    serve.py FRAMEWORK OBJECTIVE ARGUMENTS.npz ENTRIES.npy

The first form prints which frameworks are installed. The second compiles every formulation that the module of the
objective has, keeps the one whose derivative is fastest, writes the derivative entries and answers with what it found.
Then it answers each line `function N` or `derivative N` with the seconds of N calls, on arguments that differ from the
last ones. An answer is one JSON object on a line; the process ends with its input.
"""

import gc
import importlib
import importlib.metadata
import json
import os
import sys
import time

import numpy as np

FRAMEWORKS = ["jax", "torch"]
# Formulations are compared by the fastest of this many calls.
TRIALS = 3


class Nudged:
    """Arguments that change between samples, so that nothing can be kept from an earlier call.

    The last bit of one element of each float array is turned before a sample, and turned back before the next.
    """

    def __init__(self, arguments):
        self.arguments = arguments
        self.turns = 0

    def turn(self):
        for name, array in self.arguments.items():
            if array.dtype == np.float64 and array.size > 0:
                bits = array.view(np.uint64).reshape(-1)
                at = self.turns // 2 % array.size
                # Zeros stay: beside them lie subnormal numbers, which take longer.
                if array.reshape(-1)[at] != 0.0:
                    bits[at] ^= np.uint64(1)
        self.turns += 1
        return self.arguments


def seconds_of(call, repeats):
    """Seconds of so many calls on the wall, and on the clocks of all threads together; the last result."""
    gc.disable()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        result = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    gc.enable()
    return wall, cpu, result


def fastest(framework, formulations, arguments):
    """The name of the formulation whose derivative is fastest, its compiled pair, and the seconds of its first calls."""
    best = None
    for name, pair in formulations.items():
        function, derivative = (framework.compiled(f) for f in pair)
        first = seconds_of(lambda: (function(arguments), derivative(arguments)), 1)[0]
        trials = range(TRIALS if len(formulations) > 1 else 1)
        least = min(seconds_of(lambda: derivative(arguments), 1)[0] for _ in trials)
        if best is None or least < best[0]:
            best = (least, name, function, derivative, first)
    return best[1:]


def serve(channel, name, objective, source, target):
    framework = importlib.import_module("in_" + name)
    module = importlib.import_module("in_%s.%s" % (name, objective))
    # Scalars arrive as arrays without axes; a copy of each can be written to.
    nudged = Nudged({key: np.array(array) for key, array in np.load(source).items()})
    arguments = framework.placed(nudged.arguments)
    chosen, function, derivative, compile_s = fastest(framework, module.formulations(nudged.arguments), arguments)
    np.save(target, np.concatenate([np.ravel(part) for part in framework.numbers(derivative(arguments)[1])]))
    answer(
        channel,
        version=framework.VERSION,
        formulation=chosen,
        value=float(framework.numbers([function(arguments)])[0]),
        compile_s=compile_s,
    )
    calls = {"function": lambda: (function(arguments), []), "derivative": lambda: derivative(arguments)}
    checksum = 0.0
    for line in sys.stdin:
        which, repeats = line.split()
        arguments = framework.placed(nudged.turn())
        seconds, cpu_seconds, (value, entries) = seconds_of(calls[which], int(repeats))
        parts = framework.numbers([part for part in [value, *entries] if part is not None])
        checksum += sum(float(np.ravel(part)[nudged.turns % np.size(part)]) for part in parts)
        answer(channel, seconds=seconds, cpu_seconds=cpu_seconds, checksum=checksum)


def answer(channel, **fields):
    print(json.dumps(fields), file=channel, flush=True)


def versions():
    found = {}
    for name in FRAMEWORKS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def main():
    # What libraries print is no answer.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if sys.argv[1:] == ["versions"]:
        answer(channel, **versions())
    else:
        serve(channel, *sys.argv[1:])


if __name__ == "__main__":
    main()
