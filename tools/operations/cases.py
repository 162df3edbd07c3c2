"""Cases of `spec/operations/*.json`: calls of wrapper functions with what another library gives for them.

Each generator beside this file writes one JSON file; `python tools/operations/NAME.py` runs it. Seeds are fixed, the
versions of the libraries are recorded, and tests need none of this.
"""

import json
import pathlib
import platform
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "spec" / "operations"


def notation(value):
    """A value in the JSON notation of the `cotan` command."""
    if isinstance(value, tuple):
        return [notation(part) for part in value]
    if hasattr(value, "detach"):
        value = value.detach().numpy()
    array = np.asarray(value)
    if array.size == 0 and array.ndim > 0:
        return {"shape": list(array.shape), "data": []}
    if array.ndim > 0:
        return [notation(part) for part in array]
    scalar = array.item()
    if isinstance(scalar, float) and not np.isfinite(scalar):
        return "nan" if np.isnan(scalar) else "inf" if scalar > 0 else "-inf"
    return scalar


def complex_step(f, args, wrt=None):
    """The gradient of the sum of all elements of `f(**args)`, for an `f` that is analytic where it is asked.

    The imaginary part of `f` at a point with a tiny imaginary part is the derivative, without a difference to round
    (Squire and Trapp, SIAM Review 40, 1998).
    """
    step = 1e-30
    floats = {name for name, value in args.items() if np.asarray(value).dtype == float} if wrt is None else wrt
    gradient = {}
    for name in floats:
        value = np.asarray(args[name], dtype=float)
        slopes = np.zeros(value.shape)
        for at in np.ndindex(value.shape):
            moved = value.astype(complex)
            moved[at] += 1j * step
            slopes[at] = np.sum(f(**(args | {name: moved if value.ndim else moved[()]}))).imag / step
        gradient[name] = slopes
    return {name: gradient[name] for name in args if name in gradient}


class Cases:
    """The cases of a module `std.NAME`."""

    def __init__(self, name, seed):
        self.name = name
        self.random = np.random.default_rng(seed)
        self.cases = []
        self.libraries = {"python": platform.python_version(), "numpy": np.__version__}

    def uses(self, library):
        """Records the version of a library."""
        self.libraries[library.__name__] = library.__version__

    def normal(self, *shape):
        """Standard normal numbers with few digits, of which no two are equal by design."""
        return np.round(self.random.standard_normal(shape), 4)

    def distinct(self, *shape):
        """Numbers no two of which are closer than a tenth."""
        n = int(np.prod(shape))
        return (self.random.permutation(n).reshape(shape) - n // 2) * 0.25 + 0.125

    def integers(self, low, high, *shape):
        """Whole numbers from `low` to below `high`."""
        return self.random.integers(low, high, shape)

    def add(self, function, args, result, source, kinks=False, gradient=None):
        """A case of a wrapper `OPERATION` or `OPERATION__VARIANT`."""
        case = {
            "function": function,
            "operation": f"std.{self.name}.{function.split('__')[0]}",
            "args": {name: notation(value) for name, value in args.items()},
            "result": notation(result),
            "source": source,
            "kinks": kinks,
        }
        if gradient is not None:
            case["gradient"] = {name: notation(value) for name, value in gradient.items()}
        self.cases.append(case)

    def fails(self, function, args, code, source):
        """A case that ends in a run-time error."""
        self.cases.append({
            "function": function,
            "operation": f"std.{self.name}.{function.split('__')[0]}",
            "args": {name: notation(value) for name, value in args.items()},
            "error": code,
            "source": source,
            "kinks": False,
        })

    def write(self):
        """Writes the file, a case a line."""
        lines = ",\n".join(json.dumps(case, allow_nan=False) for case in self.cases)
        generator = f"tools/operations/{pathlib.Path(sys.argv[0]).name}"
        head = f'"provenance": {json.dumps({"generator": generator, "libraries": self.libraries})}'
        (FOLDER / f"{self.name}.json").write_text(f'{{{head},\n"cases": [\n{lines}\n]}}\n')
        print(f"{self.name}: {len(self.cases)} cases of {len({c['function'] for c in self.cases})} functions")
