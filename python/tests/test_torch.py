"""`op.torch()`: the op as torch's own, eager, compiled and exported."""

import gc
import inspect
import pathlib
import re
import subprocess
import sys
import threading
import weakref

import pytest

from ferrule import DType, Tensor, custom

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

HEADER = "#include <ferrule/kernel.h>\n"
COUNTING = HEADER + """
static int calls;
KERNEL(count, OUT(i64, 1, y), IN(f32, 1, x)) { calls++; AT(y, 0) = calls; return OK; }
KERNEL(bump, INOUT(f32, 1, x)) { for (index_t i = 0; i < SIZE(x); i++) AT(x, i) += 1; return OK; }
"""


@pytest.fixture(autouse=True)
def nothing_compiled():
    torch._dynamo.reset()


def arange(*shape, dtype=torch.float32):
    return torch.arange(torch.Size(shape).numel(), dtype=dtype).reshape(shape)


# An op of each kind, and operands of two sizes.
KINDS = {
    "plain": ("downsample", {}, [(arange(2, 8, 3),), (arange(3, 9, 2),)]),
    "any rank": ("same", {}, [(arange(2, 3),), (arange(5, 4),)]),
    "bfloat16": ("same", {}, [(arange(4, dtype=torch.bfloat16),), (arange(6, dtype=torch.bfloat16),)]),
    "dtype variable": (
        "add_scalar", {},
        [(arange(3, dtype=torch.int64), torch.tensor(2)), (arange(5, dtype=torch.int64), torch.tensor(3))],
    ),
    "parameter": ("scale", {"by": 3.0}, [(arange(3),), (arange(7),)]),
    "parameter in a dim": ("group", {"g": 4}, [(arange(3, 4),), (arange(7, 4),)]),
    "dtype parameter": ("as_type", {"to": DType.float64}, [(arange(3),), (arange(7),)]),
    "two results": ("halves", {}, [(arange(5),), (arange(8),)]),
    "condition": ("dot", {}, [(arange(5), arange(5)), (arange(8), arange(8))]),
    "data-dependent": (
        "keep", {},
        [(arange(4), torch.arange(4) != 1), (arange(5), torch.arange(5) < 2)],
    ),
    "inout": ("double_up", {}, [(arange(4),), (arange(6),)]),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def case(kind, ops):
    name, parameters, operands = KINDS[kind]
    op = getattr(ops, name)
    return (op[parameters] if parameters else op), operands


def clones(operands):
    return [x.clone() for x in operands]


def check_same(one, other, operands):
    """Results and operands, after a call of each."""
    a, b = clones(operands), clones(operands)
    torch.testing.assert_close(one(*a), other(*b), rtol=0, atol=0)
    torch.testing.assert_close(a, b, rtol=0, atol=0)


class Counting:
    """The usual compiler, and how often it was asked."""

    def __init__(self):
        self.compiles = 0

    def __call__(self, graph, operands):
        from torch._inductor.compile_fx import compile_fx

        self.compiles += 1
        return compile_fx(graph, operands)


@every_kind
def test_eager_is_the_op_itself(case):
    op, sizes = case
    for operands in sizes:
        given = clones(operands)
        expected = op(*clones(operands))
        if expected is None:
            op(*(expected := clones(operands)))
            op.torch()(*given)
            torch.testing.assert_close(given, expected)
            continue
        results = op.torch()(*given)
        expected = expected if isinstance(expected, list) else [expected]
        results = results if isinstance(results, tuple) else (results,)
        for result, wanted in zip(results, expected, strict=True):
            torch.testing.assert_close(result, torch.from_dlpack(wanted), rtol=0, atol=0)


@every_kind
def test_opcheck(case):
    op, sizes = case
    for operands in sizes:
        torch.library.opcheck(op.torch(), operands)


@every_kind
def test_one_compile_serves_two_sizes(case):
    op, sizes = case
    handle, backend = op.torch(), Counting()
    compiled = torch.compile(lambda *x: handle(*x), fullgraph=True, dynamic=True, backend=backend)
    for operands in sizes:
        check_same(handle, compiled, operands)
    assert backend.compiles == 1


@every_kind
def test_export(case):
    op, sizes = case

    class Model(torch.nn.Module):
        def forward(self, *x):
            return op.torch()(*x)

    any_size = tuple({i: torch.export.Dim.AUTO for i in range(x.dim())} for x in sizes[0])
    exported = torch.export.export(Model(), tuple(clones(sizes[0])), dynamic_shapes=(any_size,))
    for operands in sizes:
        check_same(op.torch(), exported.module(), operands)


def test_a_saved_program_finds_its_op(ops, kernels, tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x):
            return ops.same.torch()(x) + 1

    torch.export.save(torch.export.export(Model(), (arange(3),)), tmp_path / "model.pt2")
    code = """
import sys, torch
from ferrule import custom
custom.declare("same", custom_extensions=sys.argv[1]).torch()
print(torch.export.load(sys.argv[2]).module()(torch.arange(3.0)).tolist())
"""
    command = [sys.executable, "-c", code, kernels, tmp_path / "model.pt2"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "[1.0, 2.0, 3.0]\n"


def test_between_torchs_own(ops):
    down, up = ops.downsample.torch(), ops.double_up.torch()

    def work(x):
        y = down(x + 1).flatten() * 2
        up(y)
        return y - 1

    check_same(work, torch.compile(work, fullgraph=True, dynamic=True), (arange(2, 6, 3),))


def test_a_result_of_a_data_dependent_op_goes_on(ops):
    keep, dot, halves = ops.keep.torch(), ops.dot.torch(), ops.halves.torch()

    def work(x, mask):
        kept = keep(x, mask)
        return dot(kept, keep(x, mask)), *halves(kept)

    compiled = torch.compile(work, fullgraph=True, dynamic=True)
    for operands in KINDS["data-dependent"][2]:
        check_same(work, compiled, operands)


def test_what_is_stored_negated(ops):
    x = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert x.is_neg() and ops.same.torch()(x).tolist() == [-2.0, 4.0]


def test_a_kernel_is_not_looked_into(ops):
    same = ops.same.torch()

    def work(x):
        for _ in range(2):
            try:
                torch._dynamo.graph_break()
                x = same(x)
            finally:
                pass
        return x

    torch._dynamo.utils.counters.clear()
    assert torch.compile(work, backend="eager")(torch.ones(1)).item() == 1
    assert torch._dynamo.utils.counters["frames"]["total"] == 1  # the function itself, which was given up


def test_strides_as_they_come(ops):
    down = ops.downsample.torch()

    def work(x):
        return down(x.transpose(0, 1))

    check_same(work, torch.compile(work, fullgraph=True, dynamic=True), (arange(4, 2, 3),))


def test_the_page(monkeypatch):
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    monkeypatch.chdir(root)
    section = (root / "docs" / "python.md").read_text(encoding="utf-8").split("\n## torch\n")[1]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
    names = {"downsample": custom.declare("downsample", custom_extensions="examples/kernels")}
    exec(code, names)
    with torch.compiler.set_stance("fail_on_recompile"):
        assert names["thumbnail"](torch.ones(2, 8, 3)).shape == (2, 2, 3)
        assert names["thumbnail"](torch.ones(5, 12, 3)).shape == (5, 3, 3)


# --- What is registered -------------------------------------------------------------------------------


def test_schemas(ops):
    def schema(op):
        return str(op.torch()._opoverload._schema).split("(", 1)[1]

    assert schema(ops.halves) == "Tensor x) -> (Tensor, Tensor)"
    assert schema(ops.double_up) == "Tensor(a0!) x) -> ()"
    declaration = "if(lambda: f32[class], lambda_: f32[class]) -> f32[1] where class > 0"
    odd = custom.declare(declaration, source=HEADER + """
KERNEL(if, OUT(f32, 1, y), IN(f32, 1, a), IN(f32, 1, b)) { AT(y, 0) = AT(a, 0) - AT(b, 0); return OK; }
""")
    assert schema(odd) == "Tensor lambda__, Tensor lambda_) -> Tensor"
    assert list(inspect.signature(odd).parameters) == ["lambda__", "lambda_", "out"]
    torch.library.opcheck(odd.torch(), (torch.ones(3), torch.ones(3)))


def test_names(ops):
    op = ops.downsample
    assert op.torch() is op.torch()
    name, digest = op.token.split("#")
    assert str(op.torch()._opoverload) == f"ferrule.{name}_{digest}.default"
    assert ops.group[{"g": 4}].torch() is ops.group[{"g": 4}].torch()
    assert ops.group[{"g": 4}].torch() is not ops.group[{"g": 2}].torch()


def test_what_was_declared_again_after_an_edit_is_another(tmp_path):
    def declare(number):
        body = f"{{ AT(y, 0) = {number} * AT(x, 0); return OK; }}"
        (tmp_path / "edited.c").write_text(f"{HEADER}KERNEL(edited, OUT(f32, 1, y), IN(f32, 1, x)) {body}")
        return custom.declare("edited(x: f32[1]) -> f32[1]", custom_extensions=tmp_path)

    first, second, third = declare(2), declare(3), declare(2)
    assert first == second
    assert first.torch()(torch.ones(1)).item() == 2
    assert second.torch()(torch.ones(1)).item() == 3
    assert first.torch()(torch.ones(1)).item() == 2
    assert third.torch() is first.torch()


def test_many_threads_register_once(kernels):
    made = [custom.declare("pair", custom_extensions=kernels) for _ in range(8)]
    handles = []
    threads = [threading.Thread(target=lambda op=op: handles.append(op.torch())) for op in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(handles) == 8 and len(set(map(id, handles))) == 1


def test_an_incomplete_op(ops):
    with pytest.raises(ValueError, match="shrink: parameter 'g' has no value"):
        ops.shrink.torch()


def test_an_effect_happens_once_and_in_its_place():
    count = custom.declare("count(x: f32[n]) -> i64[1] effect", source=COUNTING)
    effect = count.torch()

    def work(x):
        effect(x)
        return x + 1, effect(x)

    x = torch.ones(2)
    compiled = torch.compile(work, fullgraph=True)
    assert count(x).item() == 1
    assert compiled(x)[1].item() == 3
    assert compiled(x)[1].item() == 5
    assert count(x).item() == 6


def test_an_effect_on_an_operand():
    bump = custom.declare("bump(inout x: f32[n]) -> () effect", source=COUNTING).torch()

    def work(x):
        y = x * 1
        bump(y)
        bump(y)
        return y

    check_same(work, torch.compile(work, fullgraph=True), (arange(3),))


# --- What is refused ----------------------------------------------------------------------------------


def fails(op, *operands):
    """What torch.compile says of a call that is not good."""
    with pytest.raises(RuntimeError) as caught:
        torch.compile(op.torch(), fullgraph=True, dynamic=True, backend="eager")(*operands)
    return str(caught.value)


@pytest.mark.parametrize(
    "name, operands, message",
    [
        ("downsample", (torch.ones(2, 3),), "downsample: operand 'x' has rank 2, but rank 3 is declared"),
        ("downsample", (torch.ones(2, 3, 4).double(),), "downsample: operand 'x' is f64, but f32 is declared"),
        ("pair", (torch.ones(2), torch.ones(2).int()), "pair: operand 'b' is i32, but its dtype T is f32"),
        ("pair", (torch.ones(3).double(), torch.ones(3).double()), "pair: operand 'a' is f64"),
        ("dot", (torch.ones(3), torch.ones(4)), "dot: operand 'b' axis 0 is "),
        ("dot", (torch.ones(0), torch.ones(0)), "dot: condition 'n > 0' is false"),
        ("group", (torch.ones(3, 5),), "group: operand 'x' axis 1 is "),
        ("same", (torch.ones(3, dtype=torch.complex64),), "same: operand 'x': "),
    ],
)
def test_fakes_are_judged_as_calls_are(name, operands, message, ops):
    op = getattr(ops, name)
    assert message in fails(op, *operands)
    with pytest.raises((ValueError, NotImplementedError), match=re.escape(message)):
        op.torch()(*operands)


def test_what_a_size_does_not_allow():
    less = custom.declare("less<g: int = 2>(x: f32[n]) -> f32[n // g - 3] where n % g == 0", source=HEADER + """
KERNEL(less, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = AT(x, i);
    return OK;
}
""")
    handle = less.torch()
    compiled = torch.compile(handle, fullgraph=True, dynamic=True, backend="eager")
    assert compiled(torch.ones(8)).shape == handle(torch.ones(8)).shape == (1,)
    assert "less: condition 'n % g == 0' is false" in fails(less, torch.ones(9))
    assert "less: result 0 axis 0 is" in fails(less, torch.ones(4))


def test_strided_memory_is_not_changed_in_place(ops):
    up = ops.double_up.torch()
    with pytest.raises(ValueError, match="double_up: operand 'x'.*compact"):
        up(torch.ones(6)[::2])


def test_a_kernels_failure(ops):
    check = ops.checked.torch()
    x = torch.full((2,), -1.0)
    with pytest.raises(RuntimeError, match="checked"):
        check(x)
    with pytest.raises(RuntimeError, match="checked"):
        torch.compile(check, fullgraph=True)(x)


# --- Autograd -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # opcheck looks at it
def test_gradients_are_refused_until_they_are_given(ops):
    twice = ops.scale[{"by": 2.0}].torch()
    x = torch.ones(3, requires_grad=True)
    assert not twice(x.detach()).requires_grad
    with pytest.raises(RuntimeError, match="no autograd formula"):
        twice(x).sum().backward()
    twice.register_autograd(lambda ctx, grad: twice(grad))
    twice(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    torch.library.opcheck(twice, (torch.ones(3, requires_grad=True),))


def test_a_change_in_place_is_known_to_autograd(ops):
    up, x = ops.double_up.torch(), torch.ones(3)
    version = x._version
    up(x)
    assert x._version > version
    with torch.inference_mode():
        y = torch.ones(3)
        up(y)
        assert y.tolist() == [2.0, 2.0, 2.0]


# --- torch's tensors as operands of the op itself -----------------------------------------------------


def test_operands_are_used_where_they_lie(ops):
    x, y = torch.ones(3), torch.zeros(3)
    at = x.data_ptr(), y.data_ptr()
    ops.double_up(x)
    assert ops.same(x, out=y) is y
    assert x.tolist() == y.tolist() == [2.0, 2.0, 2.0]
    assert (x.data_ptr(), y.data_ptr()) == at
    assert ops.same(x.reshape(1, 3)).shape == (1, 3)
    assert ops.dot(x, x).item() == 12.0


def test_results_are_shared_with_torch(ops):
    made = ops.same(torch.ones(64))
    assert torch.from_dlpack(made).data_ptr() == made.numpy().__array_interface__["data"][0]


def test_every_dtype(ops):
    for dtype in (d for d in vars(DType).values() if isinstance(d, DType)):
        x = torch.ones(3).to(getattr(torch, dtype.name))
        assert ops.same(x).dtype is dtype
        result = ops.same.torch()(x)
        assert result.dtype is x.dtype and result.tolist() == x.tolist()


def test_what_is_no_plain_memory(ops):
    for x, message in (
        (torch.ones(3, requires_grad=True), "require gradient"),
        (torch.nn.Parameter(torch.ones(3)), "require gradient"),
        (torch.ones(3).to_sparse(), "layout"),
        (torch.ones(3, device="meta"), "meta"),
    ):
        with pytest.raises(BufferError, match=f"same: operand 'x': .*{message}"):
            ops.same(x)
    with pytest.raises(NotImplementedError, match="same: operand 'x'"):
        ops.same(torch.ones(3, dtype=torch.complex64))
    frozen = torch.nn.Parameter(torch.ones(3), requires_grad=False)
    assert ops.same(frozen).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_a_tensor_without_elements(ops):
    with torch._subclasses.FakeTensorMode():
        fake = torch.ones(3)
    with pytest.raises((ValueError, RuntimeError)):
        ops.same(fake)


@pytest.mark.parametrize("direction", ["to torch", "from torch"])
def test_the_last_reference_may_go_on_another_thread(direction):
    class Array(np.ndarray):
        pass

    x = np.ones(4, "f4").view(Array)
    alive = weakref.ref(x)
    if direction == "to torch":
        held = [torch.from_dlpack(Tensor.from_numpy(x))]
    else:
        held = [Tensor.from_dlpack(torch.from_numpy(x))]
    del x
    gc.collect()
    assert alive() is not None
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert alive() is None


def test_memory_outlives_its_first_owner():
    kept = Tensor.from_dlpack(torch.arange(1000))
    lent = torch.from_dlpack(Tensor.arange(1000))
    gc.collect()
    assert kept[999].item() == lent[999].item() == 999
