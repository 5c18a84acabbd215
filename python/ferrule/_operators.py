"""Operators of tensors and graph values, as ops of the standard package."""

import functools

from ferrule import _core
from ferrule._core import Tensor, TensorValue


@functools.cache
def standard(name):
    return _core.declare(name, custom_extensions="std")


def broadcast(a, b):
    """The shape that NumPy's rules give two shapes, or ValueError."""
    shape = []
    for i in range(1, max(len(a), len(b)) + 1):
        x = a[-i] if i <= len(a) else 1
        y = b[-i] if i <= len(b) else 1
        if x != y and x != 1 and y != 1:
            raise ValueError(f"the shapes {a} and {b} cannot be broadcast together")
        shape.append(y if x == 1 else x)
    return tuple(reversed(shape))


def both(a, b):
    """The operands as tensors of one shape or values of one graph; None: not ours."""
    given = a if isinstance(a, (Tensor, TensorValue)) else b
    other = b if given is a else a
    if isinstance(other, (bool, int, float)):
        made = Tensor.full((), other, given.dtype, given.device)
    elif isinstance(other, (Tensor, TensorValue)):
        made = other
    elif hasattr(other, "__dlpack__") or isinstance(other, (list, tuple)):
        made = Tensor(other)
    else:
        return None
    values = [v for v in (given, made) if isinstance(v, TensorValue)]
    if not values:
        shape = broadcast(given.shape, made.shape)
        pair = [t if t.shape == shape else t.broadcast_to(shape) for t in (given, made)]
    else:
        pair = [stage(t, values[0]) for t in (given, made)]
    return pair if given is a else pair[::-1]


def stage(operand, value):
    """A tensor beside a graph's value is a constant of the graph, if its shape is known."""
    if isinstance(operand, TensorValue):
        return operand
    if operand.shape != tuple(value.shape):
        if not all(hasattr(dim, "dim") for dim in value.shape):
            raise ValueError(
                f"a tensor of shape {operand.shape} cannot be broadcast to a graph value of shape "
                f"{[str(dim) for dim in value.shape]}, which is known only when the graph runs"
            )
        operand = operand.broadcast_to(tuple(int(dim) for dim in value.shape))
    return value.graph.constant(operand)


def binary(name, a, b):
    operands = (a, b) if name == "matmul" else both(a, b)
    if operands is None or not all(isinstance(x, (Tensor, TensorValue)) for x in operands):
        return NotImplemented
    return standard(name)(*operands)


def negate(a):
    """Of a float the sign changes, zero's too; an integer wraps."""
    sign = both(a, -1.0 if a.dtype.is_float() else 0)[1]
    return standard("mul")(sign, a) if a.dtype.is_float() else standard("sub")(sign, a)


def unary(name, a):
    if name == "neg":
        return negate(a)
    if not a.dtype.is_float():
        return standard("max")(a, negate(a)) if a.dtype.name[0] == "i" else standard("max")(a, a)
    return standard("add")(standard("max")(a, negate(a)), both(a, 0.0)[1])  # of -0 it is 0
