"""What inspect.signature() says of an op."""

import inspect
import keyword

from ferrule._core import CustomOp


def of(op: CustomOp) -> inspect.Signature:
    # A parameter cannot be called like a keyword of Python; the operand still is.
    parameters = [
        inspect.Parameter(
            name + "_" if keyword.iskeyword(name) else name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=template,
        )
        for name, template in op.inputs.items()
    ]
    if op.outputs and "out" not in op.inputs:
        parameters.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    outputs = op.outputs[0] if len(op.outputs) == 1 else list(op.outputs) or None
    return inspect.Signature(parameters, return_annotation=outputs)
