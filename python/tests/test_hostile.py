"""Objects that lie, change while they are read, or call back: an exception, never a crash."""

import pytest

from ferrule import Dim, DType, Graph, Tensor, TensorType, custom

F32 = custom.TemplateType(DType.float32, [2])


class Clears:
    """An integer that empties the list it is in."""

    def __init__(self, items):
        self.items = items

    def __index__(self):
        self.items.clear()
        return 2


def clearing():
    items = []
    items += [Clears(items), 3, 4]
    return items


def test_a_shape_may_change_while_it_is_read():
    assert Tensor.zeros(clearing()).shape == (2, 3, 4)
    assert TensorType("f32", clearing()).shape == (2, 3, 4)
    assert custom.TemplateType("f32", clearing()).shape == (2, 3, 4)
    graph = Graph("g", [TensorType("f32", ["a", "b", "c"])])
    assert graph.inputs[0].rebind(clearing()).shape == (2, 3, 4)
    assert Tensor.ones(()).broadcast_to(clearing()).shape == (2, 3, 4)


def test_text_is_no_sequence():
    for make in (TensorType, custom.TemplateType):
        with pytest.raises(TypeError, match="sequence of dims, not str"):
            make("f32", "10")
    with pytest.raises(TypeError, match="not str"):
        Tensor.zeros("10")
    with pytest.raises(TypeError, match="input_types is a sequence of TensorType.*, not str"):
        Graph("g", "ab")


@pytest.mark.parametrize("given", [[1, 2], ["ab"], [()], [(1, 2, 3)], [None]])
def test_a_mapping_gives_pairs(ops, given):
    class Lies(dict):
        def items(self):
            return given

    for use in (
        lambda m: ops.group[m],
        lambda m: Dim("n").substitute(m),
        lambda m: Graph("g", m),
        lambda m: custom.declare("f", m, [F32], source="x"),
        lambda m: custom.declare("f", {"x": F32}, m, source="x"),
        lambda m: custom.declare("f", {"x": F32}, [F32], m, source="x"),
        lambda m: custom.declare("f(x: f32[]) -> f32[]", parameters=m, source="x"),
    ):
        with pytest.raises(TypeError, match="the items of a Lies are not pairs"):
            use(Lies(g=1))


def test_a_name_with_a_character_0(ops):
    with pytest.raises(ValueError, match="a dim has a character 0"):
        Dim("n\0m")
    with pytest.raises(ValueError, match="an operand's name has a character 0"):
        ops.same(**{"x\0y": Tensor.ones(2)})


def test_results_may_leave_their_list_while_it_is_read(ops):
    given = [Tensor.empty(2, "i64")]

    class Clears:
        def __dlpack__(self, **options):
            given.clear()
            return Tensor.zeros(2, "i64").__dlpack__(**options)

    topk = custom.declare("topk", custom_extensions="std")[{"k": 2}]
    values = Tensor.empty(2)
    given[:] = [values, Clears()]
    assert topk(Tensor([3.0, 1.0, 2.0]), out=given) is given
    assert (given, values.tolist()) == ([], [3.0, 2.0])


@pytest.mark.parametrize("use", ["op", "model", "tensor"])
def test_recursion_ends_at_pythons_limit(ops, use):
    with Graph("g", [TensorType("f32", ["n"])]) as graph:
        graph.output(graph.inputs[0])
    call = {"op": ops.same, "model": graph.compile(), "tensor": Tensor}[use]

    class Again:
        def __dlpack__(self, **options):
            return call(self)

    with pytest.raises(RecursionError):
        call(Again())
