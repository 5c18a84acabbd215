"""Indices of graph values, as ops of the standard package."""

import operator
from dataclasses import dataclass
from typing import Any

from ferrule._core import Dim, StaticDim, Tensor, TensorValue
from ferrule._operators import axes, declared


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
        f"an index is an integer, a slice, an ellipsis or None, not {type(item).__name__}; the "
        "standard op `gather` takes rows by number"
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


def cut(value: TensorValue, cuts: list[Cut]) -> TensorValue:
    names = [f"d{i}" for i in range(len(cuts))]
    counts = [c.count for c in cuts]
    if all(c.is_whole for c in cuts):
        return value
    start, step = (
        value.graph.constant(Tensor(numbers, "i64", value.device))
        for numbers in ([c.start for c in cuts], [c.step for c in cuts])
    )
    r = len(cuts)
    needs = [need for c, name in zip(cuts, names) for need in c.conditions(name)]
    where = " where " + ", ".join(needs) if needs else ""
    given = f"x: {axes(names)}, start: i64[{r}], step: i64[{r}]"
    result: TensorValue = declared(f"slice<T>({given}) -> {axes(counts)}{where}")(
        value, start, step
    )
    return result


def index(value: TensorValue, key: Any) -> TensorValue:
    cuts: list[Cut] = []
    given: list[str] = []
    shape: list[str] = []
    for item in expand(key, value.rank):
        if item is None:
            shape.append("1")
            continue
        c = take_item(value, item, len(cuts))
        given.append("1" if c.is_dropped else f"d{len(cuts)}")
        if not c.is_dropped:
            shape.append(given[-1])
        cuts.append(c)
    result = cut(value, cuts)
    if given != shape:
        result = declared(f"reshape<T>(x: {axes(given)}) -> {axes(shape)}")(result)
    return result
