"""Objects that lie, change while they are read, or call back: an exception, never a crash."""

import ctypes
import gc
import pickle
import subprocess
import sys
import weakref

import pytest

from ferrule import DeviceRef, Dim, DType, Graph, Tensor, TensorType, custom

F32 = custom.TemplateType(DType.float32, [2])


class Clears:
    """An integer that empties the list it is in."""

    def __init__(self, items):
        self.items = items

    def __index__(self):
        self.items.clear()
        return 2


def clearing():
    items = []
    items += [Clears(items), 3, 4]
    return items


def test_a_shape_may_change_while_it_is_read():
    assert Tensor.zeros(clearing()).shape == (2, 3, 4)
    assert TensorType("f32", clearing()).shape == (2, 3, 4)
    assert custom.TemplateType("f32", clearing()).shape == (2, 3, 4)
    graph = Graph("g", [TensorType("f32", ["a", "b", "c"])])
    assert graph.inputs[0].rebind(clearing()).shape == (2, 3, 4)
    assert graph.inputs[0].reshape(clearing()).shape == (2, 3, 4)
    assert Tensor.ones(24).reshape(clearing()).shape == (2, 3, 4)
    assert Tensor.ones(()).broadcast_to(clearing()).shape == (2, 3, 4)


def test_text_is_no_sequence():
    for make in (TensorType, custom.TemplateType):
        with pytest.raises(TypeError, match="sequence of dims.*, not str"):
            make("f32", "10")
    with pytest.raises(TypeError, match="not str"):
        Tensor.zeros("10")
    with pytest.raises(TypeError, match="input_types is a sequence of TensorType.*, not str"):
        Graph("g", "ab")


@pytest.mark.parametrize("given", [[1, 2], ["ab"], [()], [(1, 2, 3)], [None]])
def test_a_mapping_gives_pairs(ops, given):
    class Lies(dict):
        def items(self):
            return given

    for use in (
        lambda m: ops.group[m],
        lambda m: Dim("n").substitute(m),
        lambda m: Graph("g", m),
        lambda m: custom.declare("f", m, [F32], source="x"),
        lambda m: custom.declare("f", {"x": F32}, m, source="x"),
        lambda m: custom.declare("f", {"x": F32}, [F32], m, source="x"),
        lambda m: custom.declare("f(x: f32[]) -> f32[]", parameters=m, source="x"),
    ):
        with pytest.raises(TypeError, match="the items of a Lies are not pairs"):
            use(Lies(g=1))


def test_a_name_with_a_character_0(ops):
    with pytest.raises(ValueError, match="a dim has a character 0"):
        Dim("n\0m")
    with pytest.raises(ValueError, match="an operand's name has a character 0"):
        ops.same(**{"x\0y": Tensor.ones(2)})


def test_results_may_leave_their_list_while_it_is_read(ops):
    given = [Tensor.empty(2, "i64")]

    class Clears:
        def __dlpack__(self, **options):
            given.clear()
            return Tensor.zeros(2, "i64").__dlpack__(**options)

    topk = custom.declare("topk", custom_extensions="std")[{"k": 2}]
    values = Tensor.empty(2)
    given[:] = [values, Clears()]
    assert topk(Tensor([3.0, 1.0, 2.0]), out=given) is given
    assert (given, values.tolist()) == ([], [3.0, 2.0])


@pytest.mark.parametrize("use", ["op", "model", "tensor"])
def test_recursion_ends_at_pythons_limit(ops, use):
    with Graph("g", [TensorType("f32", ["n"])]) as graph:
        graph.output(graph.inputs[0])
    call = {"op": ops.same, "model": graph.compile(), "tensor": Tensor}[use]

    class Again:
        def __dlpack__(self, **options):
            return call(self)

    with pytest.raises(RecursionError):
        call(Again())


def test_a_tensor_comes_back_on_its_device():
    x = Tensor([1.0, 2.0], device=DeviceRef.CPU(1))
    back = pickle.loads(pickle.dumps(x))
    assert (back.device, back.tolist()) == (DeviceRef.CPU(1), [1.0, 2.0])


# --- a producer of DLPack whose deleter runs Python -----------------------------------------------


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Managed(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class Producer:
    """Two floats, and what is called when nobody needs them any more."""

    def __init__(self, deleter):
        self.deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: deleter())
        self.elements = (ctypes.c_float * 2)(1.0, 2.0)
        self.shape = (ctypes.c_int64 * 1)(2)
        self.managed = Managed(
            ctypes.addressof(self.elements), 1, 0, 1, Type(2, 32, 1), self.shape, None, 0, None,
            ctypes.cast(self.deleter, ctypes.c_void_p),
        )  # fmt: skip
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = make(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack__(self, **options):
        return self.capsule


def test_an_exception_survives_a_deleter(ops):
    calls = []
    producer = Producer(lambda: calls.append(1))
    with pytest.raises(ValueError, match="same: result 0 is f32"):
        ops.same(Tensor.zeros(3), out=producer)
    assert calls == [1]


def test_a_deleter_cannot_consume_its_capsule_again():
    refused = []

    def again():
        with pytest.raises(ValueError, match="consumed before"):
            Tensor.from_dlpack(producer.capsule)
        refused.append(1)

    producer = Producer(again)
    assert Tensor.from_dlpack(producer, copy=True).tolist() == [1.0, 2.0]
    assert refused == [1]


def test_a_refused_capsule_can_be_consumed():
    producer = Producer(lambda: None)
    producer.managed.device_type = 2
    with pytest.raises(NotImplementedError):
        Tensor.from_dlpack(producer)
    producer.managed.device_type = 1
    assert Tensor.from_dlpack(producer).tolist() == [1.0, 2.0]


def test_operators_outlive_an_interpreter():
    pytest.importorskip("_xxsubinterpreters")
    code = (
        "import _xxsubinterpreters as interpreters\n"
        "inside = 'from ferrule import Tensor\\nassert (Tensor.ones(2) + 1).tolist() == [2, 2]'\n"
        "import ferrule\n"
        "one = interpreters.create(%s)\n"
        "interpreters.run_string(one, inside)\n"
        "interpreters.destroy(one)\n"
        "exec(inside)\n"
    )
    options = "isolated=False" if sys.version_info < (3, 13) else "'legacy'"
    run = subprocess.run([sys.executable, "-c", code % options], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def finished():
    graph = Graph("g", [TensorType("f32", ["n"])])
    graph.output(graph.inputs[0])
    return graph


def test_everything_can_be_referred_to_weakly(kernels):
    made = [
        lambda: DeviceRef.CPU(),
        lambda: Dim("n"),
        lambda: Dim(3),
        lambda: Dim("n") + 1,
        lambda: custom.Symbol("n"),
        lambda: custom.Param("n"),
        lambda: custom.Run("s"),
        lambda: custom.DTypeVar("T"),
        lambda: custom.TemplateType("f32", ["n"]),
        lambda: TensorType("f32", ["n"]),
        lambda: Tensor([1.0]),
        lambda: custom.declare("same", custom_extensions=kernels),
        lambda: Graph("g", [TensorType("f32", ["n"])]),
        lambda: Graph("g", [TensorType("f32", ["n"])]).inputs[0],
        lambda: finished().compile(),
    ]
    for make in made:
        thing = make()
        ended = []
        reference = weakref.ref(thing, ended.append)
        assert reference() is thing and not ended
        del thing
        gc.collect()
        assert reference() is None and ended == [reference]
    assert weakref.ref(DType.int8)() is DType.int8
    for _ in range(3):  # objects of tensors are used again
        tensor = Tensor([1.0])
        assert weakref.getweakrefcount(tensor) == 0
        reference = weakref.ref(tensor)
