"""Graphs as program files: written, moved, read, and run by the command."""

import hashlib
import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from ferrule import DType, Graph, Tensor, TensorType, custom

f32 = DType.float32
THRICE = """#include <ferrule/kernel.h>
MAP(thrice, f32, IN(f32, x)) { return 3 * x; }
"""


def command(*words):
    """What the command prints."""
    words = [sys.executable, "-m", "ferrule", *map(str, words)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def without_tokens(text):
    """They depend on where this process and the command have the standard package."""
    return re.sub(r" {token: [^}]*}", "", text)


def constants(*arrays):
    with Graph("g") as graph:
        graph.output(*map(graph.constant, arrays))
    return graph


def move(folder, *names):
    (folder / "moved").mkdir()
    for name in names:
        (folder / name).rename(folder / "moved" / name)
    return folder / "moved" / names[0]


def digest_of(type_text, array):
    """As docs/programs.md says."""
    fields = [type_text.encode(), array.tobytes()]
    text = b"".join(b"%d:%s" % (len(field), field) for field in fields)
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def test_a_graph_is_the_same_where_it_was_moved_to(tmp_path):
    thrice = custom.declare("thrice(x: f32[*s]) -> f32[*s]", source=THRICE)
    weights = np.random.default_rng(1).random((64, 32), np.float32)
    with Graph("g", {"x": TensorType(f32, ["n", 64])}) as graph:
        graph.output(thrice(graph.inputs[0] @ graph.constant(weights)) + 0.5)
    assert graph.write(tmp_path / "model.fer") is None
    path = move(tmp_path, "model.fer", "model.data")
    text = path.read_text()
    assert len(text) < 4096 and text.count(' from "model.data/') == 1
    again = Graph.read(path)
    assert str(again) == str(graph) and again.input_names == ("x",) and again.name == "g"
    x = np.random.default_rng(2).random((3, 64), np.float32)
    expected = graph.compile()(x)
    np.testing.assert_allclose(expected.numpy(), 3 * (x @ weights) + 0.5, rtol=1e-5)
    assert again.compile()(x).tolist() == expected.tolist()
    np.save(tmp_path / "x.npy", x)
    command("run", path, f"x={tmp_path / 'x.npy'}", "-o", tmp_path / "y.npy")
    assert (np.load(tmp_path / "y.npy") == expected.numpy()).all()


def test_a_file_is_numpys_and_its_name_is_its_digest(tmp_path):
    array = np.arange(3000, dtype="i8").reshape(2, 1500)
    constants(array).write(tmp_path / "g.fer")
    (path,) = (tmp_path / "g.data").iterdir()
    digest = digest_of("i64[2, 1500]", array)
    assert path.name == f"{digest}.npy"
    assert f'from "g.data/{digest}.npy" {{digest: "{digest}"}}' in (tmp_path / "g.fer").read_text()
    loaded = np.load(path)
    assert loaded.dtype == array.dtype and (loaded == array).all()


@pytest.mark.parametrize(
    ("dtype", "stored"),
    [
        (ml_dtypes.bfloat16, "u2"),
        (ml_dtypes.float8_e4m3fn, "u1"),
        (ml_dtypes.float8_e5m2, "u1"),
        ("f2", "f2"),
    ],
)
def test_every_bit_pattern_comes_back(tmp_path, dtype, stored):
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = np.arange(1 << 16, dtype="u2").astype(unsigned)
    constants(bits.view(dtype)).write(tmp_path / "g.fer")
    (path,) = (tmp_path / "g.data").iterdir()
    assert np.load(path).dtype == np.dtype(stored)
    result = Graph.read(tmp_path / "g.fer").compile()()
    assert result.dtype.to_numpy() == np.dtype(dtype)
    assert (result.numpy().view(unsigned) == bits).all()


def test_a_program_by_hand_has_constants_from_files(tmp_path):
    weights = np.random.default_rng(3).random((4, 3), np.float32)
    scale = np.array([0.5, 2, -1], ml_dtypes.bfloat16)
    np.save(tmp_path / "weights.npy", np.asfortranarray(weights))
    np.save(tmp_path / "scale.npy", scale.view("u2"))
    digest = digest_of("f32[4, 3]", weights)
    program = tmp_path / "p.fer"
    text = f"""use "std"
graph p(x: f32[n, 4]) -> (f32[n, 3], bf16[3]) {{
  w = constant f32[4, 3] from "weights.npy" {{digest: "{digest}"}}
  s = constant bf16[3] from "scale.npy"
  y = matmul(x, w)
  return y, s
}}
"""
    program.write_text(text)
    x = np.random.default_rng(4).random((2, 4), np.float32)
    y, s = Graph.read(program).compile()(x)
    np.testing.assert_allclose(y.numpy(), x @ weights, rtol=1e-5)
    assert s.tolist() == [0.5, 2, -1]

    np.save(tmp_path / "weights.npy", weights + 1)
    with pytest.raises(ValueError, match=r"p\.fer:3:\d+: .*holds another constant") as raised:
        Graph.read(program)
    assert raised.value.expected == digest
    assert raised.value.actual == digest_of("f32[4, 3]", weights + 1)
    np.save(tmp_path / "weights.npy", weights.T)
    with pytest.raises(ValueError, match=r"p\.fer:3:31: .*holds f32\[3, 4\], but .* f32\[4, 3\]"):
        Graph.read(program)
    (tmp_path / "weights.npy").unlink()
    with pytest.raises(OSError, match=r"p\.fer:3:31: graph 'p': .*weights\.npy: cannot open"):
        Graph.read(program)


def test_the_text_is_a_program_file_as_it_stands(tmp_path):
    with Graph("g", {"x": TensorType(f32, ["n"])}) as graph:
        graph.output(graph.inputs[0] * 2.0, graph.constant(np.arange(2000.0)))
    text = str(graph)
    assert text.startswith('use "std"\n') and text.endswith("}\n") and not text.endswith("\n\n")
    assert " from " not in text and repr(graph) == text
    program = tmp_path / "g.fer"
    program.write_text(text)
    assert command("fmt", "--check", program) == ""
    assert str(Graph.read(program)) == text
    graph.write(program)
    assert command("fmt", "--check", program) == ""
    assert without_tokens(command("show", program)) == without_tokens(program.read_text())


def test_a_program_with_several_graphs(tmp_path):
    program = tmp_path / "p.fer"
    program.write_text("graph a(x: f32[n]) { return x } graph b(x: f32[n], y: f32[n]) { return y }")
    assert Graph.read(program, "a").input_names == ("x",)
    assert Graph.read(program, name="b").input_names == ("x", "y")
    with pytest.raises(ValueError, match=r"p\.fer has 2 graphs and none is called 'main'"):
        Graph.read(program)
    with pytest.raises(ValueError, match=r"p\.fer has no graph 'c'"):
        Graph.read(program, "c")
    program.write_text("graph main() { return } graph a(x: f32[n]) { return x }")
    main = Graph.read(str(program))
    assert main.name == "main"
    beside = Graph("beside", module=main)
    assert beside.call(main) is None
    beside.output()
    assert "call main()" in str(beside)


def test_what_is_no_program_file(tmp_path):
    graph = constants(np.zeros(2000))
    with pytest.raises(OSError, match="none"):
        graph.write(tmp_path / "none" / "g.fer")
    with pytest.raises(OSError, match=r"none\.fer: cannot open"):
        Graph.read(tmp_path / "none.fer")
    for call in (graph.write, Graph.read):
        with pytest.raises(TypeError):
            call(3)
        with pytest.raises(ValueError, match="null"):
            call("a\0b")
    with pytest.raises(TypeError, match="graph's name"):
        Graph.read(tmp_path / "none.fer", 3)
    unfinished = Graph("h", module=graph)
    with pytest.raises(ValueError, match="graph 'h' has no outputs yet"):
        unfinished.write(tmp_path / "g.fer")
    assert list(tmp_path.iterdir()) == []


def test_a_tensor_of_a_constant_outlives_all_else(tmp_path):
    constants(np.arange(5000, dtype="f4")).write(tmp_path / "g.fer")
    result = Graph.read(tmp_path / "g.fer").compile()()
    for path in (tmp_path / "g.data").iterdir():
        path.unlink()
    assert isinstance(result, Tensor) and result.tolist() == list(range(5000))
