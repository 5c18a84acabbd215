"""DLPack's exchange in C, with a table of our own."""

import ctypes

import pytest

from ferrule import DType, Tensor


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


Describe = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("unused", ctypes.c_void_p * 3),
        ("describe", Describe),
        ("stream", ctypes.c_void_p),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
kept = []  # a table lives as long as the process


def publish(table, name=b"dlpack_exchange_api"):
    kept.append((table, name))
    return new_capsule(ctypes.addressof(table), name, None)


@Describe
def describe(array, out):
    array.described += 1
    out[0] = DLTensor(
        ctypes.addressof(array.elements), array.device, 0, len(array.shape), 2, 32, 1,
        (ctypes.c_int64 * 8)(*array.shape), (ctypes.c_int64 * 8)(*array.strides) if array.strides else None, 0,
    )
    kept.append((out[0].shape, out[0].strides))
    return 0


@Describe
def refuse(array, out):
    return -1


class Asked:
    """Counts which way it was asked."""

    device, strides = 1, None

    def __init__(self, *elements, shape=None):
        self.elements = (ctypes.c_float * len(elements))(*elements)
        self.shape = (len(elements),) if shape is None else shape
        self.described = self.asked = 0

    def __dlpack__(self, **given):
        self.asked += 1
        return Tensor([7.0]).__dlpack__(**given)

    def __dlpack_device__(self):
        return 1, 0


class Array(Asked):
    __dlpack_c_exchange_api__ = publish(Table(1, 3, None, describe=describe))


def test_a_table_is_used(ops):
    x = Array(1.0, 2.0)
    assert ops.same(x).tolist() == [1.0, 2.0] and ops.same(x).dtype is DType.float32
    assert (x.described, x.asked) == (2, 0)


def test_elements_are_the_objects_own(ops):
    x, y = Array(1.0, 2.0), Array(0.0, 0.0)
    ops.double_up(x)
    assert list(x.elements) == [2.0, 4.0]
    assert ops.same(x, out=y) is y and list(y.elements) == [2.0, 4.0]


def test_strides(ops):
    x = Array(1.0, 2.0, 3.0, 4.0, shape=(2, 2))
    x.strides = (1, 2)
    assert ops.same(x).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    x.shape, x.strides = (2,), (2,)
    with pytest.raises(ValueError, match="double_up: operand 'x'.*compact"):
        ops.double_up(x)


def test_another_device_is_said(ops):
    x = Array(1.0)
    x.device = 2
    with pytest.raises(NotImplementedError, match="same: operand 'x': .*cuda"):
        ops.same(x)


def test_an_older_table_behind_a_newer_one(ops):
    class Newer(Asked):
        older = Table(1, 3, None, describe=describe)
        __dlpack_c_exchange_api__ = publish(Table(2, 0, ctypes.addressof(older), describe=refuse))

    x = Newer(3.0)
    assert ops.same(x).tolist() == [3.0] and x.asked == 0


@pytest.mark.parametrize(
    "table",
    [
        publish(Table(2, 0, None, describe=describe)),
        publish(Table(0, 9, None, describe=describe)),
        publish(Table(1, 3, None)),
        publish(Table(1, 3, None, describe=refuse)),
        publish(Table(1, 3, None, describe=describe), b"another"),
        3,
    ],
    ids=["newer", "older", "empty", "refusing", "named otherwise", "no capsule"],
)
def test_a_table_that_does_not_serve(table, ops):
    class Other(Asked):
        __dlpack_c_exchange_api__ = table

    x = Other(1.0)
    assert ops.same(x).tolist() == [7.0] and (x.described, x.asked) == (0, 1)


def test_a_subclass_is_asked_by_its_method(ops):
    class Sub(Array):
        pass

    x = Sub(1.0)
    assert ops.same(x).tolist() == [7.0] and (x.described, x.asked) == (0, 1)


def test_a_class_may_change(ops):
    class Changing(Asked):
        __dlpack_c_exchange_api__ = Array.__dlpack_c_exchange_api__

    def way():
        x = Changing(1.0)
        for _ in range(3):
            ops.same(x)
        return x.described, x.asked

    assert way() == (3, 0)
    Changing.requires_grad = True
    assert way() == (0, 3)
    Changing.requires_grad = False
    assert way() == (3, 0)
    del Changing.__dlpack_c_exchange_api__
    assert way() == (0, 3)
    Changing.__dlpack_c_exchange_api__ = Array.__dlpack_c_exchange_api__
    assert way() == (3, 0)


@pytest.mark.parametrize("answer, way", [(True, (0, 1)), (False, (1, 0)), (None, (0, 1))])
def test_what_wants_a_gradient_is_asked(answer, way, ops):
    x = Array(1.0)
    x.requires_grad = answer
    ops.same(x)
    assert (x.described, x.asked) == way


def test_a_property_that_fails(ops):
    class Failing(Asked):
        __dlpack_c_exchange_api__ = Array.__dlpack_c_exchange_api__

        @property
        def requires_grad(self):
            raise KeyError("no answer")

    x = Failing(1.0)
    assert ops.same(x).tolist() == [7.0] and x.asked == 1
