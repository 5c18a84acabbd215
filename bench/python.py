"""python.py FOLDER: calls from Python beside the least that Python can do, taking turns within one run
as the other benchmarks do. Figures on stdout, every sample in FOLDER/raw-python.tsv."""

import itertools
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

folder = pathlib.Path(sys.argv[1])
os.environ["FERRULE_CACHE_DIR"] = str(folder / "cache")

import ferrule  # noqa: E402 - the environment is read when it is first needed
import python_peers  # noqa: E402
from ferrule import DType, Graph, Tensor, TensorType, custom  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

SOURCE = """#include <ferrule/kernel.h>
KERNEL(half, OUT(f32, 3, y), IN(f32, 3, x))
{
    AT(y, 0, 0, 0) = AT(x, 0, 0, 0);
    return OK;
}
"""
ROUNDS, COUNT = 301, 2000


def loop(code, **names):
    """A function that runs the code `count` times, with its names as fast as they can be."""
    text = f"def work(count, {', '.join(f'{n}={n}' for n in names)}):\n"
    text += f"    for _ in repeat(None, count):\n        {code}\n"
    scope = {**names, "repeat": itertools.repeat}
    exec(text, scope)
    return scope["work"]


def measure(table, unit, cases, rounds, count, raw):
    """Case 0 is the floor. `count` repetitions of each case, in turn."""
    samples = {name: [] for name in cases}
    for work in cases.values():
        work(count)
    for number in range(rounds):
        for name, work in cases.items():
            start = time.perf_counter_ns()
            work(count)
            took = (time.perf_counter_ns() - start) / count / unit
            samples[name].append(took)
            print(table, name, number, f"{took:.3f}", sep="\t", file=raw)
    floor = next(iter(samples.values()))
    print(f"{table}\n  {'ns' if unit == 1 else 'ms':44} {'minimum':>11} {'median':>11} {'over floor':>11} {'ratio':>8}")
    for name, taken in samples.items():
        over = statistics.median(a - b for a, b in zip(taken, floor))
        median = statistics.median(taken)
        ratio = median / statistics.median(floor)
        print(f"  {name:44} {min(taken):11.1f} {median:11.1f} {over:11.1f} {ratio:8.2f}")
    print()


def call_cases():
    op = custom.declare("half(x: f32[n, w, c]) -> f32[n, w // 2, c]", source=SOURCE)
    x, y = Tensor.ones((2, 8, 3)), Tensor.ones((2, 4, 3))
    with Graph("g", [TensorType(DType.float32, ["n", "w", "c"])]) as graph:
        graph.output(op(graph.inputs[0]))
    cases = {
        "floor: a METH_FASTCALL function, math.gcd(1)": loop("gcd(1)", gcd=math.gcd),
        "an empty lambda": loop("empty(x)", empty=lambda x: None, x=x),
        "op(x), result allocated": loop("op(x)", op=op, x=x),
        "op(x, out=y)": loop("op(x, out=y)", op=op, x=x, y=y),
        "op(x=x)": loop("op(x=x)", op=op, x=x),
        "model(x), a graph of one op": loop("model(x)", model=graph.compile(), x=x),
    }
    if numpy is not None:
        a, b = numpy.ones((2, 8, 3), "f4"), numpy.ones((2, 4, 3), "f4")
        cases["floor of two arrays: memoryview(a), memoryview(b)"] = loop("view(a), view(b)", view=memoryview, a=a, b=b)
        cases["op(a), a NumPy array"] = loop("op(a)", op=op, a=a)
        cases["op(a, out=b), NumPy arrays"] = loop("op(a, out=b)", op=op, a=a, b=b)
    return cases | python_peers.cases(op, loop, folder / "peers")


def process(code):
    def work(count):
        for _ in range(count):
            subprocess.run([sys.executable, "-c", code, SOURCE], check=True)

    return work


with open(folder / "raw-python.tsv", "w", encoding="utf-8") as raw:
    print("table", "case", "round", "time", sep="\t", file=raw)
    measure("eager call from Python, f32[2, 8, 3]", 1, call_cases(), ROUNDS, COUNT, raw)
    declare = (
        "import sys; from ferrule import custom\n"
        "custom.declare('half(x: f32[n, w, c]) -> f32[n, w // 2, c]', source=sys.argv[1])"
    )
    processes = {
        "floor: python -c pass": process("pass"),
        "import ferrule": process("import ferrule"),
        "import, and declare what is compiled": process(declare),
    }
    if numpy is not None:
        processes["import numpy"] = process("import numpy")
    measure("a fresh process of Python", 1e6, processes, 15, 1, raw)
print(f"ferrule {ferrule.__version__}, Python {sys.version.split()[0]}; every sample: {folder / 'raw-python.tsv'}")
