"""Random declarations never crash the interpreter, and random calls do as NumPy does."""

import functools

import pytest
from hypothesis import given, settings, strategies
from test_dims import expressions

from ferrule import CompileError, DType, Tensor, custom

np = pytest.importorskip("numpy")
REFUSALS = (TypeError, ValueError, ZeroDivisionError, OverflowError, NotImplementedError, OSError)

words = strategies.sampled_from(
    "f x y T n w s * // % + - ( ) [ ] < > , : = -> 2 0 f32 i64 inout effect where int float str "
    '"a" true any_float | == 9223372036854775807 \u00e9 \0 kernel'.split(" ")
)


@settings(max_examples=100, deadline=None)
@given(strategies.lists(words, max_size=25).map(" ".join))
def test_texts(text):
    try:
        custom.declare(text, source="")
    except REFUSALS:
        pass


names = strategies.sampled_from(["n", "w", "g", "x", "T", "1n", ""])
atoms = strategies.one_of(
    strategies.integers(-3, 2**63 - 1),
    names.filter(str.isidentifier).map(custom.Symbol),
    names.filter(str.isidentifier).map(custom.Param),
    names,
    names.map(custom.Run),
    strategies.none(),
)


@strategies.composite
def dims(draw):
    a, b = draw(atoms), draw(atoms)
    try:
        return draw(strategies.sampled_from([a, b])) if draw(strategies.booleans()) else a // b
    except REFUSALS:
        return a


templates = strategies.builds(
    lambda dtype, shape: (dtype, shape),
    strategies.one_of(
        strategies.sampled_from([d for d in vars(DType).values() if isinstance(d, DType)]),
        names.map(custom.DTypeVar),
        strategies.sampled_from(["f32", "f33"]),
        strategies.none(),
    ),
    strategies.lists(dims(), max_size=4),
)
values = strategies.one_of(
    strategies.none(),
    strategies.booleans(),
    strategies.integers(),
    strategies.floats(),
    strategies.text(max_size=3),
    strategies.sampled_from([DType.int8, int, float, str, DType, object]),
)


@settings(max_examples=100, deadline=None)
@given(
    names,
    strategies.dictionaries(names, templates, max_size=3),
    strategies.lists(templates, max_size=3),
    strategies.dictionaries(names, values, max_size=2),
    strategies.lists(strategies.one_of(words, strategies.just("n > 0"), strategies.none()), max_size=2),
    strategies.lists(names, max_size=2),
)
def test_objects(name, inputs, outputs, parameters, where, inout):
    try:
        custom.declare(
            name,
            {key: custom.TemplateType(*t) for key, t in inputs.items()},
            [custom.TemplateType(*t) for t in outputs],
            parameters,
            where=where,
            inout=inout,
            source="",
        )
    except REFUSALS:
        pass


SOURCE = "#include <ferrule/kernel.h>\nKERNEL(f, OUT(f32, 1, y), IN(f32, 2, x)) { return OK; }\n"


@settings(max_examples=100, deadline=None)
@given(expressions(depth=2), strategies.integers(0, 9), strategies.integers(0, 9))
def test_result_dims_are_pythons(text, n, m):
    """Of any expression over the operand's dims, by either form of the declaration."""
    try:
        expected = eval(text, {"n": n, "m": m})
    except ZeroDivisionError:
        return
    x = Tensor.zeros((n, m))
    if expected < 0:
        with pytest.raises(ValueError, match="f: result 0 axis 0|f: .* is negative"):
            custom.declare(f"f(x: f32[n, m]) -> f32[{text}]", source=SOURCE)(x)
        return
    names = {"n": custom.Symbol("n"), "m": custom.Symbol("m")}
    try:
        dim = eval(text, dict(names))
    except ZeroDivisionError:
        return  # a divisor that is 0 for every n and m
    matrix, row = custom.TemplateType("f32", [*names.values()]), custom.TemplateType("f32", [dim])
    objects = custom.declare("f", {"x": matrix}, [row], source=SOURCE)
    op = custom.declare(f"f(x: f32[n, m]) -> f32[{text}]", source=SOURCE)
    assert op == objects == custom.declare(repr(op), source=SOURCE)
    assert op(x).shape == (expected,)


shapes = strategies.lists(strategies.integers(0, 4), max_size=5)
codes = strategies.sampled_from(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])


@settings(max_examples=100, deadline=None)
@given(shapes, codes, strategies.data())
def test_calls_of_any_shape_and_dtype(same, shape, code, data):
    x = np.arange(int(np.prod(shape))).astype(code).reshape(shape)
    axes = data.draw(strategies.permutations(range(x.ndim)))
    steps = tuple(slice(None, None, data.draw(strategies.sampled_from([1, 2, -1]))) for _ in shape)
    view = x.transpose(axes)[steps]
    result = same(view)
    assert np.array_equal(result.numpy(), view) and result.shape == view.shape
    out = np.empty(view.shape, code)
    same(view, out=out)
    assert np.array_equal(out, view)


@pytest.fixture(scope="module")
def same():
    from conftest import kernel

    return kernel("same")


RESULTS = {"sub": np.subtract, "mul": np.multiply, "lt": np.less}


@settings(max_examples=100, deadline=None)
@given(
    strategies.sampled_from(sorted(RESULTS)),
    shapes,
    strategies.sampled_from(["u1", "i8", "f4"]),  # each is a compile for each op
    strategies.integers(0, 2**32 - 1),
)
def test_results_are_numpys(name, shape, code, seed):
    """Of elements that every dtype holds; integers wrap in both."""
    x, y = np.random.default_rng(seed).integers(0, 100, (2, *shape)).astype(code)
    expected = RESULTS[name](x, y)
    result = std(name)(x, y).numpy()
    assert result.dtype == expected.dtype and np.array_equal(result, expected)


@functools.cache
def std(name):
    return custom.declare(name, custom_extensions="std")


@settings(max_examples=100, deadline=None)
@given(strategies.lists(strategies.one_of(shapes.map(Tensor.ones), values), max_size=3))
def test_calls_with_anything(arguments):
    from conftest import kernel

    try:
        kernel("dot")(*arguments)
    except REFUSALS:
        pass
    except CompileError:
        raise
