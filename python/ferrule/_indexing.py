"""Indices of graph values and what is assigned to them, as ops of the standard package."""

import numbers
import operator
from dataclasses import dataclass
from typing import Any, cast

from ferrule._core import Dim, StaticDim, Tensor, TensorValue
from ferrule._operators import axes, declared, standard


@dataclass
class Cut:
    """What an index takes of one axis: `count` elements, a dim of the signature's text, from
    `start` on, which is negative to count from the end. The axis has at least `least` elements, and
    at most `most`."""

    start: int
    step: int
    count: str
    least: int = 0
    most: int | None = None
    is_dropped: bool = False
    is_whole: bool = False

    def conditions(self, name: str) -> list[str]:
        least = [f"{name} >= {self.least}"] if self.least > 0 else []
        return least if self.most is None else least + [f"{name} <= {self.most}"]


def take_one(size: Dim, index: int, axis: int) -> Cut:
    if not isinstance(size, StaticDim):
        return Cut(index, 1, "1", least=-index if index < 0 else index + 1, is_dropped=True)
    if not -int(size) <= index < int(size):
        raise IndexError(f"index {index} is outside axis {axis} of {size}")
    return Cut(index % int(size), 1, "1", is_dropped=True, is_whole=size == 1)


def take_slice(size: Dim, index: slice, axis: int) -> Cut:
    """Where the size is a name, bounds lie within the axis: then the count is a dim."""
    if isinstance(size, StaticDim):
        places = range(int(size))[index]
        is_whole = places == range(int(size))
        return Cut(places.start, places.step, str(len(places)), is_whole=is_whole)
    step = 1 if index.step is None else operator.index(index.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    is_forward = step > 0
    least = 0

    def place(bound: Any, default: tuple[int, int], behind: int) -> tuple[int, int]:
        """(a, b) for a * size + b, a being 0 or 1."""
        nonlocal least
        if bound is None:
            return default
        at = operator.index(bound)
        least = max(least, -at if at < 0 else at + behind)
        return (1, at) if at < 0 else (0, at)

    first = place(index.start, (0, 0) if is_forward else (1, -1), behind=0 if is_forward else 1)
    end = place(index.stop, (1, 0) if is_forward else (0, -1), behind=0)
    (low, high) = (first, end) if is_forward else (end, first)
    factor, rest = high[0] - low[0], high[1] - low[1]
    if factor == 0:
        count = len(range(0, rest, abs(step)))
        return Cut(first[1], step, str(count), least if count > 0 else 0)
    # Between the two are size + rest elements, or rest - size: not fewer than none.
    distance = f"{factor} * d{axis} + {rest}"
    return Cut(
        first[1],
        step,
        f"({distance} + {abs(step) - 1}) // {abs(step)}",
        least=max(least, -rest) if factor > 0 else least,
        most=rest if factor < 0 else None,
        is_whole=(first, end, step) == ((0, 0), (1, 0), 1),
    )


def take_item(value: TensorValue, item: Any, axis: int) -> Cut:
    if isinstance(item, slice):
        return take_slice(value.shape[axis], item, axis)
    if hasattr(item, "__index__") and not isinstance(item, bool):
        return take_one(value.shape[axis], operator.index(item), axis)
    raise TypeError(
        f"an index is an integer, a slice, an ellipsis or None, not {type(item).__name__}; "
        "take(...) takes the places that a list or tensor says"
    )


def expand(key: Any, rank: int) -> list[Any]:
    """The items of an index, one for each axis beside those that are None."""
    items = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    num_used = sum(item is not None and item is not Ellipsis for item in items)
    if num_used > rank:
        raise IndexError(f"{num_used} indices for a value of rank {rank}")
    if len(dots) > 1:
        raise IndexError("more than one ellipsis")
    at = dots[0] if dots else len(items)
    return items[:at] + [slice(None)] * (rank - num_used) + items[at + 1 :]


def take(value: TensorValue, key: Any) -> tuple[list[Cut], list[int | None]]:
    """What a key takes of each axis of the value, and which axes are left; None is a new one."""
    cuts: list[Cut] = []
    kept: list[int | None] = []
    for item in expand(key, value.rank):
        if item is None:
            kept.append(None)
            continue
        c = take_item(value, item, len(cuts))
        if not c.is_dropped:
            kept.append(len(cuts))
        cuts.append(c)
    return cuts, kept


def sizes(name: str, count: int) -> list[str]:
    return [f"{name}{i}" for i in range(count)]


def where(conditions: list[str]) -> str:
    return " where " + ", ".join(conditions) if conditions else ""


def bounds(cuts: list[Cut]) -> list[str]:
    return [need for i, c in enumerate(cuts) for need in c.conditions(f"d{i}")]


def places(value: TensorValue, cuts: list[Cut]) -> tuple[TensorValue, TensorValue]:
    start, step = (
        value.graph.constant(Tensor(of_axes, "i64", value.device))
        for of_axes in ([c.start for c in cuts], [c.step for c in cuts])
    )
    return start, step


def cut(value: TensorValue, cuts: list[Cut]) -> TensorValue:
    result: TensorValue
    if all(c.is_whole for c in cuts):
        # What is taken does not change with the value.
        result = standard("load")(value) if value._may_change else value
        return result
    r = len(cuts)
    given = f"x: {axes(sizes('d', r))}, start: i64[{r}], step: i64[{r}]"
    signature = f"slice<T>({given}) -> {axes([c.count for c in cuts])}{where(bounds(cuts))}"
    result = declared(signature)(value, *places(value, cuts))
    return result


def index(value: TensorValue, key: Any) -> TensorValue:
    cuts, kept = take(value, key)
    result = cut(value, cuts)
    shape = tuple(1 if axis is None else result.shape[axis] for axis in kept)
    return result if result.shape == shape else result.reshape(shape)


# --- Assignment -----------------------------------------------------------------------------------


def elements(of: Tensor | TensorValue, new: Any) -> Tensor:
    """What is assigned, in memory of its own; numbers take the dtype of what they go to."""
    if isinstance(new, numbers.Real):
        return Tensor.full((), cast(Any, new), of.dtype, of.device)
    return Tensor(new, of.dtype, of.device)


def align(new: TensorValue, cuts: list[Cut], kept: list[int | None]) -> list[str]:
    """The size of `new` along each axis that was cut: a name, or 1 where it is broadcast."""
    own = ["1"] * len(cuts)
    if new.rank > len(kept):
        raise ValueError(f"a value of rank {new.rank} cannot be broadcast to {len(kept)} axes")
    for axis, dim in zip(reversed(kept), reversed(new.shape)):
        if dim == 1:
            continue
        count = "1" if axis is None else cuts[axis].count
        is_known = isinstance(dim, StaticDim) and count.isdigit()
        if axis is None or (is_known and dim != int(count)):
            raise ValueError(f"an axis of {dim} elements cannot be broadcast to {count}")
        own[axis] = f"v{axis}"
    return own


def spread(
    value: TensorValue, new: TensorValue, cuts: list[Cut], kept: list[int | None]
) -> tuple[TensorValue, list[str], list[str]]:
    """`new` with as many axes as the value, broadcast to what is cut of it; what its sizes are
    called, and what has to hold of them."""
    own = align(new, cuts, kept)
    counts = [c.count for c in cuts]
    conditions = [f"{size} == {c}" for size, c in zip(own, counts) if size != "1"]
    if new.rank > 0 or all(c == "1" for c in counts):
        shape: list[Any] = [1] * len(cuts)
        for axis, dim in zip(kept[len(kept) - new.rank :], new.shape):
            if axis is not None:
                shape[axis] = dim
        if new.shape != tuple(shape):
            new = new.reshape(shape)
    if new.rank == len(cuts) and all(s != "1" or c == "1" for s, c in zip(own, counts)):
        return new, own, conditions
    x = axes(own if new.rank > 0 else [])
    like = axes(sizes("d", len(cuts)))
    signature = f"broadcast<T>(x: {x}, like: {like}) -> {axes(counts)}"
    new = declared(signature + where(bounds(cuts) + conditions))(new, value)
    return new, sizes("v", len(cuts)), []


def assign(value: TensorValue, key: Any, new: Any) -> None:
    cuts, kept = take(value, key)
    if not isinstance(new, TensorValue):
        new = value.graph.constant(elements(value, new))
    new, own, conditions = spread(value, new, cuts, kept)
    if all(c.is_whole for c in cuts):
        standard("store")(value, new)
        return
    r = len(cuts)
    given = f"inout x: {axes(sizes('d', r))}, value: {axes(own)}, start: i64[{r}], step: i64[{r}]"
    signature = f"store_slice<T>({given}) -> (){where(bounds(cuts) + conditions)}"
    declared(signature)(value, new, *places(value, cuts))
