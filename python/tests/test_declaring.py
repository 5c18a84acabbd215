"""The rules of declaring, from Python; the library's own tests have them all."""

import subprocess

import pytest

from ferrule import CompileError, DType, Tensor, custom

f32 = DType.float32
n, w = custom.Symbols("n", "w")
g = custom.Param("g")
SAME = """#include <ferrule/kernel.h>
KERNEL(f, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(x, i);
    return OK;
}
"""


def template(*shape, dtype=f32):
    return custom.TemplateType(dtype, shape)


def f(inputs=None, outputs=None, **options):
    return custom.declare(
        "f", inputs or {"x": template(n)}, outputs or [template(n)], source=SAME, **options
    )


def refuse(kind, *words, **options):
    with pytest.raises(kind) as caught:
        f(**options)
    for word in words:
        assert word in str(caught.value)
    return caught.value


def test_operands_and_results_are_needed():
    with pytest.raises(ValueError, match="operand"):
        custom.declare("f", {}, [template(n)], source=SAME)
    with pytest.raises(ValueError, match="result"):
        custom.declare("f", {"x": template(n)}, source=SAME)


def test_syntax_names_the_column():
    with pytest.raises(ValueError, match="column 5: expected ':'"):
        custom.declare("f(x f32[n]) -> f32[n]", source=SAME)
    with pytest.raises(TypeError, match="'f31'"):
        custom.declare("f(x: f31[n]) -> f32[n]", source=SAME)


def test_a_name_has_one_role():
    refuse(ValueError, "'n'", parameters={"n": 4})


def test_parameters_fold_first():
    op = f(inputs={"x": template(g // 2)}, outputs=[template(g)], parameters={"g": 4})
    assert op.inputs["x"].shape == (2,)
    assert op.outputs[0].shape == (4,)


def test_a_bool_folds_into_no_dim():
    refuse(TypeError, "'g'", "bool", inputs={"x": template(g)}, parameters={"g": True})
    refuse(TypeError, "'g'", "str", outputs=[template(g)], parameters={"g": "4"})
    refuse(TypeError, "'g'", "float", outputs=[template(n * g)], parameters={"g": 4.0})


def test_an_input_dim_must_be_bindable():
    refuse(TypeError, "'x'", inputs={"x": template(n // 2)})
    refuse(TypeError, "'x'", inputs={"x": template(2 * g)})


def test_a_callers_dim_is_reserved():
    refuse(TypeError, "'x'", inputs={"x": template("n")})


def test_a_result_dtype_must_be_bound():
    refuse(TypeError, "'T'", outputs=[template(n, dtype=custom.DTypeVar("T"))])


def test_undeclared_parameters_enter_without_a_value():
    op = f(outputs=[template(n // g)])
    assert dict(op.parameters) == {"g": None} and not op.is_complete
    assert op[{"g": 2}](Tensor.ones(4)).shape == (2,)
    with pytest.raises(ZeroDivisionError, match="g"):
        op[{"g": 0}]


def test_kinds_without_a_value():
    op = f(parameters={"a": None, "b": float, "c": bool, "d": str, "e": DType, "f": int})
    assert repr(op) == (
        "f<a: int, b: float, c: bool, d: str, e: dtype, f: int>(x: f32[n]) -> f32[n]"
    )
    assert not op.is_complete


def test_true_is_not_one():
    ops = [f(parameters={"p": value}) for value in (True, 1, 1.0, "1", f32, "f32")]
    assert len({op.token for op in ops}) == len(set(ops)) == len(ops)


def test_a_large_parameter():
    assert f(parameters={"p": -(2**63)}).parameters["p"] == -(2**63)
    refuse(OverflowError, parameters={"p": 2**63})
    refuse(TypeError, "'p'", "list", parameters={"p": [1]})


def test_data_dependent_results_need_a_shape_function():
    refuse(ValueError, "SHAPE", outputs=[template(w)])


def test_conditions():
    op = f(where="n % 2 == 0")
    with pytest.raises(ValueError, match="condition 'n % 2 == 0' is false with n = 3"):
        op(Tensor.ones(3))
    refuse(ValueError, "'n = 2'", where=["n = 2"])
    refuse(TypeError, "text", where=[n % 2 == 0])


def test_two_constraints_of_one_variable():
    a, b = custom.DTypeVar("T"), custom.DTypeVar("T", "any_float")
    refuse(ValueError, "'T'", "two constraints", inputs={"x": template(n, dtype=a), "z": template(n, dtype=b)})


def test_a_kernel_that_is_not_there(kernels):
    with pytest.raises(ValueError, match="did you mean|downsample"):
        custom.declare("downsampel(x: f32[n]) -> f32[n]", custom_extensions=kernels)
    with pytest.raises(OSError, match="nowhere"):
        custom.declare("f(x: f32[n]) -> f32[n]", custom_extensions="nowhere")
    with pytest.raises(ValueError):
        custom.declare("f(x: f32[n]) -> f32[n]")


def test_the_kernels_line_disagrees():
    refuse(TypeError, "'x'", inputs={"x": template(n, w)})
    refuse(TypeError, "'x'", inputs={"x": template(n, dtype=DType.int32)})


def test_compile_errors_show_at_the_declaration():
    with pytest.raises(CompileError, match="undeclared_thing") as caught:
        custom.declare("f(x: f32[n]) -> f32[n]", source=SAME.replace("AT(x, i)", "undeclared_thing"))
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.op == "f"


def test_an_edit_never_reaches_a_declared_op(tmp_path):
    file = tmp_path / "f.c"
    file.write_text(SAME)
    text = "f(x: f32[n]) -> f32[n]"
    before = custom.declare(text, custom_extensions=tmp_path)
    file.write_text(SAME.replace("= AT(x, i)", "= 2 * AT(x, i)"))
    after = custom.declare(text, custom_extensions=tmp_path)
    assert before(Tensor([1.0])).tolist() == [1.0]
    assert after(Tensor([1.0])).tolist() == [2.0]
    assert before == after and before.binaries != after.binaries


def test_what_declare_is_given():
    with pytest.raises(TypeError, match="mapping"):
        f(inputs=[template(n)])
    with pytest.raises(TypeError, match="'x'"):
        f(inputs={"x": f32})
    with pytest.raises(TypeError, match="str"):
        f(inputs={3: template(n)})
    with pytest.raises(ValueError, match="inout names 'z'"):
        f(inout=["z"])
    with pytest.raises(TypeError, match="text"):
        custom.declare("f(x: f32[n]) -> f32[n]", effect=True, source=SAME)
    with pytest.raises(TypeError):
        custom.declare(3)
    with pytest.raises(ValueError, match="character 0"):
        custom.declare("f(x: f32[n]) -> f32[n]", source="a\0b")
    with pytest.raises(ValueError, match="at most 8 packages"):
        custom.declare("f(x: f32[n]) -> f32[n]", custom_extensions=["a"] * 9)
    many = {f"x{i}": template(n) for i in range(40)}
    with pytest.raises(ValueError, match="16"):
        f(inputs=many)
    with pytest.raises(ValueError, match="axes|rank"):
        f(inputs={"x": template(*[n] * 20)})


def test_specialising_finds_the_same_op():
    op = f(outputs=[template(n // g)], parameters={"g": 2})
    assert op[{"g": 3}][{"g": 2}] == op
    assert op[{}] == op


def test_the_package_that_calls_openblas(monkeypatch):
    if subprocess.run(["pkg-config", "--exists", "openblas"]).returncode != 0:
        pytest.skip("OpenBLAS is not installed (on Debian libopenblas-serial-dev)")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    matmul = custom.declare("matmul", custom_extensions="blas")
    assert matmul.extensions[0].name == "blas"
    y = matmul(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[5.0], [6.0]]))
    assert y.tolist() == [[17.0], [39.0]]
