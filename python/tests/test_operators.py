"""Operators of tensors and graph values, against NumPy's."""

import math
import operator

import pytest
from hypothesis import given, settings, strategies

from ferrule import DType, Graph, KernelError, Tensor, TensorType

np = pytest.importorskip("numpy")

OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
]
DTYPES = ["i1", "i4", "i8", "u8", "f2", "f4", "f8"]


def same(actual, expected):
    """The same elements, dtype and shape; NaN is NaN, and 0 and -0 differ."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    assert np.array_equal(actual, expected, equal_nan=actual.dtype.kind == "f")
    if actual.dtype.kind == "f":
        number = ~np.isnan(expected)
        assert np.array_equal(np.signbit(actual)[number], np.signbit(expected)[number])


def numbers(dtype, is_exponent, is_divisor):
    if dtype[0] == "f":
        special = strategies.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 0.1, -7.0])
        small = strategies.floats(-50, 50, width=16 if dtype == "f2" else 32)
        return strategies.one_of(special, small)
    bits = np.iinfo(dtype)
    values = strategies.one_of(
        strategies.integers(max(-9, int(bits.min)), 9), strategies.integers(int(bits.min), int(bits.max))
    )
    if is_exponent:
        return strategies.integers(0, 9)
    return values.filter(bool) if is_divisor else values


@settings(max_examples=300, deadline=None)
@given(strategies.data())
def test_divisions_and_powers_are_numpys(data):
    apply = data.draw(strategies.sampled_from([operator.truediv, operator.floordiv, operator.mod, operator.pow]))
    is_exponent, is_divisor = apply is operator.pow, apply in (operator.floordiv, operator.mod)
    # A power of floats is the C library's, and not NumPy's.
    dtype = data.draw(strategies.sampled_from(DTYPES[:4] if is_exponent else DTYPES))
    count = data.draw(strategies.integers(0, 5))
    a = data.draw(strategies.lists(numbers(dtype, False, False), min_size=count, max_size=count))
    b = data.draw(strategies.lists(numbers(dtype, is_exponent, is_divisor), min_size=count, max_size=count))
    x, y = np.array(a, dtype), np.array(b, dtype)
    with np.errstate(all="ignore"):
        same(apply(Tensor(x), Tensor(y)), apply(x, y))


@settings(max_examples=100, deadline=None)
@given(strategies.integers(-9, 9), strategies.integers(-9, 9).filter(bool))
def test_divmod(a, b):
    for x, y in ((Tensor(a), Tensor(b)), (Tensor(a), b), (a, Tensor(b)), (Tensor(float(a)), float(b))):
        quotient, rest = divmod(x, y)
        assert (quotient.item(), rest.item()) == divmod(a, b)


def test_results_of_division():
    assert (Tensor([7, -7]) / 2).tolist() == [3.5, -3.5]
    assert (Tensor([7], "u8") / Tensor([2], "i8")).dtype is DType.float64
    assert (Tensor([True]) / Tensor([True])).dtype is DType.float64
    assert (1 / Tensor([4])).tolist() == [0.25] and (Tensor([5]) / 2.5).tolist() == [2.0]
    assert (Tensor([1]) / 0).tolist() == [math.inf]
    assert (Tensor([7.0]) / 2).dtype is DType.float32
    with pytest.raises(ValueError, match="div"):
        Tensor([7]) / Tensor([2.0])
    for divide in (operator.floordiv, operator.mod, divmod):
        with pytest.raises(KernelError, match="division by zero: element 1 of b is 0"):
            divide(Tensor([1, 1]), Tensor([1, 0]))
    assert (Tensor([-(2**63)]) // -1).tolist() == [-(2**63)] and (Tensor([-(2**63)]) % -1).tolist() == [0]


def test_powers():
    assert (Tensor([2, -3]) ** 3).tolist() == [8, -27] and (2 ** Tensor([0, 10])).tolist() == [1, 1024]
    assert (Tensor([3], "u8") ** 6).tolist() == [3**6 % 256]
    with pytest.raises(KernelError, match="element 1 of b is -1"):
        Tensor([2, 2]) ** Tensor([1, -1])
    with pytest.raises(TypeError):
        pow(Tensor([2]), 2, 3)


def test_unary():
    x = Tensor([6.0, -4.0])
    assert (+x).tolist() == [6.0, -4.0]
    (+x).numpy()[0] = 0
    assert x.tolist() == [6.0, -4.0]
    assert (-Tensor([1, 0], "u8")).tolist() == [255, 0] and abs(Tensor([3], "u8")).tolist() == [3]
    graph = Graph("g", [TensorType("f32", ["n"])])
    assert +graph.inputs[0] is not None and graph.num_ops == 0


BITS = [operator.and_, operator.or_, operator.xor]


@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "i8", "u1", "u8"])
def test_bits_are_numpys(dtype):
    x = np.array([[0, 1, 2, 255, 77]]).astype(dtype)
    y = np.array([[3], [0], [-2]]).astype(dtype)
    for apply in BITS:
        same(apply(Tensor(x), Tensor(y)), apply(x, y))
        for number in (True, False) if dtype == "?" else (1, 5):
            same(apply(Tensor(x), number), apply(x, number))
            same(apply(number, Tensor(x)), apply(number, x))
    same(~Tensor(x), ~x)
    x &= y[0]
    with Graph("g", [TensorType(Tensor(x).dtype, ["n", 5])] * 2) as graph:
        a, b = graph.inputs
        graph.output(*(apply(a, b) for apply in BITS), ~a)
    results = graph.compile()(x, x[:, ::-1])
    for result, expected in zip(results, [*(apply(x, x[:, ::-1]) for apply in BITS), ~x]):
        same(result, expected)


def test_predicates_of_several():
    with Graph("g", [TensorType("f32", [])]) as graph:
        (x,) = graph.inputs
        is_inside = (x > 0.0) & ~(x > 1.0) | (x == 5.0)
        graph.output(graph.cond(is_inside, lambda: x, lambda: -x))
    assert [graph.compile()(x).item() for x in (0.5, 2.0, 5.0)] == [0.5, -2.0, 5.0]


def test_bits_refuse():
    with pytest.raises(ValueError, match="bitwise_and: operand 'a' is f32"):
        Tensor([1.0]) & Tensor([2.0])
    with pytest.raises(ValueError, match="bitwise_not: operand 'x' is f32"):
        ~Tensor([1.0])
    with pytest.raises(TypeError):
        Tensor([True]) & "a"


def test_operators_in_place_make_new_tensors():
    x = first = Tensor([7, 8])
    x += 1
    x *= 2
    x %= 5
    x **= 2
    x //= 1
    x /= 2
    assert first.tolist() == [7, 8] and x.tolist() == [0.5, 4.5]


def test_numbers_of_numpy():
    x = Tensor([1.0, 2.0])
    for number in (np.float32(2), np.int64(2), np.float64(2), np.float16(2)):
        for result in (x * number, number * x):
            assert isinstance(result, Tensor) and result.tolist() == [2.0, 4.0]
    for result in (x + np.ones(2, "f4"), np.ones(2, "f4") + x):
        assert isinstance(result, Tensor) and result.tolist() == [2.0, 3.0]


def test_numbers_of_numpy_beside_values():
    with Graph("g", [TensorType("f32", [2])]) as graph:
        (x,) = graph.inputs
        graph.output(np.float32(2) * x, np.ones(1, "f4") + x, x @ np.ones(2, "f4"))
    double, more, total = graph.compile()(Tensor([1.0, 2.0]))
    assert (double.tolist(), more.tolist(), total.item()) == ([2.0, 4.0], [2.0, 3.0], 3.0)


# --- Matrices -------------------------------------------------------------------------------------

matrix_shapes = [
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((4, 3), (3,)),
    ((4, 3), (3, 2)),
    ((3,), (5, 3, 2)),
    ((5, 4, 3), (3,)),
    ((4, 3), (5, 3, 2)),
    ((5, 1, 4, 3), (6, 3, 2)),
    ((0,), (0,)),
]


@pytest.mark.parametrize("a, b", matrix_shapes)
def test_matmul_is_numpys(a, b):
    x = np.arange(math.prod(a), dtype="i8").reshape(a)
    y = np.arange(math.prod(b), dtype="i8").reshape(b) - 3
    same(Tensor(x) @ Tensor(y), x @ y)
    same(Tensor(x) @ y, x @ y)
    with Graph("g", [TensorType("i64", a), TensorType("i64", b)]) as graph:
        graph.output(graph.inputs[0] @ graph.inputs[1])
    assert graph.outputs[0].shape == (x @ y).shape
    same(graph.compile()(x, y), x @ y)


def test_matmul_refuses():
    for bad in (2, 2.0, Tensor(1), np.float32(1), "a"):
        with pytest.raises((TypeError, ValueError)):
            Tensor([1, 2]) @ bad
        with pytest.raises((TypeError, ValueError)):
            bad @ Tensor([1, 2])
    with pytest.raises(ValueError, match="matmul"):
        Tensor([1, 2]) @ Tensor([1, 2, 3])
    with pytest.raises(ValueError, match="broadcast"):
        Tensor.ones((2, 2, 2)) @ Tensor.ones((3, 2, 2))


# --- Graph values ---------------------------------------------------------------------------------


@pytest.mark.parametrize("apply", OPERATORS)
def test_two_way_broadcasting_of_values(apply):
    types = [TensorType("i64", ["n", 1]), TensorType("i64", [1, "m"]), TensorType("i64", ["k", "n", 1])]
    with Graph("g", types) as graph:
        column, row, stack = graph.inputs
        graph.output(apply(column, row), apply(row, column), apply(stack, row), apply(row, 2), apply(2, column))
    assert graph.outputs[0].shape == ("n", "m") and graph.outputs[2].shape == ("k", "n", "m")
    x, y, z = np.array([[1], [2], [3]]), np.array([[4, 5]]), np.arange(1, 7).reshape(2, 3, 1)
    results = graph.compile()(x, y, z)
    for result, expected in zip(results, (apply(x, y), apply(y, x), apply(z, y), apply(y, 2), apply(2, x))):
        same(result, expected)


def test_sizes_that_may_differ_are_refused():
    graph = Graph("g", [TensorType("f32", ["n"]), TensorType("f32", ["m"]), TensorType("f32", [3, "n"])])
    x, y, z = graph.inputs
    with pytest.raises(ValueError, match="add: operand 'b' axis 0 is m, but .* n there"):
        x + y
    with pytest.raises(ValueError, match="add: "):
        z + y
    assert graph.num_ops == 0


def test_a_number_beside_a_value_takes_no_memory():
    with Graph("g", [TensorType("f32", ["n", "m"])]) as graph:
        graph.output(2 * graph.inputs[0])
    assert "= constant f32[] [2.0]" in str(graph) and graph.num_ops == 1


static_keys = strategies.one_of(
    strategies.integers(-4, 3), strategies.slices(4), strategies.just(None)
)


@settings(max_examples=60, deadline=None)
@given(strategies.lists(static_keys, max_size=4), strategies.booleans())
def test_indexing_values_is_numpys(key, has_ellipsis):
    array = np.arange(24, dtype="i4").reshape(2, 3, 4)
    key = tuple(key[:1] + [...] + key[1:]) if has_ellipsis else tuple(key)
    with Graph("g", [TensorType("i32", [2, 3, 4])]) as graph:
        try:
            expected = array[key]
        except IndexError:
            with pytest.raises(IndexError):
                graph.inputs[0][key]
            return
        graph.output(graph.inputs[0][key])
    assert graph.outputs[0].shape == expected.shape
    same(graph.compile()(array), expected)


def pick(value, text):
    return eval(f"value[{text}]", {"value": value})


@pytest.mark.parametrize(
    "key, shape, least",
    [
        ("1:", "n - 1", 1),
        (":-1", "n - 1", 1),
        ("2:-1", "n - 3", 3),
        ("::2", "(n + 1) // 2", 0),
        ("1::3", "(n + 1) // 3", 1),
        ("::-1", "n", 0),
        ("::-2", "(n + 1) // 2", 0),
        ("-2::-1", "n - 1", 2),
        ("3::-2", "2", 4),
        (":3", "3", 3),
        ("-3:", "3", 3),
        ("-2:2", "4 - n", 2),
        ("5:2", "0", 0),
        ("2:2:-1", "0", 0),
        ("...", "n", 0),
    ],
)
def test_slices_of_an_axis_of_any_size(key, shape, least):
    """Bounds have to lie within the axis; then they are NumPy's."""
    with Graph("g", [TensorType("i64", ["n"])]) as graph:
        graph.output(pick(graph.inputs[0], key))
    assert graph.outputs[0].shape == TensorType("i64", [shape]).shape
    model = graph.compile()
    for n in range(least, 8 if key != "-2:2" else 5):
        x = np.arange(n)
        same(model(x), pick(x, key))
    for n in range(least):
        with pytest.raises(ValueError, match="slice: condition|negative"):
            model(np.arange(n))


def test_several_axes_of_any_size():
    with Graph("g", [TensorType("f32", ["n", "m", 4])]) as graph:
        (x,) = graph.inputs
        graph.output(x[::2, None, -1, 1:3], x[:, :2], x[0], x[..., 0], x[0, 0, 0])
    assert [list(map(str, value.shape)) for value in graph.outputs] == [
        ["(n + 1) // 2", "1", "2"],
        ["n", "2", "4"],
        ["m", "4"],
        ["n", "m"],
        [],
    ]
    x = np.arange(60, dtype="f4").reshape(5, 3, 4)
    for result, expected in zip(
        graph.compile()(x), (x[::2, None, -1, 1:3], x[:, :2], x[0], x[..., 0], x[0, 0, 0])
    ):
        same(result, expected)
    with pytest.raises(ValueError, match="slice: condition 'd1 >= 2' is false with d1 = 1"):
        graph.compile()(np.ones((5, 1, 4), "f4"))


def test_indices_of_values_that_are_none():
    graph = Graph("g", [TensorType("f32", [2, "n"])])
    (x,) = graph.inputs
    for key in ("a", 1.5, True, [0], np.array([0])):
        with pytest.raises(TypeError, match="index"):
            x[key]
    for key in (2, -3, (0, 0, 0), (..., ...)):
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(ValueError, match="zero"):
        x[:, ::0]
    with pytest.raises(ValueError, match="8"):
        x[(None,) * 8]
    with pytest.raises(TypeError, match="iter"):
        iter(x)
    assert x[...] is x and x[:, :] is x and x[0:2, 0:] is x
    assert graph.num_ops == 0
