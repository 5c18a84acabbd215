"""Other shapes of tensors and graph values: reshapes, and ops of the standard package."""

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

from ferrule._core import CustomOp, DType, StaticDim, Tensor, TensorType, TensorValue
from ferrule._operators import axes, declared, is_ours, standard

# The parts that one op of the package joins.
MAX_JOINED = 8


def show(shape: Sequence[Any]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def place(what: str, axis: Any, rank: int) -> int:
    """The axis, counted from the first one, of so many."""
    index = operator.index(axis)
    if not -rank <= index < rank:
        raise ValueError(f"{what}: there is no axis {index} in rank {rank}")
    return index % rank


def tensor_of(x: Any) -> Any:
    if is_ours(x):
        return x
    return Tensor.from_dlpack(x) if hasattr(x, "__dlpack__") else Tensor(x)


def same_kind(parts: Sequence[Any]) -> list[Any]:
    """Tensors, or beside graph values constants of their graph; what has elements becomes one."""
    made = [tensor_of(x) for x in parts]
    graph = next((x.graph for x in made if isinstance(x, TensorValue)), None)
    if graph is None:
        return made
    return [x if isinstance(x, TensorValue) else graph.constant(x) for x in made]


def numbers(like: Any, given: Sequence[int]) -> Any:
    """An operand of int64 beside a tensor or a value."""
    tensor = Tensor(given, "i64", like.device)
    return like.graph.constant(tensor) if isinstance(like, TensorValue) else tensor


# --- Axes -----------------------------------------------------------------------------------------


def squeeze(x: Any, axis: int) -> Any:
    at = place("squeeze", axis, x.rank)
    size = x.shape[at]
    rest = x.shape[:at] + x.shape[at + 1 :]
    if isinstance(size, (int, StaticDim)):
        if size != 1:
            raise ValueError(f"squeeze: axis {at} of {show(x.shape)} is {size}, not 1")
    else:
        x = x.rebind(x.shape[:at] + (1,) + x.shape[at + 1 :])
    return x.reshape(rest)


def unsqueeze(x: Any, axis: int) -> Any:
    at = place("unsqueeze", axis, x.rank + 1)
    return x.reshape(x.shape[:at] + (1,) + x.shape[at:])


def flatten(x: Any, start_axis: int = 0, end_axis: int = -1) -> Any:
    if x.rank == 0:
        return x.reshape((1,))
    first, last = (place("flatten", axis, x.rank) for axis in (start_axis, end_axis))
    if first > last:
        raise ValueError(f"flatten: axis {start_axis} stands behind axis {end_axis}")
    one = math.prod(x.shape[first : last + 1])
    return x.reshape(x.shape[:first] + (one,) + x.shape[last + 1 :])


def permute(x: Any, axes_given: Sequence[int]) -> Any:
    order = [place("permute", axis, x.rank) for axis in axes_given]
    if sorted(order) != list(range(x.rank)):
        raise ValueError(f"permute: {show(order)} has not each of the {x.rank} axes once")
    if order[:-2] == list(range(x.rank - 2)) and order[-2:] == [x.rank - 1, x.rank - 2]:
        return standard("transpose")(x)
    names = [f"d{i}" for i in range(x.rank)]
    given = f"x: {axes(names)}, order: i64[{x.rank}]"
    op = declared(f"permute<T>({given}) -> {axes([names[i] for i in order])}")
    return op(x, numbers(x, order))


def transpose(x: Any, axis_1: int, axis_2: int) -> Any:
    first, second = (place("transpose", axis, x.rank) for axis in (axis_1, axis_2))
    order = list(range(x.rank))
    order[first], order[second] = second, first
    return permute(x, order)


# --- Elements -------------------------------------------------------------------------------------


def take(x: Any, index: Any, axis: int = 0) -> Any:
    at = place("take", axis, x.rank)
    if isinstance(index, (list, tuple)):
        index = Tensor(index)
        if index.size == 0:  # no number says what dtype they would have
            index = index.cast("i64")
    x, index = same_kind([x, index])
    places = index if index.rank == 1 else flatten(index)
    if at == 0:
        result = standard("gather")(x, places)
    else:
        rows = x.reshape((math.prod(x.shape[:at]),) + x.shape[at:])
        result = standard("take")(rows, places)
    shape = x.shape[:at] + index.shape + x.shape[at + 1 :]
    return result if result.shape == shape else result.reshape(shape)


@functools.cache
def cast_to(dtype: DType) -> CustomOp:
    return standard("cast")[{"to": dtype}]


def cast(x: Any, dtype: Any) -> Any:
    return cast_to(TensorType(dtype, []).dtype)(x)


def dim(x: TensorValue, axis: int) -> TensorValue:
    at = place("dim", axis, x.rank)
    size = x.shape[at]
    if isinstance(size, StaticDim):
        return x.graph.constant(Tensor.full((), int(size), "i64", x.device))
    result: TensorValue = standard("dim")[{"axis": at}](x)
    return result


def broadcast_to(x: TensorValue, shape: Sequence[Any]) -> TensorValue:
    """The new dims that are no numbers come from an operand without elements: a reshape gives it
    any dims that the graph knows."""
    wanted = TensorType(x.dtype, shape).shape
    own = (1,) * (len(wanted) - x.rank) + x.shape
    if len(own) != len(wanted) or any(d != w and d != 1 for d, w in zip(own, wanted)):
        raise ValueError(f"broadcast_to: {show(x.shape)} cannot be broadcast to {show(wanted)}")
    if x.shape == wanted:
        return x
    names = [str(w) if isinstance(w, StaticDim) else f"d{i}" for i, w in enumerate(wanted)]
    given = [name if d == w else "1" for name, d, w in zip(names, own, wanted)]
    new = [i for i, w in enumerate(wanted) if own[i] != w and not isinstance(w, StaticDim)]
    none = x.graph.constant(Tensor.zeros(0, x.dtype, x.device))
    like = none.reshape([0] + [wanted[i] for i in new])
    of_x, of_like = axes(given[len(wanted) - x.rank :]), axes(["0"] + [names[i] for i in new])
    op = declared(f"broadcast<T>(x: {of_x}, like: {of_like}) -> {axes(names)}")
    result: TensorValue = op(x, like)
    return result


# --- Parts ----------------------------------------------------------------------------------------


def check_parts(parts: Sequence[Any], at: int) -> None:
    first = parts[0]
    for i, x in enumerate(parts[1:], 1):
        if x.dtype != first.dtype:
            raise ValueError(f"concat: part {i} is {x.dtype}, but part 0 is {first.dtype}")
        if x.rank != first.rank:
            raise ValueError(f"concat: part {i} has rank {x.rank}, but part 0 has {first.rank}")
        for axis, (d, e) in enumerate(zip(x.shape, first.shape)):
            if axis != at and d != e:
                raise ValueError(
                    f"concat: part {i} is {show(x.shape)}, but part 0 is {show(first.shape)}: they "
                    f"differ on axis {axis}"
                )


def join(rows: list[Any]) -> Any:
    """Parts as rows, one behind the other. Of more than one op takes, groups are joined first."""
    while len(rows) > 1:
        groups = [rows[i : i + MAX_JOINED] for i in range(0, len(rows), MAX_JOINED)]
        rows = [standard(f"join{len(g)}")(*g) if len(g) > 1 else g[0] for g in groups]
    return rows[0]


def concat(parts: Sequence[Any], axis: int = 0) -> Any:
    """The parts, tensors or graph values, one behind the other along an axis; their other dims are
    the same. Each element is copied once for up to 8 parts, twice for up to 64.

    ValueError: no parts, other dims, dtypes or ranks, no such axis.

    >>> concat([Tensor([[1], [2]]), Tensor([[3, 4], [5, 6]])], axis=1).tolist()
    [[1, 3, 4], [2, 5, 6]]
    """
    made = same_kind(parts)
    if not made:
        raise ValueError("concat: there are no parts")
    at = place("concat", axis, made[0].rank)
    check_parts(made, at)
    if len(made) == 1:
        return made[0].copy() if isinstance(made[0], Tensor) else made[0]
    before, behind = made[0].shape[:at], made[0].shape[at + 1 :]
    outer, inner = math.prod(before), math.prod(behind)
    joined = join([x.reshape((outer, x.shape[at] * inner)) for x in made])
    return joined.reshape(before + (sum(x.shape[at] for x in made),) + behind)


def cut_sections(x: Any, at: int, count: int) -> tuple[Any, list[tuple[Any, ...]]]:
    size = x.shape[at]
    if count < 1:
        raise ValueError(f"split: into {count} parts")
    if isinstance(size, (int, StaticDim)) and int(size) % count != 0:
        raise ValueError(f"split: axis {at} is {size}, which {count} parts do not divide")
    x = x.reshape(x.shape[:at] + (count, size // count) + x.shape[at + 1 :])
    return x, [(slice(None),) * at + (i,) for i in range(count)]


def cut_sizes(x: Any, at: int, sizes: Iterable[Any]) -> tuple[Any, list[tuple[Any, ...]]]:
    lengths = [operator.index(size) for size in sizes]
    for i, length in enumerate(lengths):
        if length < 0:
            raise ValueError(f"split: size {i} is {length}, below 0")
    size, total = x.shape[at], sum(lengths)
    if isinstance(size, (int, StaticDim)) and size != total:
        raise ValueError(
            f"split: the sizes {show(lengths)} add up to {total}, but axis {at} is {size}"
        )
    if size != total:
        x = x.rebind(x.shape[:at] + (total,) + x.shape[at + 1 :])
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    cuts = [slice(start, start + length) for start, length in zip(starts, lengths)]
    return x, [(slice(None),) * at + (cut,) for cut in cuts]


def split(
    x: Any, sizes_or_sections: SupportsIndex | Sequence[SupportsIndex], axis: int = 0
) -> list[Any]:
    """Copies of the parts of a tensor or graph value along an axis: of these sizes, or so many of
    one size. What only the sizes of a graph value can tell is checked when it runs (KernelError).

    ValueError: sizes that do not add up, sections that do not divide, no such axis.

    >>> [part.tolist() for part in split(Tensor([1, 2, 3, 4]), [1, 3])]
    [[1], [2, 3, 4]]
    >>> [part.tolist() for part in split(Tensor([1, 2, 3, 4]), 2)]
    [[1, 2], [3, 4]]
    """
    (x,) = same_kind([x])
    at = place("split", axis, x.rank)
    if isinstance(sizes_or_sections, Iterable):
        x, keys = cut_sizes(x, at, sizes_or_sections)
    else:
        x, keys = cut_sections(x, at, operator.index(sizes_or_sections))
    return [x[key] for key in keys]
