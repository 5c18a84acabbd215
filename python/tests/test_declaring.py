"""The rules of declaring, from Python; the library's own tests have them all."""

import subprocess

import pytest

import ferrule
from ferrule import CompileError, DType, Graph, KernelError, Tensor, TensorType, custom

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


def f(inputs=None, outputs=None, source=SAME, **options):
    return custom.declare("f", inputs or {"x": template(n)}, outputs or [template(n)], source=source, **options)


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


def test_an_effect_is_enough():
    source = '#include <ferrule/kernel.h>\nKERNEL(f, IN(f32, 0, x)) { CHECK(AT(x) > 0, "nothing"); return OK; }\n'
    op = custom.declare("f", {"x": template()}, effect=True, source=source)
    assert op.effect and op(Tensor(1.0)) is None


def test_names_are_unique():
    with pytest.raises(ValueError, match="'x'"):
        custom.declare("f(x: f32[n], x: f32[n]) -> f32[n]", source=SAME)
    with pytest.raises(ValueError, match="'y'"):
        custom.declare("f(x: f32[n]) -> (y: f32[n], y: f32[n])", source=SAME)


def test_operands_are_in_the_order_of_the_declaration():
    source = SAME.replace("IN(f32, 1, x)", "IN(f32, 1, x), IN(f32, 0, a)")
    op = custom.declare("f", {"x": template(n), "a": template()}, [template(n)], source=source)
    assert list(op.inputs) == ["x", "a"] and op(Tensor([1.0]), Tensor(2.0)).tolist() == [1.0]


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
    refuse(TypeError, "'g'", "dtype", outputs=[template(n * g)], parameters={"g": f32})


def test_an_input_dim_must_be_bindable():
    refuse(TypeError, "'x'", inputs={"x": template(n // 2)})
    refuse(TypeError, "'x'", inputs={"x": template(2 * g)})
    refuse(TypeError, "'x'", "'g'", inputs={"x": template(g)})


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


def test_a_data_dependent_dim_stands_bare_and_once():
    shaped = SAME + "SHAPE(f, IN(f32, 1, x)) { EXTENT(w) = DIM(x, 0); return OK; }\n"
    for outputs in ("f32[w + 1]", "(f32[w], f32[w])"):
        with pytest.raises(ValueError, match="w"):
            custom.declare(f"f(x: f32[n]) -> {outputs}", source=shaped)
    assert custom.declare("f(x: f32[n]) -> f32[w]", source=shaped)(Tensor([1.0])).tolist() == [1.0]
    for extent in ("-1", "INT64_MAX"):
        wrong = shaped.replace("EXTENT(w) = DIM(x, 0)", f"EXTENT(w) = {extent}")
        wrong = custom.declare("f(x: f32[n]) -> f32[w]", source=wrong)
        with pytest.raises(KernelError, match="w"):
            wrong(Tensor([1.0]))


def test_runs():
    s, r = custom.Run("s"), custom.Run("r")
    refuse(ValueError, "'x'", inputs={"x": template(s, r)})
    refuse(TypeError, "ANY", "'x'", inputs={"x": template(s)})
    source = "#include <ferrule/kernel.h>\nMAP(f, f32, IN(f32, a), IN(f32, b)) { return a + b; }\n"
    op = custom.declare("f", {"a": template(s), "b": template(s)}, [template(s)], source=source)
    assert op(Tensor(1.0), Tensor(2.0)).item() == 3.0  # it may be empty
    with pytest.raises(ValueError, match="operand 'b'.*operand 'a'"):
        op(Tensor.ones((2, 3)), Tensor.ones((2, 4)))
    with pytest.raises(ValueError, match="operand 'b'.*operand 'a'"):
        op(Tensor.ones((2, 3)), Tensor.ones(2))


def test_conditions():
    op = f(where="n % 2 == 0")
    with pytest.raises(ValueError, match="condition 'n % 2 == 0' is false with n = 3"):
        op(Tensor.ones(3))
    refuse(ValueError, "'n = 2'", where=["n = 2"])
    refuse(TypeError, "text", where=[n % 2 == 0])


def test_what_staging_cannot_decide_is_checked_when_it_runs():
    op = f(where="n % 2 == 0", outputs=[template(n - 4)])
    with Graph("g", [TensorType(f32, ["rows"])]) as graph:
        graph.output(op(graph.inputs[0]))
    model = graph.compile()
    assert model(Tensor.ones(6)).shape == op(Tensor.ones(6)).shape == (2,)
    for rows in (2, 3):
        said = []
        for call in (op, model):
            with pytest.raises(ValueError) as caught:
                call(Tensor.ones(rows))
            said.append(str(caught.value))
        assert said[0].partition(": ")[2] in said[1]


def test_a_value_has_its_parameters_kind():
    op = f(parameters={"by": 1.0, "times": 2, "fast": True, "how": "x", "to": f32})
    for name, values in {
        "by": (True, "1", f32, 2**53 + 1),
        "times": (True, 1.0, "1"),
        "fast": (1, "true"),
        "how": (1, f32),
        "to": ("i8", 1),
    }.items():
        for value in values:
            with pytest.raises(TypeError, match=f"'{name}'"):
                op[{name: value}]
    assert op[{"by": 2**53}].parameters["by"] == 2.0**53


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


def test_a_generic_op_compiles_one_of_its_kinds():
    source = SAME.replace("KERNEL", "DTYPE_VAR(T, f32);\nKERNEL").replace("f32, 1", "T, 1")
    assert custom.declare("f<T>(x: T[n]) -> T[n]", source=source)(Tensor([1])).tolist() == [1]
    with pytest.raises(CompileError, match="undeclared_thing"):
        custom.declare("f<T>(x: T[n]) -> T[n]", source=source.replace("AT(x, i)", "undeclared_thing"))


def test_an_incomplete_op_is_checked_but_not_compiled():
    source = SAME.replace("KERNEL", "PARAM(int, g, 1);\nKERNEL").replace("AT(x, i)", "undeclared_thing")
    op = custom.declare("f<g: int>(x: f32[n]) -> f32[n // g]", source=source)
    with pytest.raises(CompileError, match="undeclared_thing"):
        op[{"g": 2}]
    with pytest.raises(TypeError, match="'x'"):
        custom.declare("f<g: int>(x: f32[n, m]) -> f32[n // g]", source=source)


def test_an_incomplete_op_says_how_to_complete_it():
    op = f(outputs=[template(n // g)])
    graph = Graph("g", [TensorType(f32, ["n"])])
    for operand in (Tensor.ones(4), graph.inputs[0]):
        with pytest.raises(ValueError, match=r"f: parameter 'g' has no value; give it at declaration, .*f\[\{'g': "):
            op(operand)


def test_later_kinds_come_from_the_snapshot(tmp_path):
    (tmp_path / "f.c").write_text(SAME.replace("KERNEL", "DTYPE_VAR(T, f32);\nKERNEL").replace("f32, 1", "T, 1"))
    op = custom.declare("f<T>(x: T[n]) -> T[n]", custom_extensions=tmp_path)
    (tmp_path / "f.c").unlink()
    assert op(Tensor([1, 2], "u8")).tolist() == [1, 2]


def test_a_package(tmp_path):
    (tmp_path / "f.c").write_text(SAME.replace("= AT(x, i)", "= helper(AT(x, i))").replace("KERNEL", "f32 helper(f32);\nKERNEL"))
    (tmp_path / "helper.c").write_text("float helper(float);\nfloat helper(float x) { return 3 * x; }\n")
    text = "f(x: f32[n]) -> f32[n]"
    assert custom.declare(text, custom_extensions=tmp_path)(Tensor([1.0])).tolist() == [3.0]
    (tmp_path / "again.c").write_text(SAME)
    with pytest.raises(ValueError, match="again.c.*f.c|f.c.*again.c"):
        custom.declare(text, custom_extensions=tmp_path)


def test_the_declaration_rules_over_the_files_defaults():
    source = SAME.replace("KERNEL", "PARAM(float, by, 5);\nKERNEL").replace("= AT(x, i)", "= by * AT(x, i)")
    assert f(parameters={"by": 2.0}, source=source)(Tensor([1.0])).tolist() == [2.0]


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
    three = op[{"g": 3}]
    before = ferrule.counters()["compiles"]
    again = three[{"g": 2}]
    assert again == op and again.token == op.token and hash(again) == hash(op)
    assert op[{}] == op
    assert ferrule.counters()["compiles"] == before


@pytest.mark.parametrize(
    "other",
    [
        "f(z: f32[n], y: f32[n]) -> f32[n]",
        "f(y: f32[n], x: f32[n]) -> f32[n]",
        "f(x: f32[n], y: f32[m]) -> f32[n]",
        "f(x: f32[n], y: f32[n]) -> f32[n] effect",
        "f(x: f32[n], y: f32[n]) -> f32[n] where n > 0",
        "f(x: f32[n], y: f32[n]) -> (z: f32[n])",
        "f(x: f32[n], y: f32[n]) -> f32[2 * n]",
        "f<p: int = 1>(x: f32[n], y: f32[n]) -> f32[n]",
        "f<p: bool = true>(x: f32[n], y: f32[n]) -> f32[n]",
        "f(x: f32[k], y: f32[k]) -> f32[k]",
    ],
)
def test_all_of_a_declaration_makes_the_op(other):
    source = SAME.replace("OUT(f32, 1, y), IN(f32, 1, x)", "OUT(f32, 1, c), IN(f32, 1, a), IN(f32, 1, b)")
    source = source.replace("y", "c").replace("AT(x, i)", "AT(a, i)")
    op = custom.declare("f(x: f32[n], y: f32[n]) -> f32[n]", source=source)
    another = custom.declare(other, source=source)
    assert another != op and another.token != op.token


def test_what_was_declared_is_no_part_of_equality():
    pinned = custom.declare("f<g: int = 4>(x: f32[g]) -> f32[g]", source=SAME)
    plain = custom.declare("f<g: int = 4>(x: f32[4]) -> f32[4]", source=SAME)
    assert pinned == plain and pinned.token == plain.token and hash(pinned) == hash(plain)
    assert (dict(pinned.pinned_params), dict(plain.pinned_params)) == ({("x", 0): "g"}, {})


def test_the_package_that_calls_openblas(monkeypatch):
    found = subprocess.run(["pkg-config", "--variable=libdir", "openblas"], capture_output=True, text=True)
    if "pthread" not in found.stdout:
        pytest.skip("OpenBLAS with POSIX threads is not installed (on Debian libopenblas-pthread-dev)")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    matmul = custom.declare("matmul", custom_extensions="blas")
    assert matmul.extensions[0].name == "blas"
    y = matmul(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[5.0], [6.0]]))
    assert y.tolist() == [[17.0], [39.0]]
