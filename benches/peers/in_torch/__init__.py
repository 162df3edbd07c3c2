"""PyTorch on one thread of a CPU, in double precision.

An objective is a module with `formulations(arguments)`, as in `in_jax`. Operations run as they are called; where there is a
C++ compiler and no long loop, `torch.compile` is a second formulation.
"""

import os
import shutil

# The instruction sets to which the benchmark may limit everybody, by the names of the library and of that for its products.
ISAS = {"x86-64-v3": ("avx2", "AVX2"), "x86-64-v4": ("avx512", "AVX512")}
if "COTAN_PEERS_CPU" in os.environ:
    capability, products = ISAS[os.environ["COTAN_PEERS_CPU"]]
    os.environ["ATEN_CPU_CAPABILITY"] = capability
    os.environ["MKL_ENABLE_INSTRUCTIONS"] = products

import torch

torch.set_num_threads(1)
torch.set_num_interop_threads(1)
torch.set_default_dtype(torch.float64)

VERSION = torch.__version__


def placed(arguments):
    """Copies of the arguments as tensors."""
    return {
        name: torch.tensor(array) for name, array in arguments.items() if array.ndim > 0 or array.dtype.kind == "f"
    }


def compiled(f):
    """What `serve.py` times; formulations are compiled already where they can be."""
    return f


def has_compiler():
    return shutil.which(os.environ.get("CXX", "g++")) is not None


def numbers(parts):
    return [part.detach().resolve_conj().numpy() for part in parts]


def entries(parts):
    """Derivatives as numbers."""
    return numbers(parts)


def quiet(function):
    """A function that records nothing for a derivative."""

    def call(arguments):
        with torch.no_grad():
            return function(arguments)

    return call


def reverse(function, names):
    """The function, and its value with its gradient in the arguments of these names."""

    def derivative(arguments):
        wrt = {name: arguments[name].detach().requires_grad_() for name in names}
        value = function({**arguments, **wrt})
        parts = torch.autograd.grad(value, list(wrt.values()))
        # One number seen through a view of many is no array yet.
        return value, [part.contiguous() for part in parts]

    return quiet(function), derivative


def eager_and_compiled(function, names):
    """Both formulations of a function with a gradient in reverse mode."""
    found = {"autograd": reverse(function, names)}
    if has_compiler():
        found["autograd, torch.compile"] = reverse(torch.compile(function), names)
    return found
