"""Buffers: inputs that graphs change in their place, and what is assigned to parts of values and tensors."""

import copy
import math
import pickle

import pytest
from hypothesis import assume, given, settings, strategies

from ferrule import BufferType, DType, Graph, Tensor, TensorType, custom

np = pytest.importorskip("numpy")

DTYPES = "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3fn f8e5m2".split()

# --- The type -------------------------------------------------------------------------------------


def test_a_buffer_type_says_what_a_tensor_type_says():
    plain, buffer = TensorType("f32", ["n", 3]), BufferType(DType.float32, ["n", 3])
    assert (buffer.dtype, buffer.shape, buffer.rank, buffer.device) == (
        plain.dtype,
        plain.shape,
        plain.rank,
        plain.device,
    )
    assert repr(buffer) == "BufferType(f32[n, 3])" and str(buffer) == "f32[n, 3]"
    assert buffer == BufferType("f32", ["n", 3]) and hash(buffer) == hash(BufferType("f32", ["n", 3]))
    assert buffer != plain and plain != buffer and len({buffer, plain}) == 2
    assert copy.copy(buffer) == pickle.loads(pickle.dumps(buffer)) == buffer
    assert type(pickle.loads(pickle.dumps(buffer))) is BufferType
    with pytest.raises(ValueError, match="negative"):
        BufferType("f32", [-1])


def test_a_graph_says_which_inputs_are_buffers():
    graph = Graph("g", {"total": BufferType("f32", ["n"]), "x": TensorType("f32", ["n"])})
    total, x = graph.inputs
    assert total.type == BufferType("f32", ["n"]) and x.type == TensorType("f32", ["n"])
    assert total.rebind([3]).type == BufferType("f32", [3])
    assert repr(total) == "<TensorValue inout f32[n] of graph 'g'>"
    assert (total * 2).type == TensorType("f32", ["n"])
    graph.output(total)
    assert graph.outputs[0].type == BufferType("f32", ["n"])
    assert "graph g(inout total: f32[n], x: f32[n]) -> f32[n]" in str(graph)
    assert "inout total: f32[n]" in graph.to_dot()
    assert graph.copy("h").inputs[0].type == BufferType("f32", ["n"])
    with pytest.raises(TypeError, match="input 'y' is str, not a TensorType or BufferType"):
        Graph("g", {"y": "f32[n]"})


# --- What may change ------------------------------------------------------------------------------


def test_other_inputs_are_not_changed():
    graph = Graph("g", {"x": TensorType("f32", ["n"])})
    (x,) = graph.inputs
    for change in (lambda: x.__setitem__(..., 1.0), lambda: x.rebind(["n"]).__setitem__(slice(1, 3), 1.0)):
        with pytest.raises(ValueError, match=r"write 'inout x: f32\[n\]' \(in Python, a BufferType\)"):
            change()
    y = x * 1
    y[...] = 2.0
    graph.output(x, y)
    x, y = graph.compile()([1.0, 5.0])
    assert (x.tolist(), y.tolist()) == ([1.0, 5.0], [2.0, 2.0])


def test_a_model_changes_the_arrays_own_memory():
    with Graph("g", {"total": BufferType("f64", ["n"]), "x": TensorType("f64", ["n"])}) as graph:
        total, x = graph.inputs
        before = total[...]
        total[...] += x
        graph.output(before, total[1:])
    model = graph.compile()
    array, x = np.arange(3.0), np.full(3, 10.0)
    before, after = model(array, x)
    assert array.tolist() == [10, 11, 12] and x.tolist() == [10, 10, 10]
    assert before.tolist() == [0, 1, 2] and after.tolist() == [11, 12]
    model(x=x, total=array)
    assert array.tolist() == [20, 21, 22]
    array.flags.writeable = False
    with pytest.raises(ValueError, match="graph 'g': input 'total' is inout, but the tensor is read-only"):
        model(array, x)
    with pytest.raises(ValueError, match="'total' is inout, but its memory overlaps input 'x'"):
        model(x, x)
    with pytest.raises(ValueError, match="input 'total': the memory is not compact row-major"):
        model(np.zeros(6)[::2], x)
    with pytest.raises(ValueError, match="'total' is inout, but the tensor is read-only"):
        model(np.frombuffer(bytes(24)), x)
    for nothing in ([1.0, 2.0], 1.0):
        with pytest.raises(TypeError, match="graph 'g': input 'total': a buffer is a tensor or an array, not of"):
            model(nothing, x)
    records = np.zeros(3, [("a", "u1"), ("total", "f8")])
    with pytest.raises(ValueError, match="graph 'g': input 'total'"):
        model(records["total"], x)
    assert array.tolist() == [20, 21, 22] and not records["total"].any()


def test_buffers_go_through_calls_and_blocks():
    step = Graph("step", {"total": BufferType("i64", ["n"]), "by": TensorType("i64", [])})
    total, by = step.inputs
    total[...] = total[...] + by
    step.output()
    with Graph("g", {"total": BufferType("i64", [2]), "turns": TensorType("i64", [])}, module=step) as graph:
        total, turns = graph.inputs

        def body(i):
            graph.cond(i > 1, lambda: graph.call(step, total, i), lambda: graph.call(step, total, i * 100))
            total[0] = total[1] * 2
            return i - 1

        graph.while_loop(lambda i: i > 0, body, turns)
        graph.output()
    tensor = Tensor([0, 0])
    assert graph.compile()(tensor, 3) is None
    assert tensor.tolist() == [210, 105]


def test_what_is_taken_is_as_it_was():
    with Graph("g", {"total": BufferType("f32", [2])}) as graph:
        (total,) = graph.inputs
        y = total * 1
        taken = [total[...], total[:], total[0:2], total[None], +total, y[...], +y, total[1], y[0]]
        total[...] = 7.0
        y[...] = 8.0
        graph.output(*taken, total, y)
    *taken, total, y = graph.compile()(Tensor([1.0, 2.0]))
    expected = [[1, 2], [1, 2], [1, 2], [[1, 2]], [1, 2], [1, 2], [1, 2], 2, 1]
    assert [t.tolist() for t in taken] == expected
    assert (total.tolist(), y.tolist()) == ([7, 7], [8, 8])


def test_a_histogram_in_a_buffer():
    histogram = custom.declare("histogram", custom_extensions="std")
    with Graph("count", {"counts": BufferType("i64", [4]), "x": TensorType("u8", ["n"])}) as graph:
        histogram(graph.inputs[1], graph.inputs[0])
        graph.output()
    counts = np.zeros(4, "i8")
    model = graph.compile()
    for x in ([0, 3], [3, 1, 3]):
        model(counts, np.array(x, "u1"))
    assert counts.tolist() == [1, 1, 0, 3]


# --- What is assigned -----------------------------------------------------------------------------

indices = strategies.one_of(strategies.integers(-4, 3), strategies.slices(4), strategies.just(None))
keys = strategies.tuples(strategies.lists(indices, max_size=4), strategies.booleans())


def draw_assignment(data):
    """An array, a key, and what fits its elements or does not."""
    array = np.arange(24, dtype="i4").reshape(2, 3, 4)
    key, has_ellipsis = data.draw(keys)
    key = tuple(key[:1] + [...] + key[1:]) if has_ellipsis else tuple(key)
    try:
        shape = array[key].shape
    except IndexError:
        assume(False)
    shape = [data.draw(strategies.sampled_from([size, size, 1, 2])) for size in shape]
    shape = shape[data.draw(strategies.integers(0, len(shape))) :]
    return array, key, -1 - np.arange(math.prod(shape), dtype="i4").reshape(shape)


def assigned(array, key, value):
    """What NumPy makes of it; None: ValueError."""
    expected = array.copy()
    try:
        expected[key] = value
    except ValueError:
        return None
    return expected


@settings(max_examples=200, deadline=None)
@given(strategies.data())
def test_tensors_take_what_numpys_arrays_take(data):
    array, key, value = draw_assignment(data)
    expected = assigned(array, key, value)
    tensor = Tensor(array)
    if expected is None:
        with pytest.raises(ValueError, match="cannot be broadcast to"):
            tensor[key] = value
        expected = array
    else:
        tensor[key] = value
    assert np.array_equal(tensor.numpy(), expected)


@settings(max_examples=200, deadline=None)
@given(strategies.data())
def test_strided_memory_takes_it_too(data):
    array, key, value = draw_assignment(data)
    memory = np.zeros((4, 6, 8), "i4")
    view = memory[::-2, 1::2, ::2]
    view[...] = array
    rest = memory.copy()
    expected = assigned(array, key, value)
    assume(expected is not None)
    Tensor.from_numpy(view)[key] = value
    assert np.array_equal(view, expected)
    rest[::-2, 1::2, ::2] = expected
    assert np.array_equal(memory, rest)


@settings(max_examples=60, deadline=None)
@given(strategies.data())
def test_values_take_what_numpys_arrays_take(data):
    array, key, value = draw_assignment(data)
    expected = assigned(array, key, value)
    graph = Graph("g", {"x": BufferType("i32", array.shape), "y": TensorType("i32", value.shape)})
    x, y = graph.inputs
    if expected is None:
        with pytest.raises(ValueError, match="cannot be broadcast to"):
            x[key] = y
        return
    x[key] = y
    graph.output()
    changed = array.copy()
    graph.compile()(changed, value)
    assert np.array_equal(changed, expected)


@settings(max_examples=60, deadline=None)
@given(strategies.data())
def test_sizes_that_are_names_are_judged_when_the_graph_runs(data):
    array, key, value = draw_assignment(data)
    expected = assigned(array, key, value)
    graph = Graph(
        "g",
        {
            "x": BufferType("i32", ["a", "b", "c"]),
            "y": TensorType("i32", [1 if size == 1 else f"y{i}" for i, size in enumerate(value.shape)]),
        },
    )
    x, y = graph.inputs
    try:
        x[key] = y
    except ValueError as refused:
        is_certain = "cannot be broadcast to" in str(refused) and expected is None
        assert is_certain or "rebind the value to say so" in str(refused)
        return
    graph.output()
    changed = array.copy()
    try:
        graph.compile()(changed, value)
    except ValueError:  # bounds that NumPy would clip are among them
        assert np.array_equal(changed, array)
        assume(expected is None)
        return
    assert np.array_equal(changed, expected)


def test_numbers_and_lists_take_the_dtype():
    tensor = Tensor([1, 2, 3], "i8")
    tensor[0], tensor[1:] = 7, [8, 9]
    assert tensor.tolist() == [7, 8, 9] and tensor.dtype is DType.int8
    tensor[...] = np.float64(2.0)
    assert tensor.tolist() == [2, 2, 2]
    tensor[1] = Tensor(5, "i8")
    tensor[-1] += 1
    assert tensor.tolist() == [2, 5, 3]
    for wrong in (1.5, 300, np.zeros(3), Tensor([1.0])):
        with pytest.raises((ValueError, OverflowError)):
            tensor[...] = wrong
    for none in ("a", None, object()):
        with pytest.raises(TypeError):
            tensor[0] = none
    with pytest.raises(TypeError, match="deleted"):
        del tensor[0]
    with pytest.raises(IndexError, match="outside"):
        tensor[3] = 1
    assert tensor.tolist() == [2, 5, 3]
    with pytest.raises(ValueError, match="read-only"):
        Tensor.from_numpy(np.frombuffer(b"abc", "u1"))[0] = 1


def test_values_of_values():
    graph = Graph("g", {"x": BufferType("f32", ["n", 2])})
    (x,) = graph.inputs
    x[0] = [1, 2.5]
    x[1:, 0] = 3
    x[1:, 1] = np.float32(4)
    with pytest.raises(TypeError, match="deleted"):
        del x[0]
    for wrong in (np.zeros(2), Tensor([1, 2])):
        with pytest.raises(ValueError, match="f32"):
            x[0] = wrong
    with pytest.raises(TypeError):
        x[0] = None
    with pytest.raises(IndexError):
        x[0, 2] = 1
    graph.output()
    array = np.zeros((3, 2), "f4")
    graph.compile()(array)
    assert array.tolist() == [[1, 2.5], [3, 4], [3, 4]]


def test_memory_that_overlaps_is_read_before_it_is_written():
    array = np.arange(5)
    tensor = Tensor.from_numpy(array)
    tensor[1:] = array[:-1]
    assert array.tolist() == [0, 0, 1, 2, 3]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_assigned(dtype):
    tensor = Tensor.zeros((2, 3), dtype)
    tensor[1, ::2] = Tensor.ones(2, dtype)
    graph = Graph("g", {"x": BufferType(dtype, [2, "n"]), "y": TensorType(dtype, [2, "n"])})
    x, y = graph.inputs
    x[1, -1] = True if dtype == "bool" else 1
    x[0] = x[1]
    x[1] = y[1]
    graph.output()
    graph.compile()(tensor, Tensor.ones((2, 3), dtype))
    assert tensor.tolist() == [[1, 0, 1], [1, 1, 1]]


def test_what_is_outside_is_said_of_the_store():
    """A number for one element takes no step of its own, which would be the one to fail."""
    graph = Graph("g", {"x": BufferType("f32", ["n", "m"])})
    graph.inputs[0][2, -1] = 1.0
    graph.output()
    assert graph.num_ops == 1
    model, array = graph.compile(), np.zeros((3, 2), "f4")
    model(array)
    assert array.tolist() == [[0, 0], [0, 0], [0, 1]]
    with pytest.raises(ValueError, match=r"store_slice: condition 'd0 >= 3' is false with d0 = 2"):
        model(array[:2])


def test_a_value_with_the_same_memory_is_read_first():
    graph = Graph("g", {"x": BufferType("f32", ["n"])})
    (x,) = graph.inputs
    for same in (x, x.reshape(-1), x.rebind(["n"])):
        with pytest.raises(ValueError, match="shares its memory"):
            x[::-1] = same
    x[::-1] = x[...]
    graph.output()
    array = np.arange(3, dtype="f4")
    graph.compile()(array)
    assert array.tolist() == [2, 1, 0]
