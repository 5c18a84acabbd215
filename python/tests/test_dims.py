"""Dims, held to Python's integers, and dtypes and types."""

import pickle

import pytest
from hypothesis import given, settings, strategies

from ferrule import (
    AlgebraicDim,
    DeviceRef,
    Dim,
    DType,
    StaticDim,
    SymbolicDim,
    TensorType,
    custom,
)

small = strategies.integers(-9, 9)
ends = strategies.sampled_from([-(2**63), -(2**62), -(2**32), 2**31, 2**62, 2**63 - 1])


@strategies.composite
def expressions(draw, depth=3):
    """A function of two integers or dims, as text for eval()."""
    if depth == 0 or draw(strategies.booleans()):
        return draw(strategies.sampled_from(["n", "m"]) | small.map(lambda i: f"({i})"))
    a, b = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    return f"({a} {draw(strategies.sampled_from(['+', '-', '*', '//', '%']))} {b})"


@settings(max_examples=200, deadline=None)
@given(expressions(), small, small)
def test_arithmetic_is_pythons(text, n, m):
    """Where the integers have a value the dim has it too, by either way."""
    try:
        expected = eval(text, {"n": n, "m": m})
    except ZeroDivisionError:
        return
    try:
        dim = eval(text, {"n": Dim("n"), "m": Dim("m")})
    except ZeroDivisionError:
        return  # a divisor that is 0 for every n and m
    except OverflowError:
        return
    dim = Dim(dim) if isinstance(dim, int) else dim
    assert int(dim.substitute({"n": n, "m": m})) == expected
    assert Dim(str(dim)) == dim
    assert hash(Dim(str(dim))) == hash(dim)
    assert pickle.loads(pickle.dumps(dim)) == dim


@settings(max_examples=200, deadline=None)
@given(expressions(), small | ends, small | ends)
def test_large_dims_are_exact_or_refused(text, n, m):
    """Never a wrap: the integer that Python has, or OverflowError where 64 bits do not hold it, or a
    step to it."""
    try:
        expected = eval(text, {"n": n, "m": m})
        value = int(Dim(eval(text, {"n": Dim("n"), "m": Dim("m")})).substitute({"n": n, "m": m}))
    except (ZeroDivisionError, OverflowError):
        return
    assert value == expected and -(2**63) <= value < 2**63


def test_classes():
    assert type(Dim("n")) is SymbolicDim and type(Dim(3)) is StaticDim
    assert type(Dim("n") // 2) is AlgebraicDim
    assert type(Dim("n") - Dim("n")) is StaticDim
    assert SymbolicDim("n") == Dim("n") and StaticDim(3) == Dim(3)
    with pytest.raises(TypeError):
        SymbolicDim(3)
    with pytest.raises(TypeError):
        AlgebraicDim("n")
    assert isinstance(custom.Symbol("n"), SymbolicDim)
    assert custom.Symbol("n").name == "n" and StaticDim(4).dim == 4


def test_equality():
    n = Dim("n")
    assert n == "n" and hash(n) == hash("n") and n != "m"
    assert Dim(4) == 4 and hash(Dim(4)) == hash(4) and Dim(4) != 5
    assert custom.Symbol("n") != "n" and custom.Symbol("n") != n
    assert custom.Param("n") != custom.Symbol("n")
    assert n + 1 != "n + 1"
    assert n != None and n != object()  # noqa: E711
    assert Dim(3) < 4 and Dim(3) >= Dim(3)
    with pytest.raises(TypeError):
        n < 4
    with pytest.raises(TypeError):
        n < Dim(4)
    assert (bool(Dim(0)), bool(Dim(2)), bool(n)) == (False, True, True)


def test_integers():
    assert int(Dim(7)) == 7 and list(range(Dim(2))) == [0, 1]
    with pytest.raises(TypeError, match="n"):
        int(Dim("n"))
    for thing in (True, 1.5, None, [1]):
        with pytest.raises(TypeError):
            Dim(thing)
    with pytest.raises(TypeError):
        Dim("n") + "m"
    with pytest.raises(TypeError):
        Dim("n") + True
    with pytest.raises(TypeError):
        Dim("n") / 2
    with pytest.raises(OverflowError):
        Dim(2**63)
    with pytest.raises(OverflowError):
        Dim(2**62) * 4
    with pytest.raises(ZeroDivisionError):
        Dim("n") // 0
    with pytest.raises(ZeroDivisionError):
        1 // Dim(0)
    with pytest.raises(ValueError, match="column 4"):
        Dim("n +")
    assert -Dim("n") == 0 - Dim("n") and +Dim("n") == "n" and 7 // Dim(2) == 3


def test_substitute_and_parameters():
    n, w = custom.Symbols("n", "w")
    dim = n * (w // 2) + 1
    assert set(dim.parameters) == {n, w}
    assert dim.substitute({w: 4}) == 2 * n + 1
    assert dim.substitute({w: "k", n: 1}) == Dim("k // 2 + 1")
    assert dim.substitute({"w": 4}) == dim  # a caller's w is another
    assert Dim(3).parameters == ()
    with pytest.raises(TypeError, match="no symbol"):
        dim.substitute({n + 1: 2})
    with pytest.raises(ZeroDivisionError):
        (Dim("n") // Dim("m")).substitute({"m": 0})
    with pytest.raises(TypeError):
        dim.substitute({w: 1.5})


def test_repr():
    assert repr(Dim("n")) == "SymbolicDim('n')" and repr(Dim(3)) == "StaticDim(3)"
    assert str(Dim("n") * 2 // 4) == "n // 2"
    assert repr(custom.Param("g")) == "Param('g')"


def test_symbols_are_pickled_in_their_namespace():
    n, g = custom.Symbol("n"), custom.Param("g")
    for dim in (n, g, n // g, Dim("n"), Dim(3), Dim("n") + 1):
        again = pickle.loads(pickle.dumps(dim))
        assert again == dim and type(again) is type(dim)


def test_a_symbols_name():
    for name in ("", "1n", "n m", "n-1"):
        with pytest.raises(ValueError):
            custom.Symbol(name)


def test_dtypes():
    numpy = pytest.importorskip("numpy")
    dtype = DType("f32")
    assert dtype is DType.float32 is DType("float32") is DType(dtype)
    assert (dtype.name, dtype.short_name, dtype.size_in_bytes) == ("float32", "f32", 4)
    assert repr(dtype) == "DType.float32" and pickle.loads(pickle.dumps(dtype)) is dtype
    assert dtype.to_numpy() == numpy.float32 and DType.from_numpy(numpy.float32) is dtype
    assert dtype.is_float() and not dtype.is_integral() and DType.uint8.is_integral()
    assert not DType.bool.is_integral()
    with pytest.raises(NotImplementedError, match="byte order"):
        DType.from_numpy(">f4")
    with pytest.raises(TypeError):
        DType.from_numpy("M8[s]")
    with pytest.raises(TypeError, match="f33"):
        DType("f33")
    with pytest.raises(TypeError):
        DType(32)
    with pytest.raises(TypeError):
        DType.float32 = None


def test_small_dtypes_need_ml_dtypes(monkeypatch):
    pytest.importorskip("numpy")
    import sys

    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match="install ml_dtypes"):
        DType.bfloat16.to_numpy()


def test_devices():
    assert DeviceRef.CPU() == DeviceRef.CPU(0) != DeviceRef.CPU(1)
    assert hash(DeviceRef.CPU()) == hash(DeviceRef.CPU(id=0))
    assert repr(DeviceRef.CPU(1)) == "DeviceRef.CPU(1)" and DeviceRef.CPU(1).id == 1
    assert pickle.loads(pickle.dumps(DeviceRef.CPU(1))) == DeviceRef.CPU(1)


def test_tensor_types():
    t = TensorType(DType.float32, ["n", 8, Dim("c") // 2], DeviceRef.CPU())
    assert t.dtype is DType.float32 and t.rank == 3 and t.device == DeviceRef.CPU()
    assert t.shape == ("n", 8, Dim("c // 2"))
    assert t == TensorType("f32", ("n", 8, "c // 2")) and hash(t) == hash(pickle.loads(pickle.dumps(t)))
    assert t != TensorType("f32", ("n", 8, "c // 2"), DeviceRef.CPU(1))
    assert str(t) == "f32[n, 8, c // 2]" and repr(t) == "TensorType(f32[n, 8, c // 2])"
    with pytest.raises(ValueError):
        TensorType("f32", [-1])
    with pytest.raises(ValueError, match="rank"):
        TensorType("f32", [1] * 9)
    with pytest.raises(OverflowError):
        TensorType("f32", [4294967296, 4294967296])
    assert TensorType("f32", [1099511627776, 1099511627776, 0]).rank == 3
    with pytest.raises(TypeError, match="reserved"):
        TensorType("f32", [custom.Symbol("n")])
    with pytest.raises(TypeError):
        TensorType("f32", 3)
