"""NumPy's arrays, which are read without their buffers where that does: whatever comes of one also comes of
its buffer, which a subclass is always asked for."""

import subprocess
import sys
import threading
import time
import warnings

import pytest

from ferrule import DType, Tensor, custom

np = pytest.importorskip("numpy")


class Subclass(np.ndarray):
    pass


def outcome(work, *arrays):
    """What comes of it, and what the arrays hold then."""
    try:
        result = work(*arrays)
    except Exception as error:
        return type(error), str(error), [array.tobytes() for array in arrays]
    shown = (
        None if result is None else (np.asarray(result).dtype, np.asarray(result).shape, np.asarray(result).tobytes())
    )
    return shown, [array.tobytes() for array in arrays]


def misaligned(code):
    data = np.zeros(np.dtype(code).itemsize * 3 + 1, "u1")
    return data[1:].view(code)


def small(name):
    def make():
        return np.array([[1.5, -2.0]], getattr(pytest.importorskip("ml_dtypes"), name))

    return make


def read_only():
    array = np.arange(4, dtype="f4")
    array.flags.writeable = False
    return array


CODES = "? b h i l q B H I L Q e f d g F O U3 S2 V4 M8[s] m8[ms] >f4 >i8 >u1 >? =f8".split()
ARRAYS = {
    **{code: lambda code=code: np.zeros((2, 3), code) for code in CODES},
    **{f"misaligned {code}": lambda code=code: misaligned(code) for code in ("f4", "i8", "u1", ">f8")},
    **{name: small(name) for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "int4")},
    "structured": lambda: np.zeros(3, [("a", "u1"), ("b", "f4")]),
    "a field": lambda: np.zeros(3, [("a", "u1"), ("b", "f4")])["b"],
    "with metadata": lambda: np.zeros(3, np.dtype("f4", metadata={"unit": "m"})),
    "rank 0": lambda: np.array(2.5, "f4"),
    "rank 8": lambda: np.ones((1, 2) * 4, "f4"),
    "rank 9": lambda: np.ones((1,) * 9, "f4"),
    "empty": lambda: np.ones((3, 0, 2), "f4"),
    "empty and strided": lambda: np.ones((3, 0, 4), "f4")[:, :, ::2],
    "empty and misaligned": lambda: np.frombuffer(bytes(1), "f4", 0, 1),
    "reversed": lambda: np.arange(6, dtype="f4")[::-1],
    "strided": lambda: np.arange(6, dtype="f4")[::2],
    "transposed": lambda: np.arange(6, dtype="f4").reshape(2, 3).T,
    "Fortran's order": lambda: np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)),
    "axes of length 1": lambda: np.arange(6, dtype="f4")[::6, None],
    "repeated": lambda: np.broadcast_to(np.float32(1), (2, 3)),
    "read-only": read_only,
}


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_as_its_buffer_would_be(make, ops):
    works = (
        lambda x: ops.same(x),
        lambda x: ops.same(x=x),
        lambda x: ops.double_up(x),
        lambda x: ops.same(np.array(x), out=x),
        lambda x: ops.same(Tensor.ones(4), out=x),
        lambda x: ops.same(x, out=x),
        lambda x: ops.halves(x, out=[x, x]),
    )
    for work in works:
        expected = outcome(work, make().view(Subclass))
        assert outcome(work, make()) == expected
        assert outcome(work, make()) == expected  # also when the type has been seen before


def test_results_of_several_arrays(ops):
    low, high = np.zeros(2, "f4"), np.zeros(3, "f4")
    given = [low, high]
    assert ops.halves(np.arange(5, dtype="f4"), out=given) is given
    assert low.tolist() == [0, 1] and high.tolist() == [2, 3, 4]


def test_arrays_beside_tensors_and_numbers(ops):
    x = np.arange(3, dtype="f4")
    assert ops.add_scalar(x, 1).tolist() == [1, 2, 3]
    assert ops.add_scalar(by=np.array(2, "f4"), x=Tensor.ones(3)).tolist() == [3, 3, 3]
    with pytest.raises(ValueError, match="pair: .*'a'.*'b'|pair: .*'b'.*'a'"):
        ops.pair(x, np.ones(3, "i4"))
    with pytest.raises(ValueError, match="overlaps operand 'x'"):
        ops.same(x, out=x)


def test_an_array_that_warns_when_it_is_written(ops):
    x = np.ones(2, "f4")
    wide, _ = np.broadcast_arrays(x, np.ones((1, 2), "f4"))
    assert memoryview(wide).readonly
    with pytest.raises(ValueError, match="read-only"):
        ops.same(np.zeros((1, 2), "f4"), out=wide)
    assert ops.same(wide).tolist() == [[1, 1]] and x.tolist() == [1, 1]


def test_subclasses_of_numpys_own(ops, tmp_path):
    matrix = np.arange(4, dtype="f4").reshape(2, 2).view(np.matrix)
    assert ops.same(matrix).tolist() == [[0, 1], [2, 3]] and ops.same(matrix[0]).shape == (1, 2)
    masked = np.ma.array(np.arange(3, dtype="f4"), mask=[0, 1, 0])
    assert ops.same(masked).tolist() == [0, 1, 2]
    ops.double_up(masked)
    assert masked.data.tolist() == [0, 2, 4]
    records = np.zeros(2, [("a", "f4")]).view(np.recarray)
    with pytest.raises(NotImplementedError, match="same: operand 'x'"):
        ops.same(records)
    mapped = np.memmap(tmp_path / "elements", "f4", "w+", shape=(3,))
    ops.same(np.arange(3, dtype="f4"), out=mapped)
    mapped.flush()
    assert np.fromfile(tmp_path / "elements", "f4").tolist() == [0, 1, 2]


WAITING = """#include <ferrule/kernel.h>
#include <time.h>
/* Says that it runs, and goes on when it is told to, or after ten seconds. */
KERNEL(waiting, OUT(f32, 1, y), INOUT(i64, 1, flags), IN(f32, 1, x))
{
    volatile i64 *flag = DATA(flags);
    flag[0] = 1;
    for (int i = 0; i < 10000 && flag[1] == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (index_t i = 0; i < DIM(x, 0); i++)
        AT(y, i) = AT(x, i);
    return flag[1] == 0;
}
"""


def test_an_array_is_held_by_a_call():
    op = custom.declare("waiting(inout flags: i64[2], x: f32[n]) -> f32[n]", source=WAITING)
    arrays, flags, results = [np.arange(1000, dtype="f4")], np.zeros(2, "i8"), []
    thread = threading.Thread(target=lambda: results.append(op(flags, arrays[0])))
    thread.start()
    while flags[0] == 0 and thread.is_alive():
        time.sleep(0.001)
    with pytest.raises(ValueError, match="resize"):
        arrays[0].resize(1_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some versions of NumPy advise against it
        arrays[0].shape = (10, 100)
    arrays.clear()
    flags[1] = 1
    thread.join()
    assert results[0].tolist() == list(range(1000))


def succeeds(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


SAME = """
import sys
from ferrule import Tensor, custom
same = custom.declare("same<T>(x: T[*s]) -> T[*s]", custom_extensions=%r)
"""


def test_a_class_of_that_name_imports_nothing(kernels):
    code = SAME % str(kernels) + (
        "try:\n    same(type('numpy.ndarray', (), {})())\n"
        "except TypeError as error:\n    print(error)\n"
        "print('numpy' in sys.modules)\n"
    )
    said, was_imported = succeeds(code).splitlines()
    assert "operand 'x'" in said and was_imported == "False"


@pytest.mark.parametrize("api", ["3", "None", "m._ARRAY_API"])
def test_a_numpy_without_the_api_gives_buffers(api, kernels):
    code = SAME % str(kernels) + (
        "import numpy, numpy.linalg\n"
        "m = sys.modules.get('numpy._core._multiarray_umath') or sys.modules['numpy.core._multiarray_umath']\n"
        f"m._ARRAY_API = {api}\n"
        "x = numpy.arange(3.0)\n"
        "print(same(x).tolist(), same(x, out=numpy.zeros(3)).tolist(), same(x[::2]).tolist())\n"
    )
    assert succeeds(code) == "[0.0, 1.0, 2.0] [0.0, 1.0, 2.0] [0.0, 2.0]\n"


def test_dtypes_are_what_they_are(ops):
    for code, dtype in (
        ("l", DType.int64),
        ("q", DType.int64),
        ("L", DType.uint64),
        ("Q", DType.uint64),
        ("i", DType.int32),
        ("?", DType.bool),
        ("e", DType.float16),
    ):
        assert ops.same(np.zeros(2, code)).dtype is dtype
