"""Operators of tensors and graph values, as ops of the standard package."""

import functools
from typing import Any

from ferrule import _core
from ferrule._core import CustomOp, StaticDim, Tensor, TensorValue


@functools.cache
def standard(name: str) -> CustomOp:
    return _core.declare(name, custom_extensions="std")


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that NumPy's rules give two shapes, or ValueError."""
    shape = []
    for i in range(1, max(len(a), len(b)) + 1):
        x = a[-i] if i <= len(a) else 1
        y = b[-i] if i <= len(b) else 1
        if x != y and x != 1 and y != 1:
            raise ValueError(f"the shapes {a} and {b} cannot be broadcast together")
        shape.append(y if x == 1 else x)
    return tuple(reversed(shape))


def take(other: Any, like: Tensor | TensorValue) -> Tensor | TensorValue | None:
    """What stands beside an operand; a number takes its dtype. None: nothing that has elements."""
    if isinstance(other, (bool, int, float)):
        return Tensor.full((), other, like.dtype, like.device)
    if isinstance(other, (Tensor, TensorValue)):
        return other
    if hasattr(other, "__dlpack__") or isinstance(other, (list, tuple)):
        return Tensor(other)
    return None


def fits(small: tuple[Any, ...], large: tuple[Any, ...]) -> bool:
    """Whether `small` is broadcast to `large`, as far as is known; None is a size that is not."""
    return len(small) <= len(large) and all(
        d == 1 or (d is not None and d == e) for d, e in zip(reversed(small), reversed(large))
    )


def stage(operand: Tensor, value: TensorValue) -> TensorValue:
    """A tensor beside a graph's value is a constant of the graph."""
    shape = tuple(int(dim) for dim in value.shape if isinstance(dim, StaticDim))
    if len(shape) == value.rank and fits(operand.shape, shape):
        operand = operand.broadcast_to(shape)
    return value.graph.constant(operand)


def align(x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue]:
    """Values of one shape, where it is known that one is broadcast to the other. Else the op itself
    says what is wrong."""
    if x.dtype == y.dtype and x.shape != y.shape:
        if fits(x.shape, y.shape):
            return standard("broadcast")(x, y), y
        if fits(y.shape, x.shape):
            return x, standard("broadcast")(y, x)
    return x, y


def both(a: Any, b: Any) -> tuple[Any, Any] | None:
    """The operands as tensors of one shape, or as values of one graph; None: not ours."""
    given = a if isinstance(a, (Tensor, TensorValue)) else b
    other = take(b if given is a else a, given)
    if other is None:
        return None
    x, y = (given, other) if given is a else (other, given)
    if isinstance(x, TensorValue):
        return align(x, stage(y, x) if isinstance(y, Tensor) else y)
    if isinstance(y, TensorValue):
        return align(stage(x, y), y)
    if x.shape == y.shape:
        return x, y
    shape = broadcast(x.shape, y.shape)
    return x.broadcast_to(shape), y.broadcast_to(shape)


def binary(name: str, a: Any, b: Any) -> Any:
    operands = (a, b) if name == "matmul" else both(a, b)
    if operands is None or not all(isinstance(x, (Tensor, TensorValue)) for x in operands):
        return NotImplemented
    return standard(name)(*operands)


def negate(a: Any) -> Any:
    """Of a float the sign changes, zero's too; an integer wraps."""
    return binary("mul", -1.0, a) if a.dtype.is_float() else binary("sub", 0, a)


def unary(name: str, a: Any) -> Any:
    if name == "neg":
        return negate(a)
    if not a.dtype.is_float():
        return standard("max")(a, negate(a)) if a.dtype.name[0] == "i" else standard("max")(a, a)
    return binary("add", standard("max")(a, negate(a)), 0.0)  # of -0 it is 0
