"""Ops as torch's own: what `op.torch()` returns, and the fake kernel that a declaration makes needless
to write."""

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ferrule import _signature
from ferrule._core import (
    BufferType,
    CustomOp,
    DType,
    Graph,
    Run,
    StaticDim,
    SymbolicDim,
    TemplateType,
    Tensor,
    TensorType,
)

OLDEST = (2, 8)


def load() -> Any:
    """The module torch, or ImportError that says what to do."""
    wanted = f"op.torch() needs torch {OLDEST[0]}.{OLDEST[1]} or later"
    try:
        import torch  # pyright: ignore[reportMissingImports] - as in pyproject.toml for mypy
    except ImportError as error:
        raise ImportError(f"{wanted}, which cannot be imported here ({error}): pip install torch") from error
    version = tuple(int(number) for number in re.findall(r"\d+", torch.__version__)[:2])
    if version < OLDEST:
        raise ImportError(f"{wanted}, and this is {torch.__version__}: pip install --upgrade torch")
    return torch


torch = load()
# The long names are torch's too.
DTYPES = {getattr(torch, dtype.name): dtype for dtype in vars(DType).values() if isinstance(dtype, DType)}


# --- Schemas ------------------------------------------------------------------------------------------


def write_schema(op: CustomOp) -> str:
    names = _signature.argument_names(op)
    arguments = [
        f"Tensor(a{i}!) {name}" if operand in op.inout else f"Tensor {name}"
        for i, (operand, name) in enumerate(zip(op.inputs, names))
    ]
    results = ", ".join(["Tensor"] * len(op.outputs))
    return f"({', '.join(arguments)}) -> {results if len(op.outputs) == 1 else f'({results})'}"


# --- Fake kernels -------------------------------------------------------------------------------------
#
# torch asks with tensors that have no elements, and whose sizes may be symbols of its own. The library
# is asked in turn, by staging the op: it judges ranks, dtypes and the sizes that are numbers, and says
# what comes out. A size that is a symbol goes in under the name of the dim that it binds; what torch
# knows of symbols it is told by torch._check: that two of them are the same, or are a number.


class Sizes:
    """What the dims of a declaration are in one call."""

    def __init__(self, op: CustomOp):
        self.op = op
        self.bound: dict[Any, Any] = {}  # by a symbol's name, or a run's name and position
        self.staged: dict[Any, int | str] = {}  # the same as the library is told it
        self.named: dict[str, Any] = {}  # what the names mean that the library is told

    def agree(self, operand: str, axis: int, size: Any, known: Any, why: str) -> None:
        torch._check(
            size == known, lambda: f"{self.op.name}: operand '{operand}' axis {axis} is {size}, but {why}"
        )

    def bind(self, operand: str, axis: int, declared: Any, size: Any) -> int | str:
        if isinstance(declared, StaticDim):
            if isinstance(size, int):
                return size
            self.agree(operand, axis, size, int(declared), f"{declared} is declared")
            return int(declared)
        if declared not in self.bound:
            self.bound[declared] = size
            self.staged[declared] = self.tell(size)
        elif isinstance(size, int) and isinstance(self.bound[declared], int):
            return size
        else:
            known = self.bound[declared]
            name = declared if isinstance(declared, str) else f"*{declared[0]}"
            self.agree(operand, axis, size, known, f"{name} is {known}")
        return self.staged[declared]

    def tell(self, size: Any) -> int | str:
        if isinstance(size, int):
            return size
        name = f"d{len(self.named)}"
        self.named[name] = size
        return name

    def type_of(self, operand: str, template: TemplateType, tensor: Any) -> BufferType | TensorType:
        dims = align(template, len(tensor.shape))
        if dims is None:  # another rank than was declared, which the library will say
            shape = [self.tell(size) for size in tensor.shape]
        else:
            shape = [self.bind(operand, i, *pair) for i, pair in enumerate(zip(dims, tensor.shape))]
        if tensor.dtype not in DTYPES:
            raise NotImplementedError(
                f"{self.op.name}: operand '{operand}': elements of {tensor.dtype} are not supported"
            )
        kind = BufferType if operand in self.op.inout else TensorType
        return kind(DTYPES[tensor.dtype], shape)

    def value(self, dim: Any) -> Any:
        """Of a result's dim. A name that nobody told is one that only the elements decide."""
        for symbol in dim.parameters:
            if symbol.name not in self.named:
                self.named[symbol.name] = torch.library.get_ctx().new_dynamic_size()
        return evaluate(str(dim), self.named)

    def shape_of(self, result: int, shape: Sequence[Any]) -> list[Any]:
        sizes = [self.value(dim) for dim in shape]
        for axis, size in enumerate(sizes):
            torch._check(
                size >= 0,
                lambda: f"{self.op.name}: result {result} axis {axis} is {size}; a dim is not negative",
            )
        return sizes


def align(template: TemplateType, rank: int) -> list[Any] | None:
    """What each axis of a tensor of this rank binds."""
    axes: list[Any] = []
    for axis in template.shape:
        if isinstance(axis, Run):
            axes += [(axis.name, position) for position in range(rank - len(template.shape) + 1)]
        else:
            axes.append(axis.name if isinstance(axis, SymbolicDim) else axis)
    return axes if len(axes) == rank else None


def evaluate(text: str, names: dict[str, Any]) -> Any:
    """Dims and conditions print as Python's arithmetic; names may be keywords of Python."""
    return eval(re.sub(r"[A-Za-z_]\w*", lambda found: f"_[{found[0]!r}]", text), {"_": names})


def check_conditions(op: CustomOp, sizes: Sizes) -> None:
    known = {**op.parameters, **{k: v for k, v in sizes.bound.items() if isinstance(k, str)}}
    for condition in op.where:
        torch._check(evaluate(condition, known), lambda: f"{op.name}: condition '{condition}' is false")


def make_fake(op: CustomOp) -> Callable[..., Any]:
    def fake(*operands: Any) -> Any:
        sizes = Sizes(op)
        types = [sizes.type_of(*item, tensor) for item, tensor in zip(op.inputs.items(), operands)]
        with Graph(op.name, types) as graph:
            staged = op(*graph.inputs)
        check_conditions(op, sizes)
        values = staged if isinstance(staged, list) else [] if staged is None else [staged]
        results = [
            operands[0].new_empty(sizes.shape_of(i, value.shape), dtype=to_torch(value.dtype))
            for i, value in enumerate(values)
        ]
        return pack(results)

    return fake


# --- Kernels ------------------------------------------------------------------------------------------


def to_torch(dtype: DType) -> Any:
    return getattr(torch, dtype.name)


def pack(results: Sequence[Any]) -> Any:
    """As torch wants results: one bare, several as a tuple, none as None."""
    return results[0] if len(results) == 1 else tuple(results) or None


def share(tensor: Tensor) -> Any:
    return torch.utils.dlpack.from_dlpack(tensor.__dlpack__(max_version=(1, 0)))


def make_kernel(op: CustomOp) -> Any:
    """Gradients are torch's business, and were dealt with before the kernel is called; and what it does
    is nothing that torch.compile should look into."""

    def kernel(*operands: Any) -> Any:
        made = op(*[x.detach() if x.requires_grad else x for x in operands])
        if isinstance(made, Tensor):
            return share(made)
        return None if made is None else tuple(map(share, made))

    return torch.compiler.disable(kernel)


# --- Registering --------------------------------------------------------------------------------------

registered: dict[str, tuple[CustomOp, Any]] = {}  # by name; torch forgets none of them either
lock = threading.Lock()


def find(op: CustomOp) -> tuple[str, Any]:
    """The name that the op has, or is to have. An op that was declared again after its package changed
    is equal to what it was and has other binaries: it gets a name of its own."""
    plain = name = re.sub(r"\W", "_", op.token)
    count = 1
    while name in registered:
        known, handle = registered[name]
        if known.binaries[:1] == op.binaries[:1]:
            return name, handle
        count += 1
        name = f"{plain}_{count}"
    return name, None


def make_handle(op: CustomOp, name: str) -> Any:
    full_name, kernel = f"ferrule::{name}", make_kernel(op)
    handle = torch.library.custom_op(
        full_name,
        kernel,
        mutates_args=[n for o, n in zip(op.inputs, _signature.argument_names(op)) if o in op.inout],
        device_types=(),
        schema=write_schema(op),
        tags=(torch.Tag.needs_exact_strides,),  # compiled calls meet what eager ones meet
    )
    # Not by `device_types`: its wrapper looks for results that are operands, at half of a call's time.
    torch.library.impl(full_name, "cpu", kernel)
    handle.register_fake(make_fake(op))
    if op.effect:
        keep_in_order(op, handle)
    return handle


def keep_in_order(op: CustomOp, handle: Any) -> None:
    """An effect happens once and in its place, whether or not a result is used."""
    if not hasattr(handle, "register_effect"):
        raise ImportError(
            f"{op.name}: an op with an effect needs a later torch than {torch.__version__}: "
            "pip install --upgrade torch"
        )
    handle.register_effect(torch._library.effects.EffectType.ORDERED)


def register(op: CustomOp) -> Any:
    if not op.is_complete:
        op()  # which says what it lacks
    with lock:
        name, handle = find(op)
        if handle is None:
            handle = make_handle(op, name)
            registered[name] = (op, handle)
        return handle
