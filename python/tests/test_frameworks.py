"""JAX and torch on the CPU, both ways, where they are installed; and torch where it is not."""

import subprocess
import sys
import types

import pytest

from ferrule import DType, Tensor


def address(tensor):
    return tensor.numpy().__array_interface__["data"][0]


def test_jax(ops):
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(6, dtype="float32").reshape(2, 3)
    tensor = Tensor.from_dlpack(x)
    assert tensor.dtype is DType.float32 and tensor.shape == (2, 3)
    assert address(tensor) == x.unsafe_buffer_pointer()
    assert ops.same(x).tolist() == x.tolist()
    back = jax.dlpack.from_dlpack(ops.same(x))
    assert back.tolist() == x.tolist()
    made = Tensor.ones(64)
    assert jax.dlpack.from_dlpack(made).unsafe_buffer_pointer() == address(made)
    small = jax.numpy.ones(3, dtype="bfloat16")
    assert ops.same(small).dtype is DType.bfloat16


def test_jax_memory_is_read_only(ops):
    jax = pytest.importorskip("jax")
    with pytest.raises(ValueError, match="read-only"):
        ops.double_up(jax.numpy.ones(3))


def test_torch(ops):
    torch = pytest.importorskip("torch")
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    tensor = Tensor.from_dlpack(x)
    assert address(tensor) == x.data_ptr() and tensor.shape == (2, 3)
    assert ops.same(x.T).tolist() == x.T.tolist()
    back = torch.from_dlpack(tensor)
    assert back.data_ptr() == x.data_ptr()
    flat = torch.ones(3)
    ops.double_up(flat)
    assert flat.tolist() == [2.0, 2.0, 2.0]
    assert ops.same(torch.zeros(3), out=flat) is flat and flat.tolist() == [0.0, 0.0, 0.0]
    assert ops.same(torch.ones(2, dtype=torch.bfloat16)).dtype is DType.bfloat16
    with pytest.raises(ValueError):
        ops.double_up(torch.ones(6)[::2])


def without(monkeypatch, torch):
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, "ferrule._torch", raising=False)


def test_torch_is_missing(ops, monkeypatch):
    without(monkeypatch, None)
    with pytest.raises(ImportError, match=r"op.torch\(\) needs torch .* or later.*: pip install torch"):
        ops.same.torch()


def test_torch_is_too_old(ops, monkeypatch):
    torch = types.ModuleType("torch")
    torch.__version__ = "1.13.1+cpu"
    without(monkeypatch, torch)
    with pytest.raises(ImportError, match=r"needs torch .* or later, and this is 1.13.1.*: pip install --upgrade"):
        ops.same.torch()


def test_importing_the_package_imports_no_framework():
    code = "import sys, ferrule, ferrule.custom; sys.exit(bool({'torch', 'jax', 'numpy'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)
