"""What notebooks and terminals show: graphs as pictures, and slow compiles."""

import os
import pty
import subprocess
import sys

import pytest

from ferrule import Graph, TensorType

SOURCE = """#include <ferrule/kernel.h>
MAP(slow, f32, IN(f32, x)) { return x; }
"""
DECLARE = "from ferrule import custom; custom.declare('slow(x: f32[n]) -> f32[n]', source=sys.argv[1])"


def graph(is_finished=True):
    graph = Graph("g", {"x": TensorType("f32", ["n"])})
    y = 2 * graph.inputs[0]
    if is_finished:
        graph.output(y)
    return graph


def install_dot(folder, script, monkeypatch):
    dot = folder / "dot"
    dot.write_text(f"#!/bin/sh\n{script}\n")
    dot.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_the_drawing():
    dot = graph().to_dot()
    assert dot.startswith("digraph {") and dot.endswith("}")
    assert 'label="mul\\nf32[n]"' in dot and 'label="x: f32[n]"' in dot and 'label="output"' in dot
    assert 'label="mul\\nf32[n]"' in graph(is_finished=False).to_dot()


def test_a_notebook_shows_what_graphviz_draws(tmp_path, monkeypatch):
    install_dot(tmp_path, 'test "$*" = -Tsvg && echo "<svg>" && cat', monkeypatch)
    assert graph()._repr_svg_() == f"<svg>\n{graph().to_dot()}"


def test_without_graphviz_a_notebook_shows_the_text(tmp_path, monkeypatch):
    install_dot(tmp_path, "exit 1", monkeypatch)
    assert graph()._repr_svg_() is None
    monkeypatch.setenv("PATH", "")
    assert graph()._repr_svg_() is None


def test_every_graph_can_be_shown():
    assert repr(graph()) == str(graph()) and "return" in str(graph())
    unfinished = graph(is_finished=False)
    assert repr(unfinished) == "<Graph 'g': 1 input, 1 op>"
    with pytest.raises(ValueError, match="no outputs"):
        str(unfinished)


@pytest.fixture
def slow(tmp_path):
    """An environment whose compiler runs until the file `go` is there, for three seconds at most."""
    compiler = tmp_path / "cc"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in *-shared*)\n'
        '    for i in $(seq 30); do test -e "${0%cc}go" && break; sleep 0.1; done;;\n'
        'esac\nexec cc "$@"\n'
    )
    compiler.chmod(0o755)
    return {**os.environ, "FERRULE_CC": str(compiler), "FERRULE_CACHE_DIR": str(tmp_path / "cache")}


def read_until(file, words):
    """What comes up to the words, or to the end."""
    shown = b""
    while words not in shown:
        try:
            part = os.read(file, 4096)
        except OSError:  # what a terminal without another end gives
            break
        if not part:
            break
        shown += part
    return shown.decode()


def start(code, environment, stderr):
    return subprocess.Popen([sys.executable, "-c", f"import sys\n{code}", SOURCE], env=environment, stderr=stderr)


def watch(code, environment, folder):
    """What a process writes to a pipe as its stderr: up to when it compiles, and then."""
    ours, theirs = os.pipe()
    process = start(code, environment, theirs)
    os.close(theirs)
    first = read_until(ours, b" s")
    (folder / "go").touch()
    rest = read_until(ours, b"\0")
    os.close(ours)
    assert process.wait() == 0
    return first, rest


def test_a_terminal_shows_a_slow_compile(slow, tmp_path):
    try:
        ours, theirs = pty.openpty()
    except OSError as reason:  # a container without /dev/pts
        pytest.skip(f"no terminal can be made: {reason}")
    process = start(DECLARE, slow, theirs)
    os.close(theirs)
    assert read_until(ours, b" s").startswith("\rcompiling slow ... 0 s")
    (tmp_path / "go").touch()
    rest = read_until(ours, b"\0")
    os.close(ours)
    assert process.wait() == 0
    assert rest.endswith("\r" + " " * len("compiling slow ... 0 s") + "\r")


def test_a_notebook_shows_a_slow_compile(slow, tmp_path):
    first, rest = watch(f"sys.modules['ipykernel'] = sys\n{DECLARE}", slow, tmp_path)
    assert first.startswith("\rcompiling slow ... 0 s") and rest.endswith(" \r")


@pytest.mark.parametrize("stderr", ["sys.stderr", "type('', (), {'flush': lambda self: None})()"])
def test_elsewhere_nothing_is_written(slow, tmp_path, stderr):
    assert watch(f"sys.stderr = {stderr}\n{DECLARE}", slow, tmp_path) == ("", "")
