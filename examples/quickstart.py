"""The quick start of README.md: declare an op, call it, stage it in a graph."""

import pathlib

from ferrule import DType, Graph, Tensor, TensorType, custom

kernels = pathlib.Path(__file__).resolve().parent / "kernels"

n, w, c = custom.Symbols("n", "w", "c")
downsample = custom.declare(
    "downsample",
    inputs={"x": custom.TemplateType(DType.float32, [n, w, c])},
    outputs=[custom.TemplateType(DType.float32, [n, w // 2, c])],
    custom_extensions=[kernels],
)

y = downsample(Tensor.ones((2, 8, 3)))
print(y.shape)

with Graph("thumbnail", {"image": TensorType(DType.float32, ["h", "w", 3])}) as graph:
    graph.output(downsample(downsample(graph.inputs[0])))
model = graph.compile()
print(graph.outputs[0].shape)
print(model(Tensor.ones((4, 8, 3))).shape)
