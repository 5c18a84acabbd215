"""What notebooks and terminals show: graphs as pictures, and slow compiles."""

import os
import pty
import subprocess
import sys
import termios

import pytest

from ferrule import Graph, TensorType, _progress

SOURCE = """#include <ferrule/kernel.h>
DTYPE_VAR(T, f32);
MAP(slow, T, IN(T, x)) { return x; }
"""
DECLARE = "from ferrule import *; slow = custom.declare('slow<T: f32|f64|i32>(x: T[n]) -> T[n]', source=sys.argv[1])\n"
COMPILE = """
with Graph("g", [TensorType(dtype, ["n"]) for dtype in ("f32", "f64", "f64", "i32")]) as graph:
    graph.output(*map(slow, map(slow, graph.inputs)))
graph.compile()
"""
WITHOUT_TQDM = "sys.modules['tqdm'] = None\n"


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


def watch(code, environment, folder, until="?kernel/s]", ends=None):
    """What a process writes as its stderr, a pipe unless the two ends of a terminal are given: up to when it
    compiles, and then."""
    ours, theirs = ends or os.pipe()
    process = start(code, environment, theirs)
    os.close(theirs)
    first = read_until(ours, until.encode())
    (folder / "go").touch()
    rest = read_until(ours, b"\0")
    os.close(ours)
    assert process.wait() == 0
    return first, rest


@pytest.fixture
def terminal():
    try:
        ours, theirs = pty.openpty()
    except OSError as reason:  # a container without /dev/pts
        pytest.skip(f"no terminal can be made: {reason}")
    termios.tcsetwinsize(theirs, (24, 80))
    return ours, theirs


def frames(shown):
    return [frame for frame in shown.replace("\n", "\r").split("\r") if frame]


def is_bar(frame, start, end=""):
    """Whether it is one from there to there, however wide."""
    return frame.startswith(start) and frame.endswith(end) and frame.count("|") == 2


@pytest.fixture(params=["plain", "tqdm"])
def before(request):
    """What a process does first to have the one or the other."""
    if request.param == "tqdm":
        pytest.importorskip("tqdm")
        return ""
    return WITHOUT_TQDM


def test_a_terminal_shows_a_slow_compile(slow, tmp_path, before, terminal):
    first, rest = watch(before + DECLARE, slow, tmp_path, ends=terminal)
    assert is_bar(frames(first)[0], "compiling slow<T = f32>:   0%|", "| 0/1 [00:00<?, ?kernel/s]")
    *_, last, blank = frames(rest)
    assert is_bar(last, "compiling slow<T = f32>: 100%|██") and "█| 1/1 [00:0" in last
    assert blank.isspace() and len(blank) >= len(last) and rest.endswith("\r")


def test_several_kernels_are_counted(slow, tmp_path, before, terminal):
    """The first is there from the declaration, and one of the others is asked for twice."""
    (tmp_path / "go").touch()
    code = before + DECLARE + "import os; os.unlink(os.environ['FERRULE_CC'][:-2] + 'go')" + COMPILE
    first, rest = watch(code, slow, tmp_path, "| 1/2 [", terminal)
    assert any(is_bar(frame, "compiling slow<T = f64>:   0%|") and "| 0/2 [" in frame for frame in frames(first))
    shown = frames(first + rest)
    assert any(is_bar(frame, "compiling slow<T = i32>:  50%|") and "| 1/2 [" in frame for frame in shown)
    assert any("100%|" in frame and "| 2/2 [" in frame for frame in shown)


def test_what_is_left(slow, tmp_path, before, terminal):
    _, rest = watch(before + DECLARE, {**slow, "TQDM_LEAVE": "1"}, tmp_path, ends=terminal)
    assert frames(rest)[-1].startswith("compiling slow<T = f32>: 100%|██") and rest.endswith("\r\n")


def test_a_notebook_shows_a_slow_compile(slow, tmp_path, before):
    first, rest = watch(f"sys.modules['ipykernel'] = sys\n{before}{DECLARE}", slow, tmp_path)
    assert is_bar(frames(first)[0], "compiling slow<T = f32>:   0%|") and rest.endswith(" \r")


def test_a_terminal_without_such_letters(slow, tmp_path, terminal):
    code = "sys.stderr.reconfigure(encoding='ascii')\n" + WITHOUT_TQDM + DECLARE
    _, rest = watch(code, slow, tmp_path, ends=terminal)
    assert "|##########| 1/1 [" in rest and "█" not in rest


def test_a_terminal_that_goes_away(slow, tmp_path, terminal):
    ours, theirs = terminal
    process = start(f"{WITHOUT_TQDM}{DECLARE}print('declared', flush=True)", slow, theirs)
    os.close(theirs)
    read_until(ours, b"?kernel/s]")
    os.close(ours)
    (tmp_path / "go").touch()
    # 120 where Python, at its end, cannot flush a line that was half way there.
    assert process.wait() in (0, 120)


@pytest.mark.parametrize("stderr", ["sys.stderr", "None", "type('', (), {'flush': lambda self: None})()"])
def test_elsewhere_nothing_is_written(slow, tmp_path, stderr):
    assert watch(f"sys.stderr = {stderr}\n{DECLARE}", slow, tmp_path) == ("", "")


def test_nothing_is_written_where_tqdm_is_not_wanted(slow, tmp_path, terminal, before):
    assert watch(before + DECLARE, {**slow, "TQDM_DISABLE": "1"}, tmp_path, ends=terminal) == ("", "")


def test_the_plain_line_is_tqdms():
    std = pytest.importorskip("tqdm.std")
    for total in (1, 2, 5, 7, 64, 1000):
        for done in sorted({0, 1, total // 3, total // 2, total - 1, total}):
            for seconds in (0.5, 0.9, 1.0, 3.2, 59.9, 61.0, 3599.0, 3661.0):
                expected = std.tqdm.format_meter(done, total, seconds, unit="kernel", prefix="compiling f")
                assert _progress.line("compiling f", done, total, seconds) == expected
                expected = std.tqdm.format_meter(done, total, seconds, ascii=True, unit="kernel", prefix="f")
                assert _progress.line("f", done, total, seconds, _progress.ASCII) == expected
