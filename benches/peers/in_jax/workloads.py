"""The workloads of `benches/workloads`, each a module in the folder of its program."""

import importlib.util
import pathlib

FOLDER = pathlib.Path(__file__).parents[2] / "workloads"
# No workload has complex numbers.
COMPLEX = {}


def formulations(arguments, row):
    spec = importlib.util.spec_from_file_location("workload_" + row, FOLDER / row / "in_jax.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.formulations(arguments)
