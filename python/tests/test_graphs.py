"""Graphs and models."""

import gc

import pytest

from ferrule import BufferType, DeviceRef, DType, Graph, KernelError, Model, Tensor, TensorType, TensorValue

f32 = DType.float32


def chain(ops, dims=("n", 8, "c")):
    with Graph("thumbnail", {"image": TensorType(f32, dims)}) as graph:
        graph.output(ops.downsample(ops.downsample(graph.inputs[0])))
    return graph


def test_a_graph(ops):
    graph = chain(ops)
    assert graph.name == "thumbnail" and graph.input_names == ("image",)
    assert graph.num_ops == 2
    (value,) = graph.outputs
    assert isinstance(value, TensorValue) and value.graph is graph
    assert value.dtype is f32 and value.rank == 3 and list(value.shape) == ["n", 2, "c"]
    assert value.type == TensorType(f32, ["n", 2, "c"])
    text = str(graph)
    assert "graph thumbnail(image: f32[n, 8, c]) -> f32[n, 2, c]" in text


def test_a_model(ops):
    model = chain(ops).compile()
    assert isinstance(model, Model) and "thumbnail" in repr(model)
    x = Tensor.arange(2 * 8 * 3, dtype="f32").numpy().reshape(2, 8, 3)
    assert model(x).tolist() == x[:, ::4].tolist()
    assert model(image=x).tolist() == x[:, ::4].tolist()
    assert model.graph.name == "thumbnail"
    assert model(x[:, ::-1]).tolist() == x[:, ::-1][:, ::4].tolist()


def test_inputs_are_checked(ops):
    model = chain(ops).compile()
    with pytest.raises(TypeError, match="graph 'thumbnail': expected 1 input, got 0"):
        model()
    with pytest.raises(TypeError, match="graph 'thumbnail': there is no input 'z'"):
        model(z=Tensor.ones((1, 8, 1)))
    with pytest.raises(TypeError, match="graph 'thumbnail': there is no input 'out'"):
        model(Tensor.ones((1, 8, 1)), out=Tensor.ones((1, 2, 1)))
    with pytest.raises(TypeError, match="graph 'thumbnail': expected 1 input, got 2"):
        model(Tensor.ones((1, 8, 1)), image=Tensor.ones((1, 8, 1)))
    with pytest.raises(TypeError, match="graph 'thumbnail': input 'image'"):
        model("x")
    with pytest.raises(ValueError, match="graph 'thumbnail': input 'image' axis 1 is 4"):
        model(Tensor.ones((1, 4, 1)))
    with pytest.raises(ValueError, match="'image'"):
        model(Tensor.ones((1, 8, 1), "f64"))


def test_several_outputs_and_none(ops):
    with Graph("g", [TensorType(f32, ["n"])]) as graph:
        low, high = ops.halves(graph.inputs[0])
        graph.output(high, graph.inputs[0], high)
    model = graph.compile("interpret")
    x = Tensor([1.0, 2.0])
    outputs = model(x)
    assert [t.tolist() for t in outputs] == [[2.0], [1.0, 2.0], [2.0]]
    outputs[1].numpy()[0] = 9
    outputs[0].numpy()[0] = 8
    assert x.tolist() == [1.0, 2.0] and outputs[2].tolist() == [2.0]
    with Graph("g", [BufferType(f32, ["n"])]) as graph:
        assert ops.double_up(graph.inputs[0]) is None
        graph.output()
    x = Tensor([1.0])
    assert graph.compile()(x) is None and x.tolist() == [2.0]


def test_constants(ops):
    with Graph("g", [TensorType(f32, [2])]) as graph:
        graph.output(ops.dot(graph.inputs[0], graph.constant([1.0, 10.0])))
    assert graph.compile()([1.0, 2.0]).item() == 21.0
    graph = Graph("g")
    graph.output(graph.constant(Tensor([1, 2])), graph.constant(2.5))
    one, two = graph.compile()()
    assert one.tolist() == [1, 2] and two.item() == 2.5


def test_rebind(ops):
    with Graph("g", [TensorType(f32, ["n", "m"])]) as graph:
        graph.output(ops.same(graph.inputs[0].rebind(["n", 3])))
    model = graph.compile()
    assert model(Tensor.ones((2, 3))).shape == (2, 3)
    with pytest.raises(KernelError, match="rebind"):
        model(Tensor.ones((2, 4)))
    with pytest.raises(ValueError):
        graph.inputs[0].rebind(["n"])


def test_data_dependent_dims_are_named(ops):
    with Graph("g", [TensorType(f32, ["n"]), TensorType("bool", ["n"])]) as graph:
        kept = ops.keep(*graph.inputs)
        graph.output(kept)
    assert str(kept.shape[0]).startswith("__dyn_g_keep_0_kept_")
    assert graph.compile()(Tensor([1.0, 2.0]), Tensor([False, True])).tolist() == [2.0]


def test_refusals(ops):
    with pytest.raises(TypeError, match="n // 2|expression"):
        Graph("g", [TensorType(f32, ["n // 2"])])
    with pytest.raises(TypeError, match="input0"):
        Graph("g", [f32])
    with pytest.raises(TypeError):
        Graph(3)
    with pytest.raises(TypeError):
        Graph("g", 3)
    graph = Graph("g", [TensorType(f32, ["n"])])
    with pytest.raises(ValueError, match="no outputs"):
        graph.compile()
    with pytest.raises(TypeError, match="output 0"):
        graph.output(Tensor([1]))
    other = Graph("other", [TensorType(f32, ["n"])])
    with pytest.raises(ValueError, match="other"):
        graph.output(other.inputs[0])
    with pytest.raises(ValueError):
        ops.dot(graph.inputs[0], other.inputs[0])
    graph.output(graph.inputs[0])
    with pytest.raises(ValueError, match="second|already|finished"):
        graph.output(graph.inputs[0])
    with pytest.raises(ValueError, match="interpret"):
        graph.compile("nobody")


def test_an_exception_passes_through_the_context():
    with pytest.raises(KeyError):
        with Graph("g"):
            raise KeyError


def test_values_outlive_the_name_of_their_graph(ops):
    value = Graph("g", [TensorType(f32, ["n"])]).inputs[0]
    gc.collect()
    assert ops.same(value).graph.name == "g"


def test_a_kernels_failure_names_the_graph(ops):
    with Graph("g", [TensorType(f32, ["n"])]) as graph:
        graph.output(ops.checked(graph.inputs[0]))
    with pytest.raises(KernelError, match="g.*checked.*element 0 is negative"):
        graph.compile()(Tensor([-1.0]))


def test_many_inputs(ops):
    with Graph("g", [TensorType(f32, ["n"])] * 20) as graph:
        graph.output(*graph.inputs)
    outputs = graph.compile()(*[Tensor([float(i)]) for i in range(20)])
    assert [t.item() for t in outputs] == list(range(20))


def test_operators_broadcast_values_of_unknown_size():
    """By what is known of the sizes; the rest is the op's error."""
    types = {
        "x": TensorType("f32", ["n", "c"]),
        "row": TensorType("f32", ["c"]),
        "column": TensorType("f32", ["n", 1]),
        "other": TensorType("f32", ["m", "c"]),
        "whole": TensorType("i64", ["c"]),
    }
    with Graph("g", types) as graph:
        x, row, column, other, whole = graph.inputs
        for wrong in (other, whole, Tensor([1.0, 2.0])):
            with pytest.raises(ValueError, match="^add: operand 'b'"):
                x + wrong
        graph.output(2 * x - 1.0, x + row, row + x, x * column, -x, x + Tensor([[1.0]]), column < x)
    x, row, column = (Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), Tensor([1.0, 2.0, 3.0]), Tensor([[2.0], [4.0]]))
    other, whole = x, Tensor([1, 2, 3])
    expected = [2 * x - 1.0, x + row, row + x, x * column, -x, x + Tensor([[1.0]]), column < x]
    results = graph.compile()(x, row, column, other, whole)
    assert [y.tolist() for y in results] == [y.tolist() for y in expected]


def test_a_dict_of_values_stages_nothing():
    graph = Graph("g", [TensorType("f32", ["n"])])
    value = graph.inputs[0]
    names = {value: "x"}
    assert names[value] == "x" and graph.inputs[0] not in names
    assert graph.num_ops == 0


def test_values_move_between_devices(ops):
    far = DeviceRef.CPU(1)
    with Graph("g", {"x": TensorType(f32, ["n"]), "y": TensorType(f32, ["n"], far)}) as graph:
        x, y = graph.inputs
        with pytest.raises(ValueError, match="on device 1, but operand '.*' is on device 0; insert an"):
            x + y
        moved = x.to(far)
        assert moved.device == far and moved.type == y.type and repr(y.type) == "TensorType(f32[n] @ 1)"
        assert x.to(None) is x and y.to(far) is y
        with pytest.raises(TypeError, match="DeviceRef"):
            x.to(1)
        total = moved + y
        graph.output(total, total.to(None) * 2)
    model = graph.compile()
    there, here = model(Tensor([1.0, 2.0]), Tensor([10.0, 20.0], device=far))
    assert (there.tolist(), there.device) == ([11.0, 22.0], far)
    assert (here.tolist(), here.device) == ([22.0, 44.0], DeviceRef.CPU())
    with pytest.raises(ValueError, match="input 'y' is on device 0, but the graph takes it on device 1"):
        model(Tensor([1.0, 2.0]), Tensor([10.0, 20.0]))
    assert "transfer x @ 1  # f32[n] @ 1" in str(graph)
    with pytest.raises(ValueError, match="graph 'g' is finished"):
        x.to(far)
