"""Checked calls: from Python it is a switch, for the process or for a block."""

import os
import subprocess
import sys
import threading

import pytest

import ferrule
from ferrule import DType, Graph, KernelError, Tensor, TensorType, custom

SOURCE = """
#include <ferrule/kernel.h>
KERNEL(shift, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(x, i + 1);
    return OK;
}
KERNEL(spoil, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = ((f32 *)(uintptr_t)DATA(x))[i] *= 2;
    return OK;
}
KERNEL(copy, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(x, i);
    return OK;
}
"""
SHIFT = "shift: AT with index 2 on axis 0 of 'x', whose extent is 2 (inline.c:6)"
SPOIL = "spoil: operand 'x' is not inout, but the kernel wrote element [0] and 1 more (inline.c:9)"


def declare(name):
    return custom.declare(f"{name}(x: f32[n]) -> f32[n]", source=SOURCE)


@pytest.fixture
def x():
    return Tensor([1.0, 2.0])


@pytest.fixture(autouse=True)
def as_before():
    before = ferrule.set_checking(False)
    yield
    ferrule.set_checking(before)


def fault_of(call, *operands):
    with pytest.raises(KernelError) as caught:
        call(*operands)
    return caught.value


def test_faults_of_ops(x):
    shift, spoil = declare("shift"), declare("spoil")
    with ferrule.checking():
        fault = fault_of(shift, x)
        assert (str(fault), fault.op, fault.operand, fault.axis) == (SHIFT, "shift", "x", 0)
        fault = fault_of(spoil, x)
        assert (str(fault), fault.op, fault.operand) == (SPOIL, "spoil", "x")
        assert x.tolist() == [1.0, 2.0]
        assert str(fault_of(lambda: spoil(x=x))) == SPOIL
        assert str(fault_of(lambda: spoil(x, out=Tensor([0.0, 0.0])))) == SPOIL
    spoil(x)
    assert x.tolist() == [2.0, 4.0]


def test_faults_of_models(x):
    spoil = declare("spoil")
    with Graph("g", [TensorType(DType.float32, ["n"]), TensorType(DType.int64, [])]) as graph:
        values, count = graph.inputs
        step = graph.while_loop(
            lambda v, i: i < 3, lambda v, i: [spoil(v), i + 1], [values, count]
        )
        graph.output(step[0])
    model = graph.compile()
    with ferrule.checking():
        fault = fault_of(model, x, 0)
        assert str(fault) == f"graph 'g': iteration 1 of while: {SPOIL}"
        assert (fault.op, fault.operand) == ("spoil", "x")
        assert model(x, 3).tolist() == [1.0, 2.0]
    model(x, 2)


def test_the_switch():
    assert ferrule.set_checking(True) is False
    assert ferrule.set_checking(1) is True
    with ferrule.checking(False):
        assert ferrule.set_checking(False) is False
    assert ferrule.set_checking(False) is True
    again = ferrule.checking()
    with again, ferrule.checking(False), again:
        assert ferrule.set_checking(True) is True
    assert ferrule.set_checking(False) is False
    with pytest.raises(RuntimeError, match="own"):
        with ferrule.checking():
            raise RuntimeError("own")
    assert ferrule.set_checking(False) is False
    with pytest.raises(TypeError):
        ferrule.set_checking()


def test_blocks_of_threads_end_in_any_order():
    first, second = ferrule.checking(), ferrule.checking()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert ferrule.set_checking(True) is True, "the second block goes on"
    second.__exit__(None, None, None)
    assert ferrule.set_checking(False) is False


def test_an_op_that_was_quick_is_compiled_once_more(x):
    """Calls that were quick keep the GIL, which a compile has to let go."""
    copy = declare("copy")
    for _ in range(50):
        copy(x)
    before = ferrule.counters()["cache_misses"]
    turns = []
    done = threading.Event()
    with ferrule.checking():
        thread = threading.Thread(target=lambda: [turns.append(1) for _ in iter(done.is_set, True)])
        thread.start()
        assert copy(x).tolist() == [1.0, 2.0]
        done.set()
        thread.join()
    assert ferrule.counters()["cache_misses"] == before + 1
    assert turns


@pytest.mark.parametrize(
    "value, printed",
    [("1", SPOIL), ("0", "[2.0, 4.0]"), ("", "[2.0, 4.0]"), ("yes", "FERRULE_CHECK is 'yes'; the choices are '0', '1'")],
)
def test_the_environment(value, printed):
    code = (
        "import sys\nfrom ferrule import Tensor, custom\n"
        "try:\n"
        "    op = custom.declare('spoil(x: f32[n]) -> f32[n]', source=sys.argv[1])\n"
        "    print(op(Tensor([1.0, 2.0])).tolist())\n"
        "except (RuntimeError, ValueError) as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, SOURCE],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "FERRULE_CHECK": value},
    )
    assert (run.returncode, run.stderr, run.stdout) == (0, "", printed + "\n")
