import os
from _thread import RLock  # not `threading`, which takes long to import

from ferrule._core import set_checking

# The blocks that are open, in whatever threads, each with what held before it.
_open: list[tuple["checking", bool]] = []
_lock = RLock()
os.register_at_fork(
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


class checking:  # noqa: N801 - it reads as a verb
    """In its block, and in other threads meanwhile, every call of a kernel is checked, of ops and in
    models: one that writes to an operand that is not `inout`, or beside its operands and results, or
    that indexes outside, or leaves a result unwritten, is a `KernelError`.

    >>> add = custom.declare("add<T>(a: T[*s], b: T[*s]) -> T[*s]", custom_extensions="std")
    >>> with ferrule.checking():
    ...     add(Tensor.ones(2), Tensor.ones(2)).tolist()
    [2.0, 2.0]
    """

    def __init__(self, on: bool = True) -> None:
        self._on = on

    def __enter__(self) -> None:
        with _lock:
            _open.append((self, set_checking(self._on)))

    def __exit__(self, *raised: object) -> None:
        with _lock:
            at = max(i for i, (block, _) in enumerate(_open) if block is self)
            _, before = _open.pop(at)
            if at == len(_open):
                set_checking(before)
            else:  # a block of another thread goes on; what held before this one, held before that
                _open[at] = (_open[at][0], before)
