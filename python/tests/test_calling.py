"""The rules of calling, from Python."""

import gc

import pytest

from ferrule import DeviceRef, DType, Graph, KernelError, Tensor, TensorType, custom


def ones(*shape, dtype=DType.float32):
    return Tensor.ones(shape, dtype)


def staged(shape, dtype=DType.float32):
    graph = Graph("g", [TensorType(dtype, shape)])
    return graph, graph.inputs[0]


def test_one_result_comes_bare_and_several_as_a_list(ops):
    assert ops.dot(ones(3), ones(3)).item() == 3.0
    low, high = results = ops.halves(Tensor([1.0, 2.0, 3.0]))
    assert isinstance(results, list)
    assert (low.tolist(), high.tolist()) == ([1.0], [2.0, 3.0])
    assert ops.double_up(ones(3)) is None


def test_keywords_bind_by_operand_name(ops):
    assert ops.dot(b=Tensor([1.0, 2.0]), a=Tensor([3.0, 4.0])).item() == 11.0
    assert ops.dot(Tensor([1.0]), b=Tensor([2.0])).item() == 2.0
    with pytest.raises(TypeError, match="dot: unexpected operand name 'c'"):
        ops.dot(ones(1), c=ones(1))
    with pytest.raises(TypeError, match="dot: operand 'a' is given twice"):
        ops.dot(ones(1), a=ones(1))
    with pytest.raises(TypeError, match="dot: .* missing 'b'"):
        ops.dot(a=ones(1))


def test_number_of_operands(ops):
    for count in (0, 1, 3, 16, 17, 40):
        with pytest.raises(TypeError, match=f"dot: expected 2 operands, got {count}"):
            ops.dot(*[ones(1)] * count)


def test_what_is_no_tensor(ops):
    for thing, name in ((None, "None"), ("x", "str"), ([1.0], "list"), (object(), "object")):
        with pytest.raises(TypeError, match=f"dot: operand 'b' is .*{name}.*, not a tensor"):
            ops.dot(ones(1), thing)
    with pytest.raises(TypeError, match="operand 'b' is a plain number"):
        ops.dot(ones(1), 2.0)


def test_rank_and_dtype(ops):
    with pytest.raises(ValueError, match="dot: operand 'a' has rank 2, but rank 1"):
        ops.dot(ones(1, 1), ones(1))
    with pytest.raises(ValueError, match="dot: operand 'b' is f64, but f32") as caught:
        ops.dot(ones(1), ones(1, dtype="f64"))
    error = caught.value
    assert (error.op, error.operand, error.expected, error.actual) == ("dot", "b", "f32", "f64")
    with pytest.raises(ValueError, match="scale: operand 'x' is i32"):
        ops.scale(ones(1, dtype="i32"))
    with pytest.raises(ValueError, match="'a'.*'b'|'b'.*'a'"):
        ops.pair(ones(1), ones(1, dtype="i32"))


def test_a_repeated_symbol_names_both_places(ops):
    with pytest.raises(ValueError) as caught:
        ops.dot(ones(5), ones(6))
    assert str(caught.value) == (
        "dot: operand 'b' axis 0 is 6, but n is 5, bound by operand 'a' axis 0"
    )
    assert caught.value.axis == 0


def test_a_computed_negative_dim(kernels):
    op = custom.declare("same<T>(x: T[n]) -> T[n - 4]", custom_extensions=kernels)
    with pytest.raises(ValueError, match=r"same: .*n - 4.*-1.*n = 3"):
        op(ones(3))


def test_conditions(ops):
    with pytest.raises(ValueError, match="condition 'n > 0' is false with n = 0"):
        ops.dot(ones(0), ones(0))


def test_devices(ops):
    far = ones(2).to(DeviceRef.CPU(1))
    assert far.device == DeviceRef.CPU(1)
    assert ops.same(far).device == DeviceRef.CPU(1)
    assert far.to(DeviceRef.CPU(1)) is far and far.to(None).device == DeviceRef.CPU()
    with pytest.raises(ValueError, match="insert an explicit transfer"):
        ops.dot(far, ones(2))
    with pytest.raises(ValueError, match="no host device 2"):
        DeviceRef.CPU(2)


def test_a_mix_is_refused(ops):
    graph, value = staged([2])
    with pytest.raises(TypeError, match="'a' is a graph value, 'b' is a tensor"):
        ops.dot(value, ones(2))


def test_any_dim_of_the_caller_binds_a_symbol(ops):
    graph, value = staged(["n", "w", "c"])
    half = ops.downsample(value)
    assert [str(dim) for dim in half.shape] == ["n", "w // 2", "c"]
    assert [str(dim) for dim in ops.downsample(half).shape] == ["n", "w // 4", "c"]


def test_a_symbolic_dim_against_a_static_one(ops):
    graph, value = staged(["n", "m"])
    with pytest.raises(ValueError, match="rebind"):
        ops.group[{"g": 4}](value)
    assert ops.group[{"g": 4}](value.rebind(["n", 4])).shape == (value.shape[0] * 2,)


def test_numbers_as_rank_0_operands(ops):
    assert ops.add_scalar(Tensor([1.0]), 2).tolist() == [3.0]
    assert ops.add_scalar(Tensor([1]), by=2).tolist() == [3]
    top = 2**64 - 1
    assert ops.add_scalar(Tensor.zeros(1, "u64"), top).tolist() == [top]
    for operand, number in (([1], 1.5), ([1.0], 2**53 + 1), ([1], True), ([True], 1)):
        with pytest.raises(ValueError, match="add_scalar: operand 'by'"):
            ops.add_scalar(Tensor(operand), number)
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError, match="add_scalar: operand 'by'"):
            ops.add_scalar(Tensor([1]), number)
    assert ops.add_scalar(Tensor([True]), False).tolist() == [True]
    third = ops.add_scalar(Tensor([0.0]), 1 / 3).item()  # rounded to f32
    assert third != 1 / 3 and abs(third - 1 / 3) < 1e-7
    assert ops.add_scalar(Tensor([0.0]), float("inf")).item() == float("inf")
    with pytest.raises(ValueError, match="add_scalar: operand 'by'"):
        ops.add_scalar(Tensor([0.0]), 1e300)


def test_a_number_beside_a_value_is_a_constant(ops):
    graph, value = staged(["n"])
    graph.output(ops.add_scalar(value, 0.5))
    assert graph.compile()(Tensor([1.0])).tolist() == [1.5]


def test_empty_and_rank_0(ops):
    assert ops.same(ones(0, 3)).shape == (0, 3)
    assert ops.same(ones()).shape == ()
    assert ops.downsample(ones(2, 1, 3)).shape == (2, 0, 3)


def test_a_kernel_runs_without_elements_too():
    source = '#include <ferrule/kernel.h>\nKERNEL(f, OUT(f32, 1, y), IN(f32, 1, x)) { FAIL("it ran"); }\n'
    with pytest.raises(KernelError, match="f: it ran"):
        custom.declare("f(x: f32[n]) -> f32[n]", source=source)(ones(0))


def test_dtypes_come_of_the_operand(ops):
    for dtype in ("bool", "i8", "u64", "f16", "bf16", "f64", "f8e4m3fn", "f8e5m2"):
        assert ops.same(ones(2, dtype=dtype)).dtype.short_name == dtype


def test_data_dependent_results(ops):
    kept = ops.keep(Tensor([1.0, 2.0, 3.0]), Tensor([True, False, True]))
    assert kept.tolist() == [1.0, 3.0]


def test_inout(ops):
    x = Tensor([1.0, 2.0])
    ops.double_up(x)
    assert x.tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="double_up: operand 'x' is inout.*read-only"):
        ops.double_up(Tensor.from_dlpack(memoryview(bytes(8)).cast("f")))


def test_inout_overlaps_nothing():
    source = """#include <ferrule/kernel.h>
KERNEL(f, INOUT(f32, 1, x), IN(f32, 1, y)) { AT(x, 0) += AT(y, 0); return OK; }
"""
    op = custom.declare("f(inout x: f32[n], y: f32[n]) -> ()", source=source)
    memory = memoryview(bytearray(12)).cast("f")
    with pytest.raises(ValueError, match="f: operand 'x' is inout.*overlaps operand 'y'"):
        op(memory[:2], memory[1:])
    op(memory[:1], memory[1:2])


def test_out(ops):
    x = Tensor([1.0, 2.0, 3.0])
    y = Tensor.zeros(3)
    assert ops.same(x, out=y) is y
    assert y.tolist() == [1.0, 2.0, 3.0]
    assert ops.same(x, out=None).tolist() == y.tolist()
    low, high = Tensor.zeros(1), Tensor.zeros(2)
    assert ops.halves(x, out=(low, high)) == (low, high)
    assert high.tolist() == [2.0, 3.0]
    assert ops.add_scalar(x=x, by=1, out=y) is y
    assert y.tolist() == [2.0, 3.0, 4.0]


def test_out_is_refused(ops):
    x = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"result 0 is f32\[2\], but the given tensor is f32\[3\]"):
        ops.same(x, out=ones(3))
    with pytest.raises(ValueError, match=r"f32\[2\].*f64\[2\]"):
        ops.same(x, out=ones(2, dtype="f64"))
    with pytest.raises(ValueError, match="overlaps operand 'x'"):
        ops.same(x, out=x)
    with pytest.raises(ValueError, match="read-only"):
        ops.same(x, out=memoryview(bytes(8)).cast("f"))
    with pytest.raises(TypeError, match="out is of type 'int'"):
        ops.same(x, out=3)
    with pytest.raises(TypeError, match="2 results"):
        ops.halves(x, out=ones(1))
    with pytest.raises(TypeError, match="more tensors"):
        ops.halves(x, out=[x] * 17)
    graph, value = staged([2])
    with pytest.raises(TypeError, match="graph value"):
        ops.same(value, out=x)


def test_a_kernels_failure(ops):
    with pytest.raises(KernelError, match="checked: element 1 is negative") as caught:
        ops.checked(Tensor([1.0, -1.0]))
    assert isinstance(caught.value, RuntimeError) and caught.value.op == "checked"
    y = Tensor.zeros(1)
    with pytest.raises(KernelError):
        ops.checked(Tensor([-1.0]), out=y)


def test_after_an_error_every_tensor_holds_what_it_held(ops):
    x, y = Tensor([1.0, 2.0]), Tensor([5.0, 6.0])
    for refused in (
        lambda: ops.same(x, out=ones(3)),
        lambda: ops.dot(x, ones(3)),
        lambda: ops.same(x, ones(3), out=y),
        lambda: ops.double_up(x, x),
        lambda: ops.checked(Tensor([-1.0, 1.0]), out=ones(3)),
    ):
        with pytest.raises((TypeError, ValueError)):
            refused()
    assert (x.tolist(), y.tolist()) == ([1.0, 2.0], [5.0, 6.0])


def test_the_same_bits_everywhere():
    np = pytest.importorskip("numpy")
    x = np.random.default_rng(1).normal(size=(7, 1001)).astype("f4")
    for name in ("exp", "tanh", "gelu", "softmax"):
        op = custom.declare(name, custom_extensions="std")
        with Graph("g", [TensorType("f32", ["n", "m"])]) as graph:
            graph.output(op(op(graph.inputs[0])))
        expected = bytes(memoryview(op(op(x))))
        assert bytes(memoryview(graph.compile()(x))) == expected == bytes(memoryview(op(op(x))))


def test_overflow_of_a_result(kernels):
    op = custom.declare(
        "same<T>(x: T[n]) -> T[n * 4611686018427387904]", custom_extensions=kernels
    )
    with pytest.raises(OverflowError, match="same"):
        op(ones(8))
    with pytest.raises(MemoryError):
        Tensor.empty(2**62, "u8")


def test_buffers_are_let_go(ops):
    data = bytearray(8)
    ops.same(data)
    data.append(1)  # BufferError while somebody holds it
    with pytest.raises(ValueError):
        ops.dot(ones(1), data)
    data.append(1)
    kept = Tensor.from_dlpack(data)
    with pytest.raises(BufferError):
        data.append(1)
    del kept
    gc.collect()
    data.append(1)
