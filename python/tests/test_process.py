"""What concerns the process: memory, references, threads, signals, forks, its end."""

import concurrent.futures
import contextlib
import ctypes
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

import ferrule
from ferrule import CompileError, DType, Graph, KernelError, Tensor, TensorType, custom


def python(code, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


def succeeds(code, *arguments):
    run = python(code, *arguments)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


class Figures(ctypes.Structure):
    """What mallinfo2 of the C library gives."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def held():
    """Blocks of Python's allocator, and bytes of malloc's, that are in use."""
    read = ctypes.CDLL(None).mallinfo2
    read.restype = Figures
    gc.collect()
    figures = read()
    return sys.getallocatedblocks(), figures.uordblks + figures.hblkhd


def flat(work, count):
    """After a warm-up nothing is held any more that was not held before, but for some hundred blocks
    in lists of Python's own: `count` is larger, so what each turn leaves behind shows."""
    work(count // 4)
    blocks, size = held()
    work(count)
    more_blocks, more_bytes = (after - before for after, before in zip(held(), (blocks, size)))
    assert more_blocks < 400 < count and more_bytes < 32768, (more_blocks, more_bytes)


COUNT = int(os.environ.get("FERRULE_LEAK_CALLS", "5000"))


def test_calls_leak_nothing(ops):
    np = pytest.importorskip("numpy")
    x, y, array = Tensor.ones(3), Tensor.ones(3), np.ones((3, 2), "f4")
    same, add = ops.same, ops.add_scalar

    def work(count):
        for _ in range(count):
            same(x)
            same(x, out=y)
            same(x=x)
            same(array)
            same(array.T)
            same(array, out=np.empty_like(array))
            add(x, 2.0)
            Tensor.from_numpy(array)
            np.from_dlpack(x)
            x.numpy()
            x[1:]
            x.tolist()

    flat(work, COUNT)


def test_failing_calls_leak_nothing(ops):
    np = pytest.importorskip("numpy")
    x, y = Tensor.ones(3), Tensor.ones(4)
    odd = np.ones(3, ">f4")
    bad = Tensor([-1.0])
    failing = [
        lambda: ops.dot(x, y),
        lambda: ops.dot(x),
        lambda: ops.dot(x, None),
        lambda: ops.dot(x, c=x),
        lambda: ops.dot(x, odd),
        lambda: ops.same(x, out=y),
        lambda: ops.checked(bad),
        lambda: ops.group[{"g": "4"}],
        lambda: Tensor([[1], 2]),
        lambda: ferrule.Dim("n +"),
        lambda: custom.declare("f(x f32[n]) -> f32[n]", source="x"),
        lambda: custom.declare("f", {"x": custom.TemplateType("f32", ["n"])}, [], source="x"),
    ]

    def work(count):
        for _ in range(count):
            for call in failing:
                try:
                    call()
                except (TypeError, ValueError, NotImplementedError, KernelError):
                    continue
                raise AssertionError

    flat(work, COUNT // 5)


def test_declarations_leak_nothing(ops, kernels):
    n = custom.Symbol("n")

    def work(count):
        for _ in range(count):
            op = custom.declare("dot", custom_extensions=kernels)
            op.inputs, op.outputs, op.parameters, op.extensions, op.token, repr(op)
            ops.scale[{"by": 2.0}]
            custom.TemplateType(DType.float32, [n // 2, custom.Run("s")])
            with Graph("g", [TensorType("f32", ["n"])]) as graph:
                graph.output(op(*graph.inputs * 2))
            graph.compile()(Tensor.ones(2))

    flat(work, COUNT // 8)


def test_threads(ops, kernels):
    """Many threads declare, call and run at once."""
    with Graph("g", [TensorType("f32", ["n"])]) as graph:
        graph.output(ops.same(graph.inputs[0]))
    model = graph.compile()
    failures = []

    def work(seed):
        try:
            for i in range(200):
                x = Tensor.full(seed + 1, float(i))
                assert ops.same(x).tolist() == model(x).tolist() == [float(i)] * (seed + 1)
                assert ops.as_type[{"to": DType.int32}](x).tolist()[0] == i
                with pytest.raises(ValueError):
                    ops.dot(x, Tensor.ones(seed + 2))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def runs_meanwhile(work):
    """Whether another thread gets to run Python while `work` does."""
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    time.sleep(0.05)
    before = ticks
    work()
    after = ticks
    done.set()
    thread.join()
    return after - before


def test_a_kernel_lets_others_run(ops):
    work = Tensor(60)
    assert runs_meanwhile(lambda: ops.busy(work)) >= 3
    # Also when calls of this size were quick before: some are measured again.
    quick = Tensor(0)
    for _ in range(600):
        ops.busy(quick)
    assert runs_meanwhile(lambda: [ops.busy(work) for _ in range(3)]) >= 3


def test_a_compiler_lets_others_run():
    source = "#include <ferrule/kernel.h>\nKERNEL(f, OUT(f32, 0, y), IN(f32, 0, x))\n{\n    AT(y) = AT(x) + %d;\n    return OK;\n}\n"
    seed = int.from_bytes(os.urandom(3), "big")
    assert runs_meanwhile(lambda: custom.declare("f(x: f32[]) -> f32[]", source=source % seed)) >= 3


SOURCE = """#include <ferrule/kernel.h>
KERNEL(f, OUT(f32, 0, y), IN(f32, 0, x)) { AT(y) = AT(x); return OK; }
"""
DECLARE = "custom.declare('f(x: f32[]) -> f32[]', source=sys.argv[1])\n"
# Who runs in the background ignores SIGINT.
INTERRUPTED = (
    "import pathlib, signal, sys, threading, time\nfrom ferrule import custom\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "try:\n    %sexcept KeyboardInterrupt:\n    print('interrupted')\n"
)


@pytest.fixture
def slow(tmp_path):
    """The environment of a process whose compiler starts another program, as a driver does, and waits for
    it; its number is in the file FERRULE_CC.runs."""
    compiler = tmp_path / "cc"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in *-shared*) sleep 60 & echo $! >"$0.new"; mv "$0.new" "$0.runs"; wait;; esac\n'
        'exec cc "$@"\n'
    )
    compiler.chmod(0o755)
    yield {**os.environ, "FERRULE_CACHE_DIR": str(tmp_path / "cache"), "FERRULE_CC": str(compiler)}
    with contextlib.suppress(OSError):
        os.kill(compiled_by(compiler), signal.SIGKILL)


def compiled_by(compiler):
    """The number of the program that the compiler runs, once it does."""
    running = pathlib.Path(f"{compiler}.runs")
    deadline = time.monotonic() + 60
    while not running.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return int(running.read_text())


def lives(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def started(code, environment, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, SOURCE, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("send", [os.killpg, os.kill], ids=["group", "process"])
def test_ctrl_c_stops_a_compile(slow, send):
    """The signal goes to the whole group, as a terminal does it, or to the process alone, as Jupyter
    does. All that compiles ends, and the cache is whole afterwards."""
    process = started(INTERRUPTED % DECLARE, slow)
    program = compiled_by(slow["FERRULE_CC"])
    assert lives(program)
    send(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)
    assert not lives(program)
    again = python("import sys\nfrom ferrule import custom\n" + DECLARE, SOURCE, env={**slow, "FERRULE_CC": "cc"})
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_ctrl_c_stops_a_wait_for_another_process(slow):
    first = started(INTERRUPTED % DECLARE, slow)
    program = compiled_by(slow["FERRULE_CC"])
    second = started(INTERRUPTED % DECLARE, {**slow, "FERRULE_LOG": "compile"})
    while "waits for another process" not in (line := second.stderr.readline()):
        assert line
    second.send_signal(signal.SIGINT)
    assert (second.communicate(timeout=20)[0], second.returncode) == ("interrupted\n", 0)
    assert lives(program)
    first.send_signal(signal.SIGINT)
    assert (first.communicate(timeout=20)[0], first.returncode) == ("interrupted\n", 0)


def test_ctrl_c_stops_a_wait_for_another_thread(slow):
    code = (
        "threading.Thread(target=lambda: %s, daemon=True).start()\n"
        "    while not pathlib.Path(sys.argv[2]).exists(): time.sleep(0.01)\n"
        "    print('runs', flush=True)\n"
        "    %s"
    )
    code = INTERRUPTED % (code % (DECLARE.strip(), DECLARE))
    process = started(code, slow, slow["FERRULE_CC"] + ".runs")
    assert process.stdout.readline() == "runs\n"
    time.sleep(0.3)  # it begins to wait; a signal that comes before is no different
    process.send_signal(signal.SIGINT)
    assert (process.communicate(timeout=20)[0], process.returncode) == ("interrupted\n", 0)


def test_other_signals_are_handled_during_a_compile(tmp_path):
    """A handler may declare and call; the compile that it does not end goes on."""
    compiler = tmp_path / "cc"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in *inline*) kill -USR1 $PPID; while ! test -e "$0.on"; do sleep 0.05; done;; esac\n'
        'exec cc "$@"\n'
    )
    compiler.chmod(0o755)
    code = (
        "import pathlib, signal, sys\nfrom ferrule import Tensor, custom\n"
        "def handle(*_):\n"
        "    assert custom.declare('add', custom_extensions='std')(Tensor.ones(1), Tensor.ones(1)).item() == 2\n"
        "    pathlib.Path(sys.argv[2]).touch()\n"
        "custom.declare('add', custom_extensions='std')\n"
        "signal.signal(signal.SIGUSR1, handle)\n"
        "print(custom.declare('f(x: f32[]) -> f32[]', source=sys.argv[1])(Tensor(2.0)).item())\n"
    )
    run = python(
        code,
        SOURCE,
        f"{compiler}.on",
        env={**os.environ, "FERRULE_CACHE_DIR": str(tmp_path / "cache"), "FERRULE_CC": str(compiler)},
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "2.0\n", "")


COUNTER = """#include <ferrule/kernel.h>
KERNEL(count, IN(i64, 0, address)) { *(long *)AT(address) += 1; return OK; }
"""
ENDLESS = (
    "import ctypes, signal, sys, threading\nfrom ferrule import Graph, Tensor, TensorType, custom\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "count = custom.declare('count(address: i64[]) -> () effect', source=sys.argv[1])\n"
    "with Graph('g', [TensorType('i64', []), TensorType('bool', [])]) as graph:\n"
    "    address, go = graph.inputs\n"
    "    graph.while_loop(lambda: go, lambda: count(address))\n"
    "    graph.output(go)\n"
    "model, turns = graph.compile(), ctypes.c_long()\n"
    "def run(go): return model(Tensor(ctypes.addressof(turns)), go).item()\n"
    "for _ in range(9): run(Tensor(False))\n"  # so often that it is known to be quick
)


@pytest.mark.parametrize("send", [os.killpg, os.kill], ids=["group", "process"])
def test_ctrl_c_stops_a_loop(send):
    """Another thread runs meanwhile, and sees when the loop has begun."""
    code = ENDLESS + (
        "def watch():\n    while turns.value < 10: pass\n    print('runs', flush=True)\n"
        "threading.Thread(target=watch).start()\n"
        "try:\n    run(Tensor(True))\nexcept KeyboardInterrupt as interrupt:\n    print(interrupt.args)\n"
        "print(turns.value >= 10, run(Tensor(False)))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, COUNTER], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "runs\n"
    send(process.pid, signal.SIGINT)
    assert (process.communicate(timeout=60)[0], process.returncode) == ("()\nTrue False\n", 0)


def test_other_signals_are_handled_during_a_loop():
    """A handler may run the model; the loop that it does not end goes on."""
    code = ENDLESS + (
        "go, num_handled = Tensor(True).numpy(), 0\n"
        "def handle(*_):\n"
        "    global num_handled\n"
        "    num_handled += 1\n"
        "    if num_handled == 3: go[...] = False\n"
        "    else: run(Tensor(False)), signal.setitimer(signal.ITIMER_REAL, 0.01)\n"
        "signal.signal(signal.SIGALRM, handle)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01)\n"
        "print(run(go), num_handled, turns.value > 0)\n"
    )
    run = python(code, COUNTER)
    assert (run.returncode, run.stdout, run.stderr) == (0, "False 3 True\n", "")


def test_fork(ops):
    code = (
        "import os, sys\nfrom ferrule import Tensor, custom\n"
        "op = custom.declare('same', custom_extensions=sys.argv[1])\n"
        "x = Tensor.ones(100000)\n"
        "op(x)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    op(op(x)), custom.declare('dot', custom_extensions=sys.argv[1])(x, x)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "op(x)\n"
    )
    succeeds(code, pathlib.Path(__file__).parent / "kernels")


def test_fork_while_threads_work(kernels):
    """Whatever the threads are at: a child has none of them, and waits for none of them."""
    code = (
        "import itertools, os, sys, threading, warnings\nfrom ferrule import Tensor, custom\n"
        "warnings.simplefilter('ignore', DeprecationWarning)  # of a fork beside threads, since 3.12\n"
        "same = custom.declare('same', custom_extensions=sys.argv[1])\n"
        "scale = custom.declare('scale', custom_extensions=sys.argv[1])\n"
        "x, end = Tensor.ones(100000), threading.Event()\n"
        "def call():\n"
        "    while not end.is_set(): same(x)\n"
        "def declare():\n"
        "    for i in itertools.count():\n"
        "        if end.is_set(): return\n"
        "        scale[{'by': float(i)}]\n"
        "threads = [threading.Thread(target=work) for work in (call, call, declare)]\n"
        "for thread in threads: thread.start()\n"
        "states = []\n"
        "for i in range(10):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        good = same(x).tolist() == x.tolist() and scale[{'by': -1.0}](Tensor([1.0])).tolist() == [-1]\n"
        "        os._exit(0 if good else 1)\n"
        "    states.append(os.waitpid(child, 0)[1])\n"
        "end.set()\n"
        "for thread in threads: thread.join()\n"
        "assert states == [0] * 10, states\n"
    )
    succeeds(code, kernels)


def test_threads_that_declare_the_same():
    """One of them compiles it, and all have it."""
    source = f"{SOURCE}/* {os.urandom(8).hex()} */"
    start = threading.Barrier(6)
    before = ferrule.counters()["compiles"]

    def declare(_):
        start.wait()
        return custom.declare("f(x: f32[]) -> f32[]", source=source)

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        ops = list(pool.map(declare, range(6)))
    assert ferrule.counters()["compiles"] == before + 1
    assert len(set(ops)) == 1 and [op(Tensor(2.0)).item() for op in ops] == [2.0] * 6


END = (
    "import sys, threading, time\nimport ferrule\n"
    "from ferrule import Graph, Tensor, TensorType, custom\n"
    "busy = custom.declare('busy', custom_extensions=sys.argv[1])\n"
    "import builtins, array\n"
    "def later(work): threading.Thread(target=work, daemon=True).start(); time.sleep(0.05)\n"
)
ENDS = {
    "tensors": "builtins.kept = [Tensor([1]), busy, Tensor.from_dlpack(array.array('f', [1.0]))]\n",
    "a kernel": "later(lambda: busy(Tensor(2000)))\n",
    "a result": "later(lambda: setattr(builtins, 'kept', [busy(Tensor(20)) for _ in range(100)]))\n",
    "a model": (
        "with Graph('g', [TensorType('i64', [])]) as graph: graph.output(busy(graph.inputs[0]))\n"
        "builtins.kept = graph.compile()\n"
        "later(lambda: [kept(Tensor(20)) for _ in range(100)])\n"
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_end_with(end, kernels):
    """Also while a thread that nobody waits for runs a kernel."""
    assert succeeds(END + ENDS[end] + "print('end')\n", kernels) == "end\n"


def test_the_end_while_a_thread_compiles(slow):
    code = (
        "import pathlib, sys, threading, time\nfrom ferrule import custom\n"
        f"threading.Thread(target=lambda: {DECLARE.strip()}, daemon=True).start()\n"
        "while not pathlib.Path(sys.argv[2]).exists(): time.sleep(0.01)\n"
        "print('end')\n"
    )
    run = python(code, SOURCE, f"{slow['FERRULE_CC']}.runs", env=slow)
    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n", "")


def test_importing_is_light():
    code = (
        "import sys\nbefore = set(sys.modules)\nimport ferrule\n"
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))\n"
    )
    codecs = {"encodings"}  # a debug build looks up those that are named
    assert set(succeeds(code).split()) - codecs == {"ferrule", "__future__"}


def test_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "ferrule", "infer", "f(x: f32[n]) -> f32[n // 2]", "f32[9]"],
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "f32[4]\n", "")
    run = subprocess.run(
        [sys.executable, "-m", "ferrule", "list", "std"], capture_output=True, text=True
    )
    assert run.returncode == 0 and "softmax" in run.stdout
    run = subprocess.run([sys.executable, "-m", "ferrule", "nothing"], capture_output=True, text=True)
    assert run.returncode == 2


def test_without_a_compiler(ops, kernels):
    op = custom.declare("dot", custom_extensions=kernels)  # is in the cache
    assert op(Tensor([1.0]), Tensor([2.0])).item() == 2.0
    code = (
        "import sys\nfrom ferrule import CompileError, custom\n"
        "try:\n"
        "    custom.declare('f(x: f32[]) -> f32[]', source=sys.argv[1])\n"
        "except CompileError as error:\n"
        "    print(error)\n"
    )
    source = "#include <ferrule/kernel.h>\nKERNEL(f, OUT(f32, 0, y), IN(f32, 0, x)) { AT(y) = 7; return OK; }\n"
    run = python(code, source, env={**os.environ, "FERRULE_CC": "no-such-compiler"})
    assert run.returncode == 0 and "no-such-compiler" in run.stdout


def test_figures():
    assert list(ferrule.counters()) == ["compiles", "cache_hits", "cache_misses", "bindings"]
    assert ferrule.memory()["bytes_bound"] > 0
    assert issubclass(CompileError, RuntimeError)
    assert (pathlib.Path(ferrule.get_include()) / "ferrule" / "kernel.h").is_file()
    assert ferrule.__version__
