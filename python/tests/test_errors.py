"""What exceptions say beside the library's message."""

import traceback

import pytest

from ferrule import Dim, Graph, KernelError, Tensor, TensorType, custom


def test_a_fault_of_a_text_shows_its_place():
    with pytest.raises(ValueError, match="column 11: expected ',' or ']'") as caught:
        custom.declare("f(x: f32[n) -> f32[n]", source="")
    assert caught.value.__notes__ == ["f(x: f32[n) -> f32[n]\n          ^"]
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.endswith("found ')'\nf(x: f32[n) -> f32[n]\n          ^\n")
    with pytest.raises(ValueError) as caught:
        Dim("n +* 2")
    assert caught.value.__notes__ == ["n +* 2\n   ^"]


def test_other_errors_have_no_note(ops):
    for wrong, kind in ((lambda: ops.same(), TypeError), (lambda: ops.checked(Tensor([-1.0])), KernelError)):
        with pytest.raises(kind) as caught:
            wrong()
        assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("given", [[1.0], (1.0,), []])
def test_a_list_for_a_tensor(ops, given):
    with pytest.raises(TypeError) as caught:
        ops.dot(given, Tensor([1.0]))
    name = type(given).__name__
    assert str(caught.value) == (
        f"dot: operand 'a' is of type '{name}', not a tensor; ferrule.Tensor([...]) makes one of numbers"
    )
    assert (caught.value.op, caught.value.operand, caught.value.actual) == ("dot", "a", f"of type '{name}'")
    with pytest.raises(TypeError, match=r"ferrule.Tensor\(\[...\]\) makes one"):
        ops.dot(b=given, a=Tensor([1.0]), out=Tensor(0.0))
    value = Graph("g", [TensorType("f32", [1])]).inputs[0]
    with pytest.raises(TypeError, match=r"graph.constant\(\[...\]\) makes a value"):
        ops.dot(value, given)


def test_what_is_no_list_gets_no_advice(ops):
    for given in ("a", None, {}, object()):
        with pytest.raises(TypeError, match="not a tensor$"):
            ops.same(given)
