"""What inspect.signature() says of an op."""

import inspect
import keyword

from ferrule._core import CustomOp


def argument_names(op: CustomOp) -> list[str]:
    """The operands' names. An argument cannot be called like a keyword of Python; the operand still
    is."""
    names = list(op.inputs)
    for i in range(len(names)):
        while keyword.iskeyword(names[i]) or names.count(names[i]) > 1:
            names[i] += "_"
    return names


def of(op: CustomOp) -> inspect.Signature:
    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=template)
        for name, template in zip(argument_names(op), op.inputs.values())
    ]
    if op.outputs and "out" not in op.inputs:
        parameters.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    outputs = op.outputs[0] if len(op.outputs) == 1 else list(op.outputs) or None
    return inspect.Signature(parameters, return_annotation=outputs)
