"""NumPy, the buffer protocol and DLPack, both ways."""

import array
import copy
import gc
import pickle
import sys
import threading
import weakref
import zlib

import pytest

import ferrule
from ferrule import DeviceRef, DType, Tensor, TensorType, custom

np = pytest.importorskip("numpy")
PLAIN = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("code", PLAIN)
def test_dtypes_both_ways_without_a_copy(code, ops):
    source = np.array([[0, 1], [1, 1]], code)
    tensor = Tensor.from_numpy(source)
    back = np.asarray(tensor)
    assert tensor.dtype.to_numpy() == source.dtype == back.dtype
    assert address(back) == address(source)
    assert np.array_equal(ops.same(source).numpy(), source)
    assert address(np.from_dlpack(tensor)) == address(source)


def test_layouts(ops):
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    for view in (x[::-1], x[:, ::2], x.T, x[..., 1], np.broadcast_to(x[0], (2, 3, 4)), x[:0], x[0, 0, 0]):
        assert np.array_equal(ops.same(view).numpy(), view)
        assert Tensor.from_numpy(view).shape == view.shape
    fields = np.zeros(3, [("a", "u1"), ("b", "f4")])
    fields["b"] = [1, 2, 3]
    assert ops.same(fields["b"]).tolist() == [1.0, 2.0, 3.0]  # misaligned, at odd distances
    misaligned = np.frombuffer(bytes(1) + x.tobytes(), "f4", offset=1)
    assert np.array_equal(ops.same(misaligned).numpy(), x.ravel())


def views(x):
    """Of an array of shape (2, 3, 4)."""
    return (x[::-1], x[:, ::2], x.T, x[..., 1], x[:, :, ::-2], x[:, 1:2, ::-1], np.broadcast_to(x[0], (2, 3, 4)))


def test_strided_memory_is_shared(ops):
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    for view in views(x):
        tensor = Tensor.from_numpy(view)
        back = tensor.numpy()
        assert not tensor.is_compact and back.strides == view.strides and address(back) == address(view)
        assert tensor.is_read_only is not view.flags.writeable
        assert np.asarray(tensor).tolist() == tensor.tolist() == view.tolist()
        assert np.from_dlpack(tensor).strides == view.strides
        assert repr(tensor) == repr(Tensor(view))
        x += 100
        assert tensor.tolist() == view.tolist() == ops.same(tensor).tolist()
    tensor = Tensor.from_numpy(x[0].T)
    tensor.numpy()[0, 1] = -5
    assert x[0, 1, 0] == -5


def test_misaligned_memory_is_shared(ops):
    x = np.frombuffer(bytearray(9), "f4", offset=1)
    tensor = Tensor.from_numpy(x)
    x[1] = 7
    assert not tensor.is_compact and tensor.tolist() == ops.same(tensor).tolist() == [0.0, 7.0]
    assert address(tensor.numpy()) == address(x) and bytes(tensor) == x.tobytes()


def test_copies_of_strided_memory():
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    for view in views(x):
        tensor = Tensor.from_numpy(view)
        for made in (tensor.copy(), copy.deepcopy(tensor), tensor.to(DeviceRef.CPU(1)), Tensor(tensor), Tensor(view),
                     pickle.loads(pickle.dumps(tensor)), Tensor.from_numpy(view, copy=True),
                     Tensor.from_dlpack(Producer(tensor, copy=True, max_version=(1, 0)))):
            assert made.is_compact and not made.is_read_only
            made.numpy()[...] += 1
            assert made.tolist() == (view + 1).tolist()
        with pytest.raises(ValueError, match="compact"):
            Tensor.from_numpy(view, copy=False)


def test_indices_of_strided_tensors():
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    for view in views(x):
        tensor = Tensor.from_numpy(view)
        for key in (0, -1, (slice(None, None, -1), 0), (..., None, 0), slice(1, 1), (slice(None), slice(0, 2))):
            assert np.array_equal(tensor[key].numpy(), view[key])
        assert [part.tolist() for part in tensor] == view.tolist()
        assert np.array_equal(tensor.broadcast_to((2, *view.shape)).numpy(), np.broadcast_to(view, (2, *view.shape)))


def test_buffers_of_strided_tensors():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    turned = memoryview(Tensor.from_numpy(x.T))
    assert turned.strides == (4, 12) and turned.f_contiguous and not turned.c_contiguous
    assert bytes(turned) == x.T.tobytes()
    for tensor in (Tensor.from_numpy(x.T), Tensor.from_numpy(x[:, ::2]), Tensor.from_numpy(x[::-1])):
        with pytest.raises(BufferError, match="not compact row-major"):
            zlib.crc32(tensor)


def test_copies_are_said(ops):
    x = np.arange(6, dtype="f4")
    assert not Tensor.from_numpy(x).is_read_only
    assert Tensor.from_numpy(x).is_compact
    made = Tensor.from_numpy(x, copy=True)
    made.numpy()[0] = 9
    assert x[0] == 0
    strided = Tensor.from_numpy(x[::2])
    with pytest.raises(ValueError, match="double_up: operand 'x' is inout, but the tensor is not compact"):
        ops.double_up(strided)
    with pytest.raises(ValueError, match="same: the tensor given for result 0 is not compact"):
        ops.same(Tensor.ones(3), out=strided)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_read_only_arrays(ops):
    x = np.arange(3, dtype="f4")
    x.flags.writeable = False
    assert ops.same(x).tolist() == [0.0, 1.0, 2.0]
    assert Tensor.from_numpy(x).is_read_only
    assert not np.asarray(Tensor.from_numpy(x)).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        ops.double_up(x)
    with pytest.raises(ValueError, match="read-only"):
        ops.same(np.ones(3, "f4"), out=x)
    with pytest.raises(BufferError):
        Tensor.from_numpy(x).__dlpack__()
    assert Tensor.from_dlpack(Tensor.from_numpy(x)).is_read_only


def test_inout_and_out_are_the_arrays_own(ops):
    x = np.arange(3, dtype="f4")
    ops.double_up(x)
    assert x.tolist() == [0.0, 2.0, 4.0]
    with pytest.raises(ValueError, match="double_up: operand 'x': the memory is not compact"):
        ops.double_up(x[::2])
    out = np.zeros(3, "f4")
    assert ops.same(x, out=out) is out and out.tolist() == x.tolist()
    for bad in (np.zeros(6, "f4")[::2], np.zeros(3, "f8"), np.zeros(4, "f4"), np.zeros((3, 1), "f4"), x[:]):
        with pytest.raises(ValueError, match="same: "):
            ops.same(x, out=bad)


def test_what_has_no_dtype(ops):
    for code, kind in ((">f4", NotImplementedError), ("c8", NotImplementedError), ("O", NotImplementedError),
                       ("U3", NotImplementedError), ("M8[s]", ValueError), (">i8", NotImplementedError)):
        with pytest.raises(kind, match="same: operand 'x'"):
            ops.same(np.zeros(2, code))
    assert ops.same(np.zeros(2, ">u1")).shape == (2,)
    with pytest.raises(NotImplementedError, match="rank 9"):
        ops.same(np.zeros((1,) * 9))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_small_floats(name, ops):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([[1.5, -2.0]], getattr(ml_dtypes, name))
    tensor = Tensor.from_numpy(x)
    assert tensor.dtype.name == name and tensor.tolist() == [[1.5, -2.0]]
    assert tensor.numpy().dtype == x.dtype and address(tensor.numpy()) == address(x)
    turned = Tensor.from_numpy(x[:, ::-1])
    assert turned.numpy().strides == x[:, ::-1].strides and np.array_equal(turned.numpy(), x[:, ::-1])
    assert np.array_equal(ops.same(turned).numpy(), x[:, ::-1])
    assert np.array_equal(ops.same(x[:, ::-1]).numpy(), x[:, ::-1])
    assert np.asarray(tensor).dtype == x.dtype
    assert Tensor.ones((2, 0), name).numpy().shape == (2, 0)
    assert Tensor.ones((), name).numpy() == 1
    out = np.zeros_like(x)
    ops.same(x, out=out)
    assert np.array_equal(out, x)


def test_small_floats_without_ml_dtypes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match="install ml_dtypes"):
        Tensor.ones(2, "bf16").numpy()
    with pytest.raises(BufferError):
        memoryview(Tensor.ones(2, "bf16"))


def test_numpys_array_protocol():
    tensor = Tensor([1, 2])
    assert np.array(tensor, "f4").dtype == np.float32
    assert tensor.__array__("f4").tolist() == [1.0, 2.0]
    assert address(tensor.__array__(copy=True)) != address(tensor.numpy())
    with pytest.raises(ValueError):
        tensor.__array__("f4", copy=False)
    assert np.sum(tensor) == 3


def test_other_buffers(ops):
    assert ops.same(array.array("d", [1.0])).dtype is DType.float64
    assert ops.same(b"ab").dtype is DType.uint8
    assert ops.same(memoryview(b"abcd").cast("H")).dtype is DType.uint16
    view = memoryview(Tensor([[1, 2], [3, 4]]))
    assert view.tolist() == [[1, 2], [3, 4]] and view.format == "l" and view.c_contiguous
    assert bytes(memoryview(Tensor([1, 2], "u64"))[:1]) == bytes([1] + [0] * 7)
    assert memoryview(Tensor(3)).shape == () and memoryview(Tensor.ones((0, 2))).nbytes == 0


def test_a_view_keeps_the_tensor():
    tensor = Tensor.arange(1000)
    view = tensor.numpy()
    del tensor
    gc.collect()
    assert view[999] == 999


def test_a_tensor_keeps_the_array(ops):
    class Array(np.ndarray):
        pass

    for step in (1, 2):
        x = np.ones(4, "f4").view(Array)
        alive = weakref.ref(x)
        tensor = Tensor.from_numpy(x[::step])
        del x
        gc.collect()
        assert alive() is not None
        del tensor
        gc.collect()
        assert alive() is None
    x = np.ones(4, "f4").view(Array)
    alive = weakref.ref(x)
    ops.same(x)
    del x
    assert alive() is None


# --- DLPack -------------------------------------------------------------------------------------------


class Producer:
    """Hands a capsule on, by one way or another."""

    def __init__(self, tensor, **options):
        self.tensor, self.options = tensor, options

    def __dlpack__(self, **given):
        return self.tensor.__dlpack__(**self.options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


class Old(Producer):
    def __dlpack__(self):
        return self.tensor.__dlpack__()


@pytest.mark.parametrize("make", [Old, lambda t: Producer(t, max_version=(1, 0))])
def test_both_generations(make, ops):
    tensor = Tensor([1.0, 2.0])
    assert ops.same(make(tensor)).tolist() == [1.0, 2.0]
    made = ferrule.from_dlpack(make(tensor))
    made.numpy()[0] = 7
    assert tensor.tolist() == [7.0, 2.0]
    assert ops.same(Tensor([5.0, 6.0]), out=make(tensor)) is not None
    assert tensor.tolist() == [5.0, 6.0]


def test_a_capsule_is_consumed_once():
    for version in (None, (1, 0)):
        capsule = Tensor([1]).__dlpack__(max_version=version)
        assert Tensor.from_dlpack(capsule).tolist() == [1]
        with pytest.raises(ValueError, match="consumed before"):
            Tensor.from_dlpack(capsule)


def test_a_capsule_that_nobody_consumed():
    class Array(np.ndarray):
        pass

    for version in (None, (1, 0)):
        x = np.ones(4, "f4").view(Array)
        alive = weakref.ref(x)
        capsule = Tensor.from_numpy(x).__dlpack__(max_version=version)
        del x
        gc.collect()
        assert alive() is not None
        del capsule
        gc.collect()
        assert alive() is None


def test_dlpacks_arguments():
    tensor = Tensor([1])
    assert tensor.__dlpack_device__() == (1, 0)
    made = Tensor.from_dlpack(Producer(tensor, copy=True, max_version=(1, 0)))
    made.numpy()[0] = 2
    assert tensor.item() == 1
    tensor.__dlpack__(dl_device=(1, 0), stream=None)
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        tensor.__dlpack__(stream=1)
    with pytest.raises(TypeError):
        tensor.__dlpack__(max_version=1)


def test_a_producer_that_misbehaves(ops):
    class Wrong:
        def __dlpack__(self, **given):
            return 3

    class Fails:
        def __dlpack__(self, **given):
            raise KeyError("no memory today")

    with pytest.raises(TypeError, match="same: operand 'x': Wrong.*int, not a capsule"):
        ops.same(Wrong())
    with pytest.raises(KeyError, match="no memory today"):
        ops.same(Fails())
    with pytest.raises(TypeError):
        Tensor.from_dlpack(3)


def test_the_last_reference_may_go_on_another_thread():
    class Array(np.ndarray):
        pass

    x = np.ones(4, "f4").view(Array)
    alive = weakref.ref(x)
    held = [Tensor.from_numpy(x)]
    del x
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert alive() is None


def test_dtypes_of_numpy_serve_as_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype, expected in (
        (np.float32, DType.float32),
        (np.dtype("i2"), DType.int16),
        (np.bool_, DType.bool),
        (ml_dtypes.bfloat16, DType.bfloat16),
        (np.dtype(ml_dtypes.float8_e5m2), DType.float8_e5m2),
    ):
        assert DType(dtype) is expected
        assert Tensor.zeros(1, dtype).dtype is expected
        assert TensorType(dtype, ["n"]).dtype is expected
        assert custom.TemplateType(dtype, ["n"]).dtype is expected
        assert custom.DTypeVar("T", [dtype, "f64"]) == custom.DTypeVar("T", [expected, DType.float64])
        cast = custom.declare("cast", parameters={"to": dtype}, custom_extensions="std")
        assert cast.parameters["to"] is expected and cast[{"to": dtype}] == cast
    for wrong, kind in (
        (np.complex64, TypeError),
        (np.dtype(">f4"), NotImplementedError),
        (np.float32(1), TypeError),
        (float, TypeError),
        (np.ndarray, TypeError),
    ):
        with pytest.raises(kind):
            DType(wrong)
