"""try_wheel.py SOURCE WHEEL: the wheel needs nothing that is not on every machine, works in an
environment of its own outside the repository, and goes on working when its files are moved."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

source, wheel = (pathlib.Path(path).resolve() for path in sys.argv[1:])
# The examples of docs/python.md.
PAGE = """
import doctest, pathlib, sys, ferrule
assert pathlib.Path(ferrule.__file__).parent == pathlib.Path(sys.argv[1]) / "ferrule", ferrule.__file__
print(doctest.testfile(sys.argv[2], module_relative=False, optionflags=doctest.ELLIPSIS).failed)
"""
# The OpenMP runtimes that are loaded: beside NumPy, and when a kernel has run on several threads.
RUNTIMES = """
import re, numpy, ferrule
def runtimes():
    return len(set(re.findall(r"/\\S*lib(?:g|i)?omp\\S*", open("/proc/self/maps").read())))
print(runtimes(), (ferrule.Tensor.ones(1 << 20) + 1)[0].item(), runtimes())
"""
EVERYWHERE = {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


def check(fact, words):
    if not fact:
        sys.exit(f"{wheel.name}: {words}")


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(
        [str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE, **options
    ).stdout


def environment(**changes):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "FERRULE"))}
    return {**kept, **changes}


with tempfile.TemporaryDirectory(prefix="ferrule wheel ") as folder:
    folder = pathlib.Path(folder)
    unpacked = folder / "moved here"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
        for info in archive.infolist():
            os.chmod(unpacked / info.filename, info.external_attr >> 16 or 0o644)
    for binary in [*unpacked.glob("ferrule/_core*.so"), unpacked / "ferrule/bin/ferrule"]:
        needed = {pathlib.Path(word).name for word in re.findall(r"^\s*(\S+)", run("ldd", binary), re.M)}
        check(needed <= EVERYWHERE, f"{binary.name} needs {needed - EVERYWHERE}")
    for name in "py.typed", "share/ferrule/kernels/blas/package.ini":
        check((unpacked / "ferrule" / name).is_file(), f"{name} is missing")

    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[small-floats]")
    (installed,) = (folder / "venv").glob("lib/*/site-packages")
    shutil.copytree(source / "examples/kernels", folder / "examples/kernels")
    shutil.copy(source / "examples/quickstart.py", folder / "examples")
    clean = environment(FERRULE_CACHE_DIR=str(folder / "cache"))
    expected = "(2, 4, 3)\n(SymbolicDim('h'), AlgebraicDim('w // 4'), StaticDim(3))\n(4, 2, 3)\n"
    for place, options in (installed, clean), (unpacked, {**clean, "PYTHONPATH": str(unpacked)}):
        out = run(python, folder / "examples/quickstart.py", cwd=folder, env=options)
        check(out == expected, f"the quick start printed {out!r}")
        out = run(python, "-c", "from ferrule import *; print((Tensor([1]) + 1).tolist())", cwd=folder, env=options)
        check(out == "[2]\n", f"the standard package: {out!r}")
        out = run(python, "-m", "ferrule", "--version", cwd=folder, env=options)
        check(out.startswith("ferrule "), f"the command: {out!r}")
        out = run(python, "-c", PAGE, place, source / "docs/python.md", cwd=folder, env=options)
        check(out == "0\n", f"the examples of docs/python.md: {out}")
        out = run(python, "-c", RUNTIMES, cwd=folder, env=options)
        check(out == "0 2.0 1\n", f"the OpenMP runtimes: {out!r}")
    out = run(folder / "venv/bin/ferrule", "list", "std", env=clean)
    check("softmax" in out, "the script `ferrule` does not find std")
print(f"{wheel.name}: works, and needs only what every machine has")
