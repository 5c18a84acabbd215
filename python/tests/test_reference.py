"""The reference page: its code, and a test for each of its attributes."""

import copy
import inspect
import pathlib
import pickle
import subprocess
import sys
import types

import pytest

from ferrule import DType, Graph, Tensor, TensorType, custom


def test_the_pages_code(tmp_path, monkeypatch, kernels):
    (tmp_path / "path" / "to").mkdir(parents=True)
    (tmp_path / "path" / "to" / "kernels").symlink_to(kernels)
    monkeypatch.chdir(tmp_path)
    page = {}
    exec(PAGE, page)
    assert page["y"].shape == (2, 4, 3)
    assert page["y"].dtype is DType.float32
    (value,) = page["graph"].outputs
    assert list(value.shape) == ["n", 4, "c"]
    assert page["graph"].compile()(Tensor.ones((2, 8, 3))).shape == (2, 4, 3)


PAGE = '''
from ferrule import DType, DeviceRef, Graph, Tensor, TensorType, custom

n, w, c = custom.Symbols("n", "w", "c")
downsample = custom.declare(
    "downsample",
    inputs={"x": custom.TemplateType(DType.float32, [n, w, c])},
    outputs=[custom.TemplateType(DType.float32, [n, w // 2, c])],
    custom_extensions=["path/to/kernels"],
)

y = downsample(Tensor.ones((2, 8, 3)))

# Graph: staged, output type `[n, w // 2, c]` -> `["n", 4, "c"]`.
x_type = TensorType(DType.float32, ["n", 8, "c"], DeviceRef.CPU())
with Graph("g", input_types=[x_type]) as graph:
    graph.output(downsample(graph.inputs[0]))
'''


def test_name(ops):
    assert ops.downsample.name == "downsample"


def test_inputs(ops):
    inputs = ops.dot.inputs
    assert isinstance(inputs, types.MappingProxyType)
    assert list(inputs) == ["a", "b"]
    n = custom.Symbol("n")
    assert inputs["a"] == custom.TemplateType(DType.float32, [n])
    assert ops.dot.inputs is inputs
    with pytest.raises(TypeError):
        inputs["a"] = None


def test_outputs(ops):
    n = custom.Symbol("n")
    assert ops.halves.outputs == (
        custom.TemplateType(DType.float32, [n // 2]),
        custom.TemplateType(DType.float32, [n - n // 2]),
    )
    assert ops.double_up.outputs == ()


def test_extensions(ops, kernels):
    assert ops.dot.extensions == (kernels,)
    assert all(isinstance(path, pathlib.Path) for path in ops.dot.extensions)
    assert all(path.is_file() for path in ops.dot.binaries)


def test_parameters(ops):
    parameters = ops.scale.parameters
    assert dict(parameters) == {"by": 2.0, "flip": False, "mode": "plain"}
    assert isinstance(parameters, types.MappingProxyType)
    assert dict(ops.shrink.parameters) == {"g": None}
    assert ops.as_type.parameters["to"] is DType.float32
    assert [type(v) for v in parameters.values()] == [float, bool, str]


def test_declared_inputs(ops):
    given = ops.group[{"g": 4}]
    n, g = custom.Symbol("n"), custom.Param("g")
    assert given.declared_inputs["x"].shape == (n, g)
    assert given.inputs["x"].shape == (n, 4)


def test_declared_outputs(ops):
    given = ops.group[{"g": 4}]
    n, g = custom.Symbol("n"), custom.Param("g")
    assert given.declared_outputs[0].shape == (n * g // 2,)
    assert given.outputs[0].shape == (2 * n,)


def test_pinned_params(ops):
    assert dict(ops.group[{"g": 4}].pinned_params) == {("x", 1): "g"}
    assert dict(ops.shrink.pinned_params) == {}
    with pytest.raises(ValueError, match="parameter 'g' makes it 4"):
        ops.group[{"g": 4}](Tensor.ones((2, 3)))


def test_is_complete(ops):
    assert ops.dot.is_complete
    assert not ops.shrink.is_complete
    assert ops.shrink[{"g": 4}].is_complete
    with pytest.raises(ValueError, match="shrink.*'g'"):
        ops.shrink(Tensor.ones(4))


def test_token(ops, kernels):
    again = custom.declare("dot", custom_extensions=str(kernels))
    assert again.token == ops.dot.token
    assert ops.dot.token.startswith("dot#")
    assert len(ops.dot.token) == len("dot#") + 16
    four = ops.group[{"g": 4}]
    assert four.token != ops.group[{"g": 6}].token
    assert four[{"g": 6}][{"g": 4}].token == four.token


def test_the_token_is_the_same_in_every_process(ops, kernels):
    code = (
        "import sys; from ferrule import custom;"
        "print(custom.declare('dot', custom_extensions=sys.argv[1]).token)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, kernels], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == ops.dot.token


def test_subscript(ops):
    given = ops.scale[{"by": 3}]  # an int that a float holds exactly
    assert given.parameters["by"] == 3.0
    assert type(given.parameters["by"]) is float
    assert given(Tensor([1.0])).tolist() == [3.0]
    assert given[{"flip": True, "mode": "odd"}](Tensor([1.0])).tolist() == [-2.0]
    assert ops.as_type[{"to": DType.int32}](Tensor([2.0])).dtype is DType.int32
    with pytest.raises(ValueError, match="there is no parameter 'gg'"):
        ops.group[{"gg": 1}]
    with pytest.raises(TypeError, match="'g'"):
        ops.group[{"g": "4"}]
    with pytest.raises(TypeError, match="'g'"):
        ops.group[{"g": True}]
    with pytest.raises(TypeError):
        ops.group[{"g": None}]
    with pytest.raises(TypeError, match="parameters"):
        ops.group["g"]


def test_equality_and_hash(ops, kernels):
    again = custom.declare("dot", custom_extensions=kernels)
    assert again == ops.dot and hash(again) == hash(ops.dot) and again is not ops.dot
    assert ops.dot != ops.halves
    assert ops.dot != "dot"
    assert len({again, ops.dot, ops.halves}) == 2
    other = "dot(a: f32[n], b: f32[n]) -> f32[]"
    assert custom.declare(other, custom_extensions=kernels) != ops.dot


def test_immutable(ops):
    for name in ("name", "inputs", "token", "anything"):
        with pytest.raises(AttributeError):
            setattr(ops.dot, name, 1)
        with pytest.raises(AttributeError):
            delattr(ops.dot, name)
    with pytest.raises(TypeError):
        custom.CustomOp()
    with pytest.raises(TypeError):
        custom.CustomOp.name = "another"


def test_repr_is_the_declaration(ops, kernels):
    text = "dot(a: f32[n], b: f32[n]) -> f32[] where n > 0"
    assert repr(ops.dot) == str(ops.dot) == text
    assert custom.declare(repr(ops.dot), custom_extensions=kernels) == ops.dot
    assert "g: int = 4" in repr(ops.group[{"g": 4}])


def test_inspect_signature(ops):
    signature = inspect.signature(ops.dot)
    assert list(signature.parameters) == ["a", "b", "out"]
    assert signature.parameters["a"].annotation == ops.dot.inputs["a"]
    assert signature.return_annotation == ops.dot.outputs[0]
    signature.bind(1, b=2)
    assert "out" not in inspect.signature(ops.double_up).parameters


def test_help_and_docs(ops, capsys):
    help(ops.dot)
    assert "inputs" in capsys.readouterr().out
    for name, member in vars(custom.CustomOp).items():
        if not name.startswith("_"):
            assert member.__doc__, name


def test_pickling_declares_again(ops):
    for op in (ops.dot, ops.shrink, ops.group[{"g": 4}], ops.scale[{"mode": 'q"\\'}]):
        again = pickle.loads(pickle.dumps(op))
        assert again == op and again.token == op.token
    assert copy.copy(ops.dot) is ops.dot
    assert copy.deepcopy([ops.dot])[0] is ops.dot


def test_pickling_takes_source_along():
    op = custom.declare("one(x: f32[n]) -> f32[n]", source=ONE)
    assert pickle.loads(pickle.dumps(op)) == op
    assert str(op.extensions[0]).startswith("inline:")


def test_a_package_that_is_not_there(tmp_path):
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "one.c").write_text(ONE)
    op = custom.declare("one(x: f32[n]) -> f32[n]", custom_extensions=folder)
    data = pickle.dumps(op)
    (folder / "one.c").unlink()
    folder.rmdir()
    with pytest.raises(OSError, match="package"):
        pickle.loads(data)
    assert op(Tensor([1.0])).tolist() == [1.0]


ONE = """#include <ferrule/kernel.h>
KERNEL(one, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(x, 0); i++)
        AT(y, i) = AT(x, i);
    return OK;
}
"""


def test_source_as_text():
    op = custom.declare("one(x: f32[n]) -> f32[n]", source=ONE)
    assert op(Tensor([1.0, 2.0])).tolist() == [1.0, 2.0]


def test_both_forms_make_the_same_op(kernels):
    n, g = custom.Symbol("n"), custom.Param("g")
    objects = custom.declare(
        "group",
        {"x": custom.TemplateType("f32", [n, g])},
        [custom.TemplateType(DType.float32, (n * g // 2,))],
        {"g": 4},
        [kernels],
    )
    text = custom.declare(
        "group<g: int = 4>(x: f32[n, g]) -> f32[n * g // 2]", custom_extensions=[kernels]
    )
    given = custom.declare("group", parameters={"g": 4}, custom_extensions=kernels)
    assert objects == text == given
    assert objects.token == text.token == given.token


def test_everything_in_objects(kernels):
    T = custom.DTypeVar("T", [DType.int32, DType.float32])
    n, s = custom.Symbol("n"), custom.Run("s")
    pair = custom.declare(
        "pair",
        inputs={"a": custom.TemplateType(T, [n]), "b": custom.TemplateType(T, [n])},
        outputs={"sum": custom.TemplateType(T, [n])},
        where=["n % 2 == 0", "n > 0"],
        custom_extensions=kernels,
    )
    assert repr(pair) == (
        "pair<T: i32|f32>(a: T[n], b: T[n]) -> (sum: T[n]) where n % 2 == 0, n > 0"
    )
    assert pair.where == ("n % 2 == 0", "n > 0")
    assert pair.result_names == ("sum",)
    same = custom.declare(
        "same",
        inputs={"x": custom.TemplateType(custom.DTypeVar("T"), [s])},
        outputs=[custom.TemplateType(custom.DTypeVar("T"), [s])],
        effect=True,
        custom_extensions=kernels,
    )
    assert repr(same) == "same<T>(x: T[*s]) -> T[*s] effect"
    assert same.effect and same.inputs["x"].shape == (s,)
    up = custom.declare(
        "double_up",
        inputs={"x": custom.TemplateType(DType.float32, [n])},
        inout="x",
        custom_extensions=kernels,
    )
    assert repr(up) == "double_up(inout x: f32[n]) -> ()" and up.inout == ("x",)
    to = custom.declare(
        "as_type",
        inputs={"x": custom.TemplateType(custom.DTypeVar("T"), [n])},
        outputs=[custom.TemplateType(custom.Param("to"), [n])],
        parameters={"to": DType},
        custom_extensions=kernels,
    )
    assert repr(to) == "as_type<T, to: dtype>(x: T[n]) -> to[n]"
    assert to.inputs["x"].dtype == custom.DTypeVar("T")
    assert to.outputs[0].dtype == custom.Param("to")


def test_templates():
    n = custom.Symbol("n")
    template = custom.TemplateType(DType.float32, [n, 3])
    assert template.dtype is DType.float32 and template.shape == (n, 3)
    assert repr(template) == "TemplateType(f32[n, 3])" and str(template) == "f32[n, 3]"
    assert template == custom.TemplateType("float32", (n, 3))
    assert hash(template) == hash(custom.TemplateType("float32", (n, 3)))
    assert template != custom.TemplateType(DType.float64, [n, 3])
    for thing in (template, custom.DTypeVar("T", "any_int"), custom.Run("s"), n):
        again = pickle.loads(pickle.dumps(thing))
        assert again == thing and hash(again) == hash(thing) and type(again) is type(thing)
    with pytest.raises(AttributeError):
        template.shape = ()
    with pytest.raises(ValueError, match="any_float"):
        custom.DTypeVar("T", "floats")
    with pytest.raises(TypeError):
        custom.TemplateType(3, [n])
    with pytest.raises(TypeError):
        custom.TemplateType("f32", n)


def test_an_operand_called_out():
    source = ONE.replace("IN(f32, 1, x)", "IN(f32, 1, out)").replace("x", "out")
    op = custom.declare("one(out: f32[n]) -> f32[n]", source=source.replace("indeout", "index"))
    assert op(out=Tensor([1.0])).tolist() == [1.0]
    assert list(inspect.signature(op).parameters) == ["out"]


def test_graph_is_staged_with_the_token(ops):
    with Graph("g", [TensorType(DType.float32, ["n"])]) as graph:
        graph.output(*ops.halves(graph.inputs[0]))
    assert ops.halves.token in str(graph)
