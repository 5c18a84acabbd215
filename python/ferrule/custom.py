"""Declaring custom ops.

A declaration is text, or the same in objects:

    >>> from ferrule import DType, custom
    >>> n, w, c = custom.Symbols("n", "w", "c")
    >>> source = '''#include <ferrule/kernel.h>
    ... KERNEL(rows, OUT(f32, 2, y), IN(f32, 2, x))
    ... {
    ...     for (index_t i = 0; i < SIZE(y); i++)
    ...         DATA(y)[i] = DATA(x)[i];
    ...     return OK;
    ... }'''
    >>> custom.declare(
    ...     "rows",
    ...     inputs={"x": custom.TemplateType(DType.float32, [n, w])},
    ...     outputs=[custom.TemplateType(DType.float32, [n // 2, w])],
    ...     source=source,
    ... )
    rows(x: f32[n, w]) -> f32[n // 2, w]
"""

from __future__ import annotations

from ferrule import _core
from ferrule._core import CustomOp, DType, DTypeVar, Param, Run, Symbol, TemplateType

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing them takes longer than all the rest
    from collections.abc import Mapping, Sequence
    from os import PathLike

__all__ = [
    "CustomOp",
    "DTypeVar",
    "Param",
    "Run",
    "Symbol",
    "Symbols",
    "TemplateType",
    "declare",
]


def Symbols(*names: str) -> tuple[Symbol, ...]:
    """Several symbols at once. TypeError, ValueError: what is no name.

    >>> custom.Symbols("n", "w")
    (Symbol('n'), Symbol('w'))
    """
    return tuple(Symbol(name) for name in names)


def declare(
    name: str,
    inputs: Mapping[str, TemplateType] | None = None,
    outputs: Sequence[TemplateType] | Mapping[str, TemplateType] | None = None,
    parameters: Mapping[str, bool | int | float | str | DType | type | None] | None = None,
    custom_extensions: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    *,
    where: str | Sequence[str] | None = None,
    inout: str | Sequence[str] | None = None,
    effect: bool = False,
    source: str | None = None,
) -> CustomOp:
    """Declares an op: judges the declaration, finds the kernel, and compiles it unless it is cached.

    - `name`: with `inputs` the op's name; without them a whole declaration in text
      ("halve(x: f32[n]) -> f32[n // 2]"), or the name of a kernel whose package has a SIGNATURE.
    - `inputs`: a mapping of operand names to TemplateType, in order.
    - `outputs`: a sequence of TemplateType, or a mapping of result names to them.
    - `parameters`: a mapping of names to bool, int, float, str or DType. None declares an int
      without a value, and a class (float, bool, str, DType) a parameter of that kind without one.
      With a declaration in text: values in place of its own.
    - `custom_extensions`: the kernel package, or a sequence of packages: folders, "std", "blas".
    - `where`: conditions in text, "n % 2 == 0", one or a sequence.
    - `inout`: the operands that are changed in place, by name.
    - `effect`: whether a call does more than its results show.
    - `source`: C code with the kernel, instead of packages.

    TypeError, ValueError, ZeroDivisionError, OverflowError: the declaration is not good, or the
    kernel's own line disagrees with it. OSError: a package cannot be read. ferrule.CompileError: the
    compiler's words, or that there is none.

    >>> add = custom.declare("add<T>(a: T[n], b: T[n]) -> T[n]", custom_extensions="std")
    >>> add(Tensor([1, 2]), Tensor([3, 4])).tolist()
    [4, 6]
    """
    return _core.declare(
        name, inputs, outputs, parameters, where, inout, effect, source, custom_extensions
    )
