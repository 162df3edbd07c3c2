"""A framework that differentiates, on the arguments of one benchmark, asked line by line.

    serve.py versions
    serve.py FRAMEWORK OBJECTIVE ARGUMENTS.npz ENTRIES.npy

The first form prints which frameworks are installed. The second compiles every formulation that the module of the
objective has, keeps the one whose derivative is fastest, writes the derivative entries and answers with what it found.
`MODULE.ROW` is one of several objectives in a module. Of a function that gives no scalar the result is written before the
entries. Then it answers each line `function N` or `derivative N` with the seconds of N calls, on arguments that differ
from the last ones. An answer is one JSON object on a line; the process ends with its input.
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

    BITS = {np.dtype(np.float64): np.uint64, np.dtype(np.float32): np.uint32}

    def __init__(self, arguments):
        self.arguments = arguments
        self.turns = 0

    def turn(self):
        for name, array in self.arguments.items():
            kind = self.BITS.get(array.dtype)
            if kind is not None and array.size > 0:
                bits = array.view(kind).reshape(-1)
                at = self.turns // 2 % array.size
                # Zeros stay: beside them lie subnormal numbers, which take longer.
                if array.reshape(-1)[at] != 0.0:
                    bits[at] ^= kind(1)
        self.turns += 1


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


def flat(part):
    """The elements of an array; a complex number is two."""
    part = np.ravel(part)
    return part.view(part.real.dtype) if np.iscomplexobj(part) else part


def serve(channel, name, objective, source, target):
    framework = importlib.import_module("in_" + name)
    objective, _, row = objective.partition(".")
    module = importlib.import_module("in_%s.%s" % (name, objective))
    # Scalars arrive as arrays without axes; a copy of each can be written to.
    nudged = Nudged({key: np.array(array) for key, array in np.load(source).items()})
    pairs = module.COMPLEX.get(row, []) if row else []

    def placed():
        given = dict(nudged.arguments)
        for key in pairs:
            given[key] = given[key].view(np.result_type(given[key].dtype, np.complex64))[..., 0]
        return framework.placed(given)

    arguments = placed()
    formulations = module.formulations(nudged.arguments, *([row] if row else []))
    chosen, function, derivative, compile_s = fastest(framework, formulations, arguments)
    value, entries = derivative(arguments)
    result = framework.numbers([function(arguments)])[0]
    before = [result] if result.ndim > 0 else []
    np.save(target, np.concatenate([flat(part) for part in [*before, *framework.entries(entries)]]))
    answer(
        channel,
        version=framework.VERSION,
        formulation=chosen,
        value=float(result if value is None else framework.numbers([value])[0]),
        compile_s=compile_s,
    )
    calls = {"function": lambda: (function(arguments), []), "derivative": lambda: derivative(arguments)}
    checksum = 0.0
    for line in sys.stdin:
        which, repeats = line.split()
        nudged.turn()
        arguments = placed()
        seconds, cpu_seconds, (value, entries) = seconds_of(calls[which], int(repeats))
        parts = framework.numbers([part for part in [value, *entries] if part is not None])
        checksum += sum(float(part[nudged.turns % part.size]) for part in map(flat, parts))
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
