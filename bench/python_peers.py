"""Peers of python.py, each where it is installed: calls that do the work of its op, over torch's tensors.
torch and tvm-ffi compile their ops with the compiler of C++, once."""

import os

TORCH = """#include <torch/library.h>
#include <ATen/ATen.h>
static at::Tensor half(const at::Tensor &x) {
  auto y = at::empty({x.size(0), x.size(1) / 2, x.size(2)}, x.options());
  y.data_ptr<float>()[0] = x.const_data_ptr<float>()[0];
  return y;
}
TORCH_LIBRARY(peer, m) { m.def("half(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(peer, CPU, m) { m.impl("half", half); }
"""
TVM_FFI = """#include <tvm/ffi/tvm_ffi.h>
void half(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  static_cast<float *>(y.data_ptr())[0] = static_cast<const float *>(x.data_ptr())[0];
}
"""


def torch_op(folder):
    import torch
    from torch.utils import cpp_extension

    os.makedirs(folder, exist_ok=True)
    cpp_extension.load_inline("ferrule_peer", TORCH, build_directory=str(folder), is_python_module=False)
    return torch.ops.peer.half.default


def tvm_ffi_op(folder):
    from tvm_ffi import cpp

    return cpp.load_inline("ferrule_peer", cpp_sources=TVM_FFI, functions="half", build_directory=str(folder)).half


def made(name, make, folder):
    """The op, or None with the reason on stdout."""
    try:
        return make(folder / name)
    except (ImportError, OSError, RuntimeError) as error:
        print(f"no lines of {name}: {str(error).splitlines()[0]}")
        return None


def cases(op, loop, folder):
    """Lines by name, as python.py has them."""
    try:
        import torch
    except ImportError as error:
        print(f"no lines of torch and tvm-ffi: {error} (./dev test --interop installs them)")
        return {}
    x, y = torch.ones(2, 8, 3), torch.ones(2, 4, 3)
    found = {
        "floor of a torch tensor: x.requires_grad": loop("x.requires_grad", x=x),
        "op(x), a torch tensor": loop("op(x)", op=op, x=x),
        "op(x, out=y), torch tensors": loop("op(x, out=y)", op=op, x=x, y=y),
        "op.torch()(x)": loop("op(x)", op=op.torch(), x=x),
        "torch.neg(x)": loop("neg(x)", neg=torch.neg, x=x),
    }
    peers = {
        "torch: an op in C++, op(x)": (made("torch", torch_op, folder), "op(x)"),
        "tvm-ffi: op(x, y), torch tensors": (made("tvm_ffi", tvm_ffi_op, folder), "op(x, y)"),
    }
    return found | {name: loop(code, op=peer, x=x, y=y) for name, (peer, code) in peers.items() if peer is not None}
