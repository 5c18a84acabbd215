"""Other shapes, parts and dtypes of tensors and graph values: NumPy's answers, eager and staged."""

import numpy as np
import pytest

import ferrule
from ferrule import BufferType, Graph, KernelError, Tensor, TensorType, custom

SHAPES = [(2, 3, 4), (1, 5, 1), (0, 3, 2), (4, 0, 3)]


def some(*shape, dtype="f4"):
    return np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape)


def names(array, name="d"):
    return [f"{name}{i}" for i in range(array.ndim)]


def listed(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]


def staged(function, arrays, shapes):
    with Graph("g", [TensorType(a.dtype, shape) for a, shape in zip(arrays, shapes)]) as graph:
        graph.output(*listed(function(*graph.inputs)))
    return listed(graph.compile()(*arrays))


def check(function, expected, *arrays, shapes=None):
    """The function of tensors, of values of these sizes, and of values of any."""
    shapes = shapes or [names(a, f"d{i}_") for i, a in enumerate(arrays)]
    for results in (
        listed(function(*map(Tensor, arrays))),
        staged(function, arrays, [a.shape for a in arrays]),
        staged(function, arrays, shapes),
    ):
        assert len(results) == len(listed(expected))
        for result, wanted in zip(results, listed(expected)):
            assert result.shape == wanted.shape
            np.testing.assert_array_equal(np.asarray(result), wanted)


# --- Shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6, 4), (-1,), (3, -1, 2), (24, 1), (2, 3, 4)])
def test_reshape(shape):
    x = some(2, 3, 4)
    check(lambda v: v.reshape(shape), x.reshape(shape), x)
    check(lambda v: v.reshape(*shape), x.reshape(shape), x)


def test_reshape_of_names():
    (x,) = Graph("g", [TensorType("f32", ["h", "w", 6])]).inputs
    h, w, _ = x.shape
    assert x.reshape("h", -1).shape == (h, w * 6)
    assert x.reshape([w, -1, 2]).shape == (w, h * 3, 2)
    assert x.reshape(-1, h * w).shape == (6, h * w)
    with pytest.raises(ValueError, match="there are 6 \\* h \\* w elements, never"):
        x.reshape(h * w * 6 + 1)
    with pytest.raises(ValueError, match="nothing in the graph says what k is"):
        x.reshape("k", -1)


def test_reshape_is_asserted():
    with Graph("g", [TensorType("f32", ["n"])]) as graph:
        graph.output(graph.inputs[0].reshape(-1, 2))
    model = graph.compile()
    assert model(some(4)).shape == (2, 2)
    with pytest.raises(KernelError, match=r"reshape of f32\[n\] to f32\[n // 2, 2\]: there are 3 "):
        model(some(3))


def test_reshape_shares_memory():
    x = Tensor.arange(6)
    y = x.reshape(2, 3).unsqueeze(0).flatten().reshape(3, 2)
    y.numpy()[0, 0] = 9
    assert x.tolist() == [9, 1, 2, 3, 4, 5]
    del x
    assert y.tolist() == [[9, 1], [2, 3], [4, 5]]
    strided = Tensor.from_numpy(some(2, 3).T)
    assert strided.reshape(-1).tolist() == [0, 3, 1, 4, 2, 5]
    frozen = Tensor.from_dlpack(b"ab")
    assert frozen.reshape(2, 1).is_read_only


def test_reshape_refuses():
    with pytest.raises(ValueError, match=r"reshape of i64\[6\] to \[4, -1\]: there are 6 elements"):
        Tensor.arange(6).reshape(4, -1)
    with pytest.raises(ValueError, match="only one dim can be inferred"):
        Tensor.arange(6).reshape(-1, -1)
    with pytest.raises(TypeError):
        Tensor.arange(6).reshape(2.0, 3)
    with pytest.raises(ValueError, match="highest rank is 8"):
        Tensor.arange(1).reshape((1,) * 9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unsqueeze_and_squeeze(shape, axis):
    x = some(*shape)
    check(lambda v: v.unsqueeze(axis), np.expand_dims(x, axis), x)
    check(lambda v: v.unsqueeze(axis).squeeze(axis), x, x)


def test_squeeze_of_a_name_is_asserted():
    x = some(1, 3)
    check(lambda v: v.squeeze(0), x[0], x, shapes=[["n", "m"]])
    with pytest.raises(KernelError, match="axis 0 is 2"):
        staged(lambda v: v.squeeze(0), [some(2, 0)], [["n", "m"]])
    with pytest.raises(ValueError, match=r"squeeze: axis 1 of \[1, 3\] is 3, not 1"):
        Tensor(x).squeeze(1)
    with pytest.raises(ValueError, match="squeeze: there is no axis 2 in rank 2"):
        Tensor(x).squeeze(2)
    with pytest.raises(ValueError, match="unsqueeze: there is no axis -4 in rank 3"):
        Tensor(x).unsqueeze(-4)


@pytest.mark.parametrize("axes", [(0, -1), (1, 2), (0, 1), (1, 1), (-2, -1)])
def test_flatten(axes):
    for shape in SHAPES:
        x = some(*shape)
        first, last = (axis % 3 for axis in axes)
        one = int(np.prod(shape[first : last + 1]))
        check(lambda v: v.flatten(*axes), x.reshape(*shape[:first], one, *shape[last + 1 :]), x)


def test_flatten_at_its_edges():
    assert Tensor(1).flatten().shape == (1,)
    with pytest.raises(ValueError, match="flatten: axis 1 stands behind axis 0"):
        Tensor.ones((2, 3)).flatten(1, 0)


# --- Axes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "axes", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0), (-1, 0, -2)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_permute(shape, axes):
    x = some(*shape)
    check(lambda v: v.permute(axes), x.transpose(axes), x)


def test_transpose():
    x = some(2, 3, 4)
    check(lambda v: v.transpose(0, -1), x.swapaxes(0, -1), x)
    check(lambda v: v.transpose(-2, -1), x.swapaxes(-2, -1), x)
    with pytest.raises(ValueError, match=r"permute: \[0, 0\] has not each of the 2 axes once"):
        Tensor.ones((2, 3)).permute([0, 0])
    with pytest.raises(ValueError, match="transpose: there is no axis 2 in rank 2"):
        Tensor.ones((2, 3)).transpose(0, 2)


# --- Elements -------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("index", [[1, 0, 1], [[0], [1]], [], 1])
def test_take(axis, index):
    x = some(2, 3, 4)
    places = np.array(index, dtype="i4")
    check(lambda v, i: v.take(i, axis=axis), x.take(places, axis=axis), x, places)
    check(lambda v: v.take(places, axis), x.take(places, axis=axis), x)


def test_take_of_no_places():
    x = some(2, 3)
    check(lambda v: v.take([], axis=1), np.zeros((2, 0), x.dtype), x)
    check(lambda v: v.take([[], []]), np.zeros((2, 0, 3), x.dtype), x)


def test_take_refuses():
    x = Tensor(some(2, 3))
    for axis, message in [(0, "index 0 is 2, but x has 2 rows"), (1, "axis 1 of x is 3")]:
        with pytest.raises(KernelError, match=message):
            x.take([x.shape[axis]], axis=axis)
    with pytest.raises(ValueError, match="f32"):
        x.take([0.5])
    with pytest.raises(ValueError, match="take: there is no axis 0 in rank 0"):
        Tensor(1).take([0])


@pytest.mark.parametrize("dtype", ["i8", "f8", "?", "f2"])
def test_cast(dtype):
    x = np.array([0, 1.5, -2.5, 100], "f4")
    check(lambda v: v.cast(np.dtype(dtype)), x.astype(dtype), x)
    assert Tensor(x).cast("bf16").dtype == ferrule.DType.bfloat16
    with pytest.raises(TypeError):
        Tensor(x).cast("complex")


def test_broadcast_to():
    x = some(3, 1)
    for shape in [(3, 1), (3, 4), (2, 3, 5), (3, 0)]:
        expected = np.broadcast_to(x, shape)
        check(lambda v: v.broadcast_to(shape), expected, x, shapes=[[3, 1]])
    with Graph("g", [TensorType("f32", ["n", 1]), TensorType("i8", ["m"])]) as graph:
        v, w = graph.inputs
        graph.output(v.broadcast_to(["m", "n", w.shape[0] * 2]), v.broadcast_to([2, "n", 1]))
    wide, twice = graph.compile()(x, np.zeros(2, "i1"))
    np.testing.assert_array_equal(np.asarray(wide), np.broadcast_to(x, (2, 3, 4)))
    np.testing.assert_array_equal(np.asarray(twice), np.broadcast_to(x, (2, 3, 1)))
    (v, w) = Graph("h", [TensorType("f32", ["n", 1]), TensorType("i8", ["m"])]).inputs
    with pytest.raises(ValueError, match=r"\[n, 1\] cannot be broadcast to \[m, 2\]"):
        v.broadcast_to(["m", 2])
    with pytest.raises(ValueError, match=r"\[n, 1\] cannot be broadcast to \[n\]"):
        v.broadcast_to(["n"])
    with pytest.raises(ValueError, match="nothing in the graph says what k is"):
        v.broadcast_to(["n", "k"])


# --- Parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 17])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_concat(count, axis):
    parts = []
    for i in range(count):
        shape = [2, 3, 2]
        shape[axis] = (i + 2) % 4
        parts.append(some(*shape) + 100 * i)
    shapes = [
        [f"d{i}_{j}" if j == axis % 3 else f"d{j}" for j in range(3)] for i in range(count)
    ]
    check(
        lambda *p: ferrule.concat(p, axis=axis),
        np.concatenate(parts, axis=axis),
        *parts,
        shapes=shapes,
    )


def test_concat_copies_once():
    """One op for up to 8 parts."""
    with Graph("g", [TensorType("f32", ["h", "w"])] * 8) as graph:
        graph.output(ferrule.concat(graph.inputs, axis=1))
    assert graph.num_ops == 1
    x = Tensor.arange(2)
    y = ferrule.concat([x])
    y.numpy()[0] = 7
    assert x.tolist() == [0, 1]


def test_concat_takes_what_has_elements():
    assert ferrule.concat([[1], np.array([2])]).tolist() == [1, 2]
    with Graph("g", [TensorType("f32", ["n"])]) as graph:
        graph.output(ferrule.concat([graph.inputs[0], [5.0]]))
    assert graph.compile()(some(2)).tolist() == [0, 1, 5]


def test_concat_refuses():
    x = Tensor.ones((2, 3))
    for parts, axis, message in [
        ([], 0, "concat: there are no parts"),
        ([x, Tensor.ones(3)], 0, "concat: part 1 has rank 1, but part 0 has 2"),
        ([x, Tensor.ones((2, 3), "f64")], 0, "concat: part 1 is DType.float64, but part 0"),
        ([x, Tensor.ones((2, 4))], 0, r"concat: part 1 is \[2, 4\], but part 0 is \[2, 3\]: they "),
        ([x, x], 2, "concat: there is no axis 2 in rank 2"),
        ([Tensor(1), Tensor(2)], 0, "concat: there is no axis 0 in rank 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            ferrule.concat(parts, axis=axis)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_split(axis):
    x = some(4, 4, 4)
    for given, places in [(2, [2]), (4, [1, 2, 3]), ([1, 0, 3], [1, 1]), ([4], [])]:
        check(lambda v: ferrule.split(v, given, axis=axis), np.split(x, places, axis=axis), x)


def test_split_refuses():
    x = Tensor.ones((4, 2))
    for given, message in [
        ([1, 2], r"split: the sizes \[1, 2\] add up to 3, but axis 0 is 4"),
        ([5, -1], "split: size 1 is -1, below 0"),
        (3, "split: axis 0 is 4, which 3 parts do not divide"),
        (0, "split: into 0 parts"),
    ]:
        with pytest.raises(ValueError, match=message):
            ferrule.split(x, given)
    with pytest.raises(KernelError, match="axis 0 is 4"):
        staged(lambda v: ferrule.split(v, [1, 2]), [some(4)], [["n"]])
    with pytest.raises(KernelError, match="there are 4 elements, not 3"):
        staged(lambda v: ferrule.split(v, 3), [some(4)], [["n"]])


# --- Sizes ----------------------------------------------------------------------------------------


def test_dims_are_values():
    with Graph("g", [TensorType("f32", ["n", 3])]) as graph:
        (x,) = graph.inputs
        zero = graph.constant(np.int64(0))
        turns = graph.while_loop(lambda i: i < x.dim(0), lambda i: i + 1, zero)
        graph.output(turns, x.dim(-1), x.flatten().dim(0))
    results = graph.compile()(some(5, 3))
    assert [r.item() for r in results] == [5, 3, 15]
    assert {r.dtype for r in results} == {ferrule.DType.int64}
    with pytest.raises(ValueError, match="dim: there is no axis 2 in rank 2"):
        Graph("h", [TensorType("f32", ["n", 3])]).inputs[0].dim(2)


def test_a_value_changes_through_its_reshape():
    store = custom.declare(
        "fill(inout x: f32[n], y: f32[]) -> ()",
        source="""
#include <ferrule/kernel.h>
KERNEL(fill, INOUT(f32, 1, x), IN(f32, 0, y))
{
    for (index_t i = 0; i < DIM(x, 0); i++)
        AT(x, i) = AT(y);
    return OK;
}
""",
    )
    with Graph("g", [BufferType("f32", ["h", "w"])]) as graph:
        (x,) = graph.inputs
        store(x.flatten(), 4.0)
        graph.output(x + x)
    array = some(2, 2)
    assert graph.compile()(array).tolist() == [[8, 8], [8, 8]]
    assert array.tolist() == [[4, 4], [4, 4]]
    tensor = Tensor.ones((2, 2))
    store(tensor.flatten(), 4.0)
    assert tensor.tolist() == [[4, 4], [4, 4]]
