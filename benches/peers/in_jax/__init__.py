"""JAX on one thread of a CPU, in double precision.

An objective is a module with `formulations(arguments)`: under each name a pair of the function and its derivative, both of
a dictionary of placed arguments. The function gives a scalar, the derivative a pair of the value, or None, and a list of
entries. Integers without axes are sizes: they are not placed, `formulations` reads them.
"""

import os

# No pool for matrix products, and one thread for everything else that the compiler would spread.
FLAGS = ["--xla_cpu_multi_thread_eigen=false", "intra_op_parallelism_threads=1"]
# The instruction sets to which the benchmark may limit everybody.
ISAS = {"x86-64-v3": "AVX2", "x86-64-v4": "AVX512"}
if "COTAN_PEERS_CPU" in os.environ:
    FLAGS.append("--xla_cpu_max_isa=" + ISAS[os.environ["COTAN_PEERS_CPU"]])
os.environ["XLA_FLAGS"] = " ".join(FLAGS)
os.environ["NPROC"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
# The caller has nothing else to do than wait, so most calls need no other thread.
jax.config.update("jax_cpu_enable_async_dispatch", False)

VERSION = jax.__version__


def placed(arguments):
    """Copies of the arguments as arrays of the framework."""
    return jax.block_until_ready({
        name: jnp.array(array, copy=True)
        for name, array in arguments.items()
        if array.ndim > 0 or array.dtype.kind == "f"
    })


def compiled(f):
    f = jax.jit(f)
    return lambda arguments: jax.block_until_ready(f(arguments))


def numbers(parts):
    return [np.asarray(part) for part in parts]


def entries(parts):
    """Derivatives as numbers. That in a complex number is the conjugate of what two real ones make."""
    return [np.conj(part) for part in numbers(parts)]


def gradient(function, names):
    """The value and the gradient in the arguments of these names, in reverse mode."""

    def derivative(arguments):
        value, parts = jax.value_and_grad(lambda wrt: function({**arguments, **wrt}))({n: arguments[n] for n in names})
        return value, [parts[name] for name in names]

    return derivative
