"""Tensors: making them, looking at them, indexing and operators, against NumPy."""

import copy
import math
import pickle

import pytest
from hypothesis import given, settings, strategies

from ferrule import DeviceRef, DType, Graph, Tensor, TensorType

np = pytest.importorskip("numpy")


def test_making():
    assert Tensor.ones((2, 3)).dtype is DType.float32
    assert Tensor.zeros(2, DType.int8).tolist() == [0, 0]
    assert Tensor.full((), True, "bool").item() is True
    assert Tensor.arange(3).tolist() == [0, 1, 2]
    assert Tensor.arange(1, 2, 0.5).tolist() == [1.0, 1.5]
    assert Tensor.arange(3, dtype="f64").dtype is DType.float64
    assert Tensor.empty((2, 0), "u8").shape == (2, 0)
    assert Tensor.ones(2, device=DeviceRef.CPU(1)).device.id == 1
    for bad, kind in (
        (lambda: Tensor.ones(-1), ValueError),
        (lambda: Tensor.ones([1] * 9), ValueError),
        (lambda: Tensor.ones("ab"), TypeError),
        (lambda: Tensor.ones(2**63), OverflowError),
        (lambda: Tensor.full(2, "x"), TypeError),
        (lambda: Tensor.full(2, 1.5, "i8"), ValueError),
        (lambda: Tensor.full(2, 300, "u8"), ValueError),
        (lambda: Tensor.arange(1, 2, 0), ValueError),
        (lambda: Tensor.ones(2, "f33"), TypeError),
        (lambda: Tensor.ones(2, device=0), TypeError),
    ):
        with pytest.raises(kind):
            bad()


def test_from_sequences():
    assert Tensor([[1, 2], [3, 4]]).dtype is DType.int64
    assert Tensor([1, 2.5]).tolist() == [1.0, 2.5]
    assert Tensor([True, False]).dtype is DType.bool
    assert Tensor(range(3)).tolist() == [0, 1, 2]
    assert Tensor([]).shape == (0,) and Tensor([[], []]).shape == (2, 0)
    assert Tensor(2.5).shape == () and Tensor(3, "f16").item() == 3.0
    assert Tensor([np.float32(1.5), np.int8(2)]).tolist() == [1.5, 2.0]
    assert Tensor([1.5], "bf16").item() == 1.5
    for bad, kind in (
        ([[1], [1, 2]], ValueError),
        ([[1], 2], ValueError),
        ([1, True], ValueError),
        (["1"], TypeError),
        ([None], TypeError),
        (object(), TypeError),
        ([2**64], OverflowError),
    ):
        with pytest.raises(kind):
            Tensor(bad)
    deep = []
    for _ in range(9):
        deep = [deep]
    with pytest.raises(ValueError, match="8 deep"):
        Tensor(deep)


def test_a_tensor_of_an_array_is_a_copy():
    array = np.ones(2, "f4")
    tensor = Tensor(array)
    array[0] = 5
    assert tensor.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="cast"):
        Tensor(array, "f64")
    assert Tensor(array, device=DeviceRef.CPU(1)).device.id == 1


def test_looking():
    tensor = Tensor([[1, 2, 3]])
    assert (tensor.shape, tensor.rank, tensor.ndim, tensor.size) == ((1, 3), 2, 2, 3)
    assert tensor.nbytes == 24 and not tensor.is_read_only
    assert tensor.type == TensorType("i64", [1, 3])
    assert repr(tensor) == "i64[1, 3]\n[[1, 2, 3]]"
    assert len(tensor) == 1
    with pytest.raises(TypeError):
        len(Tensor(1))
    with pytest.raises(TypeError):
        hash(tensor)
    with pytest.raises(AttributeError):
        tensor.shape = (3,)


def test_numbers_of_every_dtype():
    for dtype in (d for d in vars(DType).values() if isinstance(d, DType)):
        item = Tensor.ones((), dtype).item()
        assert item == 1
        kind = bool if dtype is DType.bool else float if dtype.is_float() else int
        assert type(item) is kind
    assert Tensor.full((), -(2**63), "i64").item() == -(2**63)
    assert Tensor.full((), 2**64 - 1, "u64").item() == 2**64 - 1
    with pytest.raises(ValueError, match="2 elements"):
        Tensor([1, 2]).item()
    assert (float(Tensor(2.5)), int(Tensor([3]))) == (2.5, 3)


def test_truth():
    assert Tensor(1) and not Tensor([0])
    with pytest.raises(ValueError):
        bool(Tensor([1, 2]))


def test_copies():
    tensor = Tensor([1, 2])
    for made in (tensor.copy(), copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert made.tolist() == [1, 2]
        made.numpy()[0] = 9
        assert tensor.tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(Tensor.ones((2, 0), "bf16"))).shape == (2, 0)


indices = strategies.one_of(
    strategies.integers(-4, 3),
    strategies.slices(4),
    strategies.just(None),
)


@settings(max_examples=200, deadline=None)
@given(strategies.lists(indices, max_size=4), strategies.booleans())
def test_indexing_is_numpys(key, has_ellipsis):
    array = np.arange(24, dtype="i4").reshape(2, 3, 4)
    key = tuple(key[:1] + [...] + key[1:]) if has_ellipsis else tuple(key)
    try:
        expected = array[key]
    except IndexError:
        with pytest.raises(IndexError):
            Tensor(array)[key]
        return
    assert np.array_equal(Tensor(array)[key].numpy(), expected)
    assert Tensor(array)[key].shape == expected.shape


def test_indices_that_are_none():
    tensor = Tensor([1, 2])
    for key in ("a", 1.5, True, [0]):
        with pytest.raises(TypeError):
            tensor[key]
    with pytest.raises(ValueError):
        tensor[(None,) * 8]
    with pytest.raises(ValueError):
        tensor[::0]
    assert [row.item() for row in tensor] == [1, 2]


shapes = strategies.lists(strategies.integers(0, 3), max_size=3)


@settings(max_examples=100, deadline=None)
@given(shapes, shapes, strategies.sampled_from(["i4", "f4"]))
def test_operators_broadcast_as_numpys(a, b, dtype):
    x = np.arange(math.prod(a), dtype=dtype).reshape(a)
    y = np.arange(math.prod(b), dtype=dtype).reshape(b) + 1
    try:
        expected = x - y
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            Tensor(x) - Tensor(y)
        return
    assert np.array_equal((Tensor(x) - Tensor(y)).numpy(), expected)
    assert np.array_equal((Tensor(x) < Tensor(y)).numpy(), x < y)


def test_operators():
    x, y = Tensor([6.0, -4.0]), Tensor([2.0, 8.0])
    assert (x + y).tolist() == [8.0, 4.0] and (x - 1).tolist() == [5.0, -5.0]
    assert (2 * x).tolist() == [12.0, -8.0] and (1 / y).tolist() == [0.5, 0.125]
    assert (y**2).tolist() == [4.0, 64.0] and (Tensor([7]) // 2).tolist() == [3]
    assert (x == x).tolist() == [True, True] and (x != y).tolist() == [True, True]
    assert (x >= y).tolist() == [True, False]
    assert (-x).tolist() == [-6.0, 4.0] and abs(x).tolist() == [6.0, 4.0]
    assert math.copysign(1, (-Tensor(0.0)).item()) == -1
    assert math.copysign(1, abs(Tensor(-0.0)).item()) == 1
    assert abs(Tensor([-3])).tolist() == [3] and abs(Tensor([3], "u8")).tolist() == [3]
    assert (Tensor([[1, 2]]) @ Tensor([[3], [4]])).tolist() == [[11]]
    assert (x + np.ones(2, "f4")).tolist() == [7.0, -3.0]
    assert (x + [1.0, 2.0]).tolist() == [7.0, -2.0]
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(ValueError):
        x + Tensor([1, 2])
    with pytest.raises(ValueError):
        Tensor([1]) + 1.5


def test_operators_of_values():
    with Graph("g", [TensorType("f32", ["n"]), TensorType("f32", ["n"])]) as graph:
        x, y = graph.inputs
        graph.output((x + y) * x)
    assert graph.compile()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).tolist() == [4.0, 12.0]
    with Graph("g", [TensorType("f32", [2])]) as graph:
        graph.output(-(2 * graph.inputs[0]) + Tensor([1.0, 1.0]))
    assert graph.compile()(Tensor([1.0, 2.0])).tolist() == [-1.0, -3.0]
    with Graph("g", [TensorType("f32", ["n"])]) as graph:
        with pytest.raises(TypeError, match="branch"):
            bool(graph.inputs[0])


def test_numbers_and_shapes_of_numpy():
    np = pytest.importorskip("numpy")
    assert Tensor.full(np.int64(2), np.int32(7), "i32").tolist() == [7, 7]
    assert Tensor.full(2, np.float32(0.5)).tolist() == [0.5, 0.5]
    assert Tensor.arange(np.int64(3), np.int8(5)).tolist() == [3, 4]
    assert Tensor.zeros(np.array([2, 3])).shape == (2, 3)
    assert Tensor.ones(1).broadcast_to(np.array([2])).tolist() == [1.0, 1.0]
    for bad in (None, "1", 1j, [1]):
        with pytest.raises(TypeError, match="expected a number"):
            Tensor.full(2, bad)


def test_a_shape_is_one_argument():
    with pytest.raises(TypeError) as refused:
        Tensor.zeros(2, 3)
    assert str(refused.value) == (
        "expected a DType, its name or a NumPy dtype, not int; a shape is one argument, as in (2, 3)"
    )
    with pytest.raises(TypeError, match=r"a shape is a sequence of dims, as in \[3, 4\]"):
        TensorType("f32", 3)
