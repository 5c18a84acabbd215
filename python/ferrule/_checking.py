from collections.abc import Iterator
from contextlib import contextmanager

from ferrule._core import set_checking


@contextmanager
def checking(on: bool = True) -> Iterator[None]:
    """In its block, and in other threads meanwhile, every call of a kernel is checked, of ops and in
    models: one that writes to an operand that is not `inout`, or beside its operands and results, or
    that indexes outside, or leaves a result unwritten, is a `KernelError`.

    >>> add = custom.declare("add<T>(a: T[*s], b: T[*s]) -> T[*s]", custom_extensions="std")
    >>> with ferrule.checking():
    ...     add(Tensor.ones(2), Tensor.ones(2)).tolist()
    [2.0, 2.0]
    """
    before = set_checking(on)
    try:
        yield
    finally:
        set_checking(before)
