"""References balance: what is repeated leaves nothing behind, whatever it returns or raises.

A debug build of CPython counts all references (`./dev pytest --debug`), also those to objects that live
as long as the process. Under any other this only shows that all of it works; test_process.py has what leaks
there."""

import array
import copy
import gc
import inspect
import pickle
import sys

import pytest
from conftest import kernel

import ferrule
from ferrule import AlgebraicDim, BufferType, DeviceRef, Dim, DType, Graph, SymbolicDim, Tensor, TensorType, custom

n, w = custom.Symbols("n", "w")
g, T, s = custom.Param("g"), custom.DTypeVar("T", ["i32", "f32"]), custom.Run("s")
ROW = custom.TemplateType("f32", [n])
TYPES = {"a": TensorType("f32", ["n"]), "b": TensorType("f32", ["n"])}
SOURCE = "#include <ferrule/kernel.h>\nMAP(negate, f32, IN(f32, x)) { return -x; }\n"


class Producer:
    def __init__(self, tensor, **options):
        self.tensor, self.options = tensor, options

    def __dlpack__(self, **given):
        return self.tensor.__dlpack__(**self.options)


class Fails:
    """In whatever it is asked for."""

    def fail(self, *given, **named):
        raise KeyError

    __dlpack__ = __index__ = __float__ = __len__ = __getitem__ = __iter__ = __fspath__ = fail


class NoCapsule:
    def __dlpack__(self, **given):
        return 3


class Lies(dict):
    def items(self):
        return [1]


def refused(*calls):
    """Each of them raises."""

    def work():
        for call in calls:
            try:
                call()
            except Exception as error:
                str(error)
            else:
                raise AssertionError(inspect.getsource(call))

    return work


def declare(inputs={"x": ROW}, outputs=[ROW], *more, **options):
    return custom.declare("f", inputs, outputs, *more, source="", **options)


def calls():
    x, y, z = Tensor.ones(3), Tensor.ones(3), Tensor([-1.0])
    data, out = array.array("f", [1, 2, 3]), array.array("f", [0, 0, 0])
    strided = memoryview(array.array("f", range(6)))[::2]
    same, dot, halves, add, up = map(kernel, ["same", "dot", "halves", "add_scalar", "double_up"])

    def work():
        same(x), same(x=x), same(x, out=y), same(data), same(data, out=out), same(strided), up(x), up(out)
        halves(x), halves(x, out=(z, Tensor.empty(2))), halves(x, out=[Tensor.empty(1), Tensor.empty(2)])
        add(x, 2.0), add(x, by=2), add(x=x, by=2.0, out=y), kernel("keep")(x, x < y)
        same(Producer(x)), same(Producer(x, max_version=(1, 0))), same(x, out=Producer(y))

    value = Graph("g", TYPES).inputs[0]
    failures = refused(
        lambda: dot(x),
        lambda: dot(*[x] * 40),
        lambda: dot(x, None),
        lambda: dot(x, 2.0),
        lambda: dot(x, c=x),
        lambda: dot(x, a=x),
        lambda: dot(x, z),
        lambda: dot(x, value),
        lambda: same(x, out=z),
        lambda: same(x, out=x),
        lambda: same(x, out=3),
        lambda: same(x, out=strided),
        lambda: same(x, out=Fails()),
        lambda: halves(x, out=[x]),
        lambda: halves(x, out=[x, Fails()]),
        lambda: up(b"abcd"),
        lambda: same(memoryview(b"abc").cast("c")),
        lambda: same(Fails()),
        lambda: same(NoCapsule()),
        lambda: same(value, out=x),
        lambda: add(Tensor([1]), 1.5),
        lambda: add(Tensor([1]), 2**64),
        lambda: kernel("checked")(z),
        lambda: kernel("shrink")(x),
    )
    return work, failures


def tensors():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    data = array.array("f", [1, 2, 3])
    strided = memoryview(array.array("f", range(6)))[::2]

    def work():
        Tensor.zeros((2, 3)), Tensor.full((), 2, "i8"), Tensor.arange(3), Tensor.empty(2), Tensor.ones([2], "bf16")
        Tensor([1, 2]), Tensor(3), Tensor([[True]]), Tensor(range(3)), Tensor([1], "u8", DeviceRef.CPU(1))
        x.shape, x.dtype, x.type, x.device, x.size, x.rank, repr(x), len(x), list(x), x.tolist()
        x[0], x[0, 1], x[:, ::-1], x[..., None], x.copy(), x.to(None), x.to(DeviceRef.CPU(1)), x.broadcast_to((3, 2, 2))
        x[0], x[:, ::-1] = [5.0, 6.0], x
        x[...] += 1.0
        copy.copy(x), copy.deepcopy(x), Tensor(1).item(), float(Tensor(1.5)), int(Tensor(2)), bool(Tensor(0))
        x + x, x - 1, 2 * x, 1 / x, x**2, x @ x, -x, abs(x), x == x, x < 1, x != None, x + [1.0, 2.0]  # noqa: E711
        Tensor.from_dlpack(data), Tensor.from_dlpack(data, copy=True), Tensor.from_dlpack(strided)
        Tensor.from_dlpack(Producer(x)), Tensor.from_dlpack(Producer(x, max_version=(1, 0)))
        x.__dlpack__(), x.__dlpack__(max_version=(1, 0)), x.__dlpack__(copy=True), x.__dlpack_device__()
        memoryview(x).tolist(), memoryview(x)[0, 1], bytes(memoryview(x[0])[:1])

    capsule = x.__dlpack__()
    Tensor.from_dlpack(capsule)
    failures = refused(
        lambda: x[5],
        lambda: x["a"],
        lambda: x[::0],
        lambda: x[Fails()],
        lambda: x.__setitem__(5, 1.0),
        lambda: x.__setitem__(0, "a"),
        lambda: x.__setitem__(0, [1.0, 2.0, 3.0]),
        lambda: x.__setitem__(0, Fails()),
        lambda: x.__setitem__(Fails(), 1.0),
        lambda: x.__delitem__(0),
        lambda: x + "a",
        lambda: x + Tensor([1]),
        lambda: x + Tensor([1.0, 2.0, 3.0]),
        lambda: x.item(),
        lambda: x.broadcast_to((2, 4)),
        lambda: Tensor([[1], 2]),
        lambda: Tensor(["a"]),
        lambda: Tensor([1, Fails()]),
        lambda: Tensor([2**64]),
        lambda: Tensor(Fails()),
        lambda: Tensor.zeros("a"),
        lambda: Tensor.zeros([1, Fails()]),
        lambda: Tensor.full(2, 300, "u8"),
        lambda: Tensor.from_dlpack(capsule),
        lambda: Tensor.from_dlpack(NoCapsule()),
        lambda: x.__dlpack__(stream=1),
        lambda: x.__dlpack__(dl_device=(2, 0)),
        lambda: x.__dlpack__(max_version=1),
        lambda: memoryview(Tensor.ones(1, "bf16")),
    )
    return work, failures


def declarations():
    package = kernel("dot").extensions

    def work():
        op = custom.declare("dot", custom_extensions=package)
        custom.declare(repr(op), custom_extensions=[str(package[0])])
        custom.declare("negate(x: f32[*s]) -> f32[*s]", source=SOURCE)
        row = custom.TemplateType(T, [n])
        custom.declare("pair", {"a": row, "b": row}, {"sum": row}, where=["n > 0"], custom_extensions=package)
        custom.declare("double_up", {"x": ROW}, inout="x", effect=True, custom_extensions=package)
        kernel("group")[{"g": 4}], kernel("scale")[{"by": 3, "flip": True, "mode": "odd"}]
        kernel("as_type")[{"to": DType.int32}], kernel("scale")[{}]
        for op in op, kernel("group")[{"g": 4}], kernel("halves"):
            [getattr(op, name) for name in dir(op)]
            hash(op), op == kernel("dot"), op != 1, str(op), inspect.signature(op)

    group = kernel("group")
    failures = refused(
        lambda: custom.declare("f(x f32[n]) -> f32[n]", source=""),
        lambda: custom.declare("f(x: f32[n]) -> f32[n]", source="a\0b"),
        lambda: custom.declare("f(x: f32[n]) -> f32[n]", custom_extensions=["a"] * 9),
        lambda: custom.declare("f(x: f32[n]) -> f32[n]", custom_extensions=[Fails()]),
        lambda: custom.declare("dott", custom_extensions=package),
        lambda: custom.declare(3),
        lambda: declare(),
        lambda: declare({"x": 3}),
        lambda: declare({3: ROW}),
        lambda: declare([1]),
        lambda: declare(Lies(x=1)),
        lambda: declare({f"x{i}": ROW for i in range(40)}),
        lambda: declare({"x": custom.TemplateType("f32", ["n"])}),
        lambda: declare({"x": custom.TemplateType("f32", [n // 2])}),
        lambda: declare({"x": ROW}, {"y": 3}),
        lambda: declare({"x": ROW}, [ROW], {"p": [1]}),
        lambda: declare({"x": ROW}, [ROW], {"a": None, "b": float, "c": bool, "d": str, "e": DType, "f": int}),
        lambda: declare(where=[3]),
        lambda: declare(where=["n = 2"]),
        lambda: declare(inout=["z"]),
        lambda: group[{"g": "4"}],
        lambda: group[{"gg": 4}],
        lambda: group[{"g": None}],
        lambda: group[{"g": 2**70}],
        lambda: group[{3: 1}],
        lambda: group["g"],
        lambda: group[Lies(g=1)],
        lambda: setattr(group, "name", 1),
        lambda: custom.CustomOp(),
    )
    return work, failures


def dims_and_types():
    dim = Dim("n")

    def work():
        dim + 1, 3 * dim // 2 % 5, -dim, 1 - dim, 7 // dim, 7 % dim, dim == "n", hash(dim), repr(dim), dim.name
        dim.substitute({"n": 2}), dim.substitute({dim: "m"}), (dim // 2).parameters, int(Dim(3)), Dim(3) < 4, Dim(3).dim
        TensorType("f32", ["n", 2]).shape, hash(TensorType(DType.int8, ())), TYPES["a"] == TYPES["b"], repr(TYPES)
        DType("f32"), DType.int8.name, DType.int8.size_in_bytes, DType.float32.is_float(), repr(DType.bool)
        DeviceRef.CPU() == DeviceRef.CPU(1), hash(DeviceRef.CPU()), repr(DeviceRef.CPU()), DeviceRef.CPU().id
        template = custom.TemplateType(T, [n // 2, s, 3])
        template.shape, template.dtype, hash(template), repr(template), template == ROW
        custom.DTypeVar("T", "any_int"), custom.Symbols("a", "b"), repr(T), repr(s), s.name
        ferrule.counters(), ferrule.memory(), ferrule.get_include()

    failures = refused(
        lambda: Dim("n +"),
        lambda: Dim(1.5),
        lambda: Dim(2**63),
        lambda: Dim("n\0"),
        lambda: dim + "m",
        lambda: dim // 0,
        lambda: dim < 4,
        lambda: int(dim),
        lambda: dim.substitute({dim + 1: 2}),
        lambda: dim.substitute({"n": 1.5}),
        lambda: dim.substitute(Lies(n=1)),
        lambda: SymbolicDim(3),
        lambda: AlgebraicDim("n"),
        lambda: TensorType("f32", [-1]),
        lambda: TensorType("f32", [1] * 9),
        lambda: TensorType("f32", 3),
        lambda: TensorType("f32", [n]),
        lambda: TensorType("f32", [Fails()]),
        lambda: TensorType("f32", [1], 3),
        lambda: BufferType("f32", [-1]),
        lambda: BufferType("f32", [Fails()]),
        lambda: DType("f33"),
        lambda: DType(3),
        lambda: DeviceRef.CPU(7),
        lambda: custom.TemplateType("f33", [n]),
        lambda: custom.TemplateType("f32", 3),
        lambda: custom.TemplateType("f32", [n, 1.5]),
        lambda: custom.DTypeVar("T", "floats"),
        lambda: custom.DTypeVar("T", ["f33"]),
        lambda: custom.Symbol("1"),
        lambda: custom.Symbols("a", 3),
    )
    return work, failures


def staged(name="g"):
    with Graph(name, TYPES) as graph:
        a, b = graph.inputs
        _, high = kernel("halves")(a * 2 + b)
        there = a.to(DeviceRef.CPU(1)), a.to(None)
        graph.output(
            kernel("dot")(a, b), high, graph.constant([1.0, 2.0]), kernel("keep")(a, a < b), a.rebind(["n"]), *there
        )
    return graph


def graphs():
    graph, x, data = staged(), Tensor([1.0, 2.0, 3.0]), array.array("f", [1, 2, 3])
    models = [graph.compile("interpret"), graph.compile()]

    def work():
        made = staged()
        str(made), repr(made), made.inputs, made.outputs, made.input_names, made.num_ops, made.name
        value = graph.inputs[0]
        fresh = new().inputs[0]
        fresh.reshape(1, -1), fresh.unsqueeze(0).squeeze(0), x.reshape(3, -1).flatten()
        value.shape, value.dtype, value.type, value.graph, value.rank, value.device, repr(value), hash(value)
        made.compile("interpret")
        with Graph("h", [BufferType("f32", [3]), TensorType("f32", [3])]) as changing:
            buffer, b = changing.inputs
            buffer[1:], buffer[0] = b[1:], 2.0
            buffer[...] += b
            changing.output(buffer[...])
        changing.compile()(Tensor.ones(3), x), repr(buffer), buffer.type == BufferType("f32", [3])
        for model in models:
            model(x, x), model(a=x, b=x), model(data, data), model([1.0], [2.0]), repr(model), model.graph

    def new():
        return Graph("g", TYPES)

    failures = refused(
        lambda: Graph("g", [3]),
        lambda: Graph("g", 3),
        lambda: Graph("g", Lies(n=1)),
        lambda: Graph("g", [TensorType("f32", ["n // 2"])]),
        lambda: new().output(x),
        lambda: new().output(graph.inputs[0]),
        lambda: new().compile(),
        lambda: new().constant("a"),
        lambda: new().inputs[0].rebind(["n", "m"]),
        lambda: new().inputs[0].__setitem__(..., 1.0),
        lambda: new().inputs[0].__setitem__(0, Fails()),
        lambda: new().inputs[0].__delitem__(0),
        lambda: new().inputs[0].reshape(["n", "m"]),
        lambda: new().inputs[0].reshape(2.5),
        lambda: new().inputs[0].squeeze(1),
        lambda: x.reshape(2, -1),
        lambda: x.squeeze(),
        lambda: kernel("dot")(new().inputs[0], graph.inputs[0]),
        lambda: graph.output(graph.inputs[0]),
        lambda: graph.compile("nobody"),
        lambda: bool(graph.inputs[0]),
        lambda: models[0](),
        lambda: models[0](x, z=x),
        lambda: models[0](x, a=x),
        lambda: models[0]("x", x),
        lambda: models[0](x, Tensor.ones(4)),
        lambda: models[0](Fails(), x),
    )
    return work, failures


def pickles():
    things = [
        *(DType.int8, DeviceRef.CPU(1), Dim("n") // 2, Dim(3), n, g, n // g, T, s, ROW, TYPES["a"]),
        *(Tensor([[1.0, 2.0]]), kernel("dot"), kernel("group")[{"g": 4}], kernel("scale")),
    ]
    return (lambda: pickle.loads(pickle.dumps(things))), refused(lambda: pickle.dumps(Graph("g", TYPES)))


@pytest.mark.parametrize("does", ["succeeds", "fails"])
@pytest.mark.parametrize("works", [calls, tensors, declarations, dims_and_types, graphs, pickles])
def test_references_balance(works, does):
    work = works()[does == "fails"]
    work()
    if not hasattr(sys, "gettotalrefcount"):
        return  # the blocks that are in use tell too little: Python keeps lists of free ones
    turns = 100

    def after():
        for _ in range(turns):
            work()
        gc.collect()
        return sys.gettotalrefcount()

    after()
    before = after()
    assert abs(after() - before) < turns // 2
