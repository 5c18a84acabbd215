"""Operators of tensors and graph values, as ops of the standard package."""

import functools
import numbers
from typing import Any

from ferrule import _core
from ferrule._core import CustomOp, DType, Tensor, TensorValue

# What is no MAP, and so takes no scalar for all elements.
KERNELS = {"floor_div", "floor_mod", "int_pow"}


@functools.cache
def standard(name: str) -> CustomOp:
    return _core.declare(name, custom_extensions="std")


@functools.cache
def with_scalar(name: str, operand: str) -> CustomOp:
    """The op whose operand `a` or `b` is one number for all elements of the other."""
    declaration = str(standard(name)).replace(f"{operand}: T[*s]", f"{operand}: T[]")
    return _core.declare(declaration, custom_extensions="std")


@functools.cache
def to_float64() -> CustomOp:
    return standard("cast")[{"to": DType.float64}]


@functools.lru_cache(128)
def declared(signature: str) -> CustomOp:
    """An op of the standard package with other dims than its own; nothing is compiled for them."""
    return _core.declare(signature, custom_extensions="std")


# --- Operands -------------------------------------------------------------------------------------


def is_ours(x: Any) -> bool:
    return isinstance(x, (Tensor, TensorValue))


def is_float(x: Any) -> bool:
    return is_ours(x) and x.dtype.is_float()


def take(x: Any) -> Any:
    """A number, tensor or value as it is; what has elements as a tensor. None: anything else."""
    if is_ours(x) or isinstance(x, (bool, int, float, numbers.Real)):
        return x
    if hasattr(x, "__dlpack__") or isinstance(x, (list, tuple)):
        return Tensor(x)
    return None


def widen(x: Any) -> Any:
    return to_float64()(x) if is_ours(x) and not is_float(x) else x


def pair(a: Any, b: Any, divide: bool = False) -> tuple[Any, Any] | None:
    """The operands as tensors, or as values of one graph; a number takes the other one's dtype.
    Integers that are to be divided become float64. None: not ours."""
    x, y = take(a), take(b)
    if x is None or y is None:
        return None
    if divide and not is_float(x) and not is_float(y):
        x, y = widen(x), widen(y)
    if not is_ours(x):
        x = Tensor.full((), x, y.dtype, y.device)
    if not is_ours(y):
        y = Tensor.full((), y, x.dtype, x.device)
    if isinstance(x, TensorValue) and isinstance(y, Tensor):
        y = x.graph.constant(y)
    elif isinstance(y, TensorValue) and isinstance(x, Tensor):
        x = y.graph.constant(x)
    return x, y


# --- Broadcasting ---------------------------------------------------------------------------------


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that NumPy's rules give two shapes, or ValueError."""
    shape: list[int] = []
    for i in range(1, max(len(a), len(b)) + 1):
        x = a[-i] if i <= len(a) else 1
        y = b[-i] if i <= len(b) else 1
        if x != y and x != 1 and y != 1:
            raise ValueError(f"the shapes {a} and {b} cannot be broadcast together")
        shape.append(y if x == 1 else x)
    return tuple(reversed(shape))


def axes(names: list[str]) -> str:
    return "T[" + ", ".join(names) + "]"


def spread(x: TensorValue, like: TensorValue, kept: int) -> TensorValue:
    """x in the shape that the two broadcast to, but for its last axes, of which `kept` stay."""
    own, other = x.shape[: x.rank - kept], like.shape[: like.rank - kept]
    names = [f"d{i}" for i in range(max(len(own), len(other)))]
    from_own, from_other = names[len(names) - len(own) :], names[len(names) - len(other) :]
    for i in range(1, min(len(own), len(other)) + 1):
        if own[-i] != other[-i]:
            (from_own if own[-i] == 1 else from_other)[-i] = "1"
    if from_own == names:
        return x
    last, last_of_other = ([f"{name}{i}" for i in range(kept)] for name in "xy")
    given = f"x: {axes(from_own + last)}, like: {axes(from_other + last_of_other)}"
    result: TensorValue = declared(f"broadcast<T>({given}) -> {axes(names + last)}")(x, like)
    return result


def align(x: Any, y: Any, kept: int = 0) -> tuple[Any, Any]:
    """Operands of one shape, but for their last axes, of which `kept` stay. Values that are not
    known to fit stay as they are: the op itself says what is wrong."""
    own, other = x.shape[: x.rank - kept], y.shape[: y.rank - kept]
    if own == other or x.dtype != y.dtype:
        return x, y
    if isinstance(x, Tensor):
        shape = broadcast(own, other)
        return (
            x.broadcast_to(shape + x.shape[len(own) :]),
            y.broadcast_to(shape + y.shape[len(other) :]),
        )
    if all(d == e or d == 1 or e == 1 for d, e in zip(reversed(own), reversed(other))):
        return spread(x, y, kept), spread(y, x, kept)
    return x, y


# --- Operators ------------------------------------------------------------------------------------


def elementwise(name: str, a: Any, b: Any) -> Any:
    operands = pair(a, b, divide=name == "div")
    if operands is None:
        return NotImplemented
    x, y = operands
    if name == "pow" and not is_float(x):
        name = "int_pow"
    if (x.rank == 0) != (y.rank == 0) and name not in KERNELS:
        return with_scalar(name, "a" if x.rank == 0 else "b")(x, y)
    return standard(name)(*align(x, y))


def matmul(a: Any, b: Any) -> Any:
    """A vector is a matrix of one row on the left and of one column on the right; that axis goes
    again."""
    if isinstance(take(a), numbers.Real) or isinstance(take(b), numbers.Real):
        return NotImplemented
    operands = pair(a, b)
    if operands is None:
        return NotImplemented
    x, y = operands
    is_row, is_column = x.rank == 1, y.rank == 1
    x = x.unsqueeze(0) if is_row else x
    y = y.unsqueeze(1) if is_column else y
    if x.rank > 0 and y.rank > 0:
        x, y = align(x, y, 2)
    result = standard("matmul")(x, y)
    if is_row:
        result = result.squeeze(-2)
    return result.squeeze(-1) if is_column else result


def binary(name: str, a: Any, b: Any) -> Any:
    if name == "matmul":
        return matmul(a, b)
    if name != "divmod":
        return elementwise(name, a, b)
    quotient = elementwise("floor_div", a, b)
    return quotient if quotient is NotImplemented else (quotient, elementwise("floor_mod", a, b))


def negate(a: Any) -> Any:
    """Of a float the sign changes, zero's too; an integer wraps."""
    return binary("mul", -1.0, a) if is_float(a) else binary("sub", 0, a)


def absolute(a: Any) -> Any:
    if a.dtype.name.startswith("uint"):
        return positive(a)
    larger = standard("max")(a, negate(a))
    return binary("add", larger, 0.0) if is_float(a) else larger  # of -0 it is 0


def positive(a: Any) -> Any:
    """A copy of what may change."""
    if isinstance(a, Tensor):
        return a.copy()
    return standard("load")(a) if a._may_change else a


def invert(a: Any) -> Any:
    return standard("bitwise_not")(a)


UNARY = {"neg": negate, "abs": absolute, "pos": positive, "invert": invert}


def unary(name: str, a: Any) -> Any:
    return UNARY[name](a)
