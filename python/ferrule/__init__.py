"""Declared custom ops: a kernel in C, one line that declares it, checked calls and graphs.

    >>> from ferrule import DType, Tensor, custom
    >>> add = custom.declare("add<T>(a: T[*s], b: T[*s]) -> T[*s]", custom_extensions="std")
    >>> add(Tensor.ones(2), Tensor.ones(2)).tolist()
    [2.0, 2.0]
"""

import os as _os

from ferrule import custom
from ferrule._checking import checking
from ferrule._core import (
    AlgebraicDim,
    BufferType,
    CompileError,
    DeviceRef,
    Dim,
    DType,
    Graph,
    KernelError,
    Model,
    StaticDim,
    SymbolicDim,
    Tensor,
    TensorType,
    TensorValue,
    __version__,
    counters,
    memory,
    set_checking,
)

TYPE_CHECKING = False  # as in typing, which takes its time to import
if TYPE_CHECKING:
    from ferrule._shapes import concat, split

__all__ = [
    "AlgebraicDim",
    "BufferType",
    "CompileError",
    "DType",
    "DeviceRef",
    "Dim",
    "Graph",
    "KernelError",
    "Model",
    "StaticDim",
    "SymbolicDim",
    "Tensor",
    "TensorType",
    "TensorValue",
    "__version__",
    "checking",
    "concat",
    "counters",
    "custom",
    "from_dlpack",
    "get_include",
    "memory",
    "set_checking",
    "split",
]


def from_dlpack(x: object, /, *, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of `x`: Tensor.from_dlpack, by the array API's name.

    >>> import array, ferrule
    >>> ferrule.from_dlpack(array.array("b", [1, 2])).tolist()
    [1, 2]
    """
    return Tensor.from_dlpack(x, copy=copy)


def get_include() -> str:
    """The folder to give a compiler or an editor for `#include <ferrule/kernel.h>`.

    >>> import os
    >>> os.path.isfile(os.path.join(ferrule.get_include(), "ferrule", "kernel.h"))
    True
    """
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "include")


def __getattr__(name: str) -> object:
    """What is imported when it is first used: it needs modules that importing ferrule does not."""
    if name not in ("concat", "split"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ferrule import _shapes

    value: object = getattr(_shapes, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
