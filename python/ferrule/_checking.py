from ferrule._core import set_checking


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
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(set_checking(self._on))

    def __exit__(self, *raised: object) -> None:
        set_checking(self._before.pop())
