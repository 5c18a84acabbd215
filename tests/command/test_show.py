"""`ferrule show`: a program as text, in Graphviz's language, and as a picture."""
import os
import re
import shutil
import xml.dom.minidom

from support import SOURCE, CommandTest, main, run, write_npy

KERNELS = """#include <ferrule/kernel.h>
SIGNATURE(scale, "<by: int = 3>(x: f32[*s]) -> f32[*s]");
PARAM(int, by, 3);
MAP(scale, f32, IN(f32, x)) { return x * (f32)by; }

SIGNATURE(sort2, "(a: f32[], b: f32[]) -> (low: f32[], high: f32[])");
KERNEL(sort2, OUT(f32, 0, low), OUT(f32, 0, high), IN(f32, 0, a), IN(f32, 0, b))
{
    AT(low) = AT(a) < AT(b) ? AT(a) : AT(b);
    AT(high) = AT(a) < AT(b) ? AT(b) : AT(a);
    return OK;
}

SIGNATURE(count, "(inout total: f32[], x: f32[]) -> () effect");
KERNEL(count, INOUT(f32, 0, total), IN(f32, 0, x))
{
    AT(total) += AT(x);
    return OK;
}
"""
PROGRAM = r"""use "own"

graph sorted(a: f32[], b: f32[], inout total: f32[]) -> (f32[], f32[]) {
  low, high = sort2(a, b)
  twice = scale<by = 2>(low)
  count(total, twice)
  count(total, 1.5)
  return twice, high
}

graph "a \"b\"\\c"("x\ny": f32[n]) {
  many = constant f32[9] [1, 2, 3, 4, 5, 6, 7, 8, 9]
  few = constant f32[2] [1, 2]
  same = rebind "x\ny" [m]
  return same, many, few
}
"""
NODE = re.compile(r'^    (\w+) \[(?:shape=\w+, |style=\w+, )?label="(.*)"\]$', re.MULTILINE)
EDGE = re.compile(r'^    (\w+) -> (\w+) \[(.*)\]$', re.MULTILINE)


class Show(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("own/kernels.c", KERNELS)
        self.program = self.write("p.fer", PROGRAM)

    def test_the_text_is_a_program_again(self):
        text = self.succeeds("show", self.program)
        self.assertRegex(text, r'twice = \w+\(low\) {token: "scale#[0-9a-f]{16}"}  # f32\[\]')
        self.assertTrue(text.startswith('use "own"\nop sort2('))
        again = self.write("again.fer", text)
        self.assertEqual(self.succeeds("show", again), text)

    def test_paths_start_where_the_text_goes(self):
        program = self.write("sub/p.fer", 'use "../own"\nuse "std"\n'
                             "graph g(x: f32[n]) { y = scale(x) return y }\n")
        self.assertTrue(self.succeeds("show", program).startswith('use "../own"\nuse "std"\n'))
        written = self.folder / "written.fer"
        self.succeeds("show", "-o", written, program)
        self.assertTrue(written.read_text().startswith('use "own"\nuse "std"\n'))
        self.assertEqual(self.succeeds("show", written), written.read_text())

    def test_constants_stay_in_their_files(self):
        program = self.write("sub/p.fer", "graph g() -> (f32[300, 1000], f32[2]) {\n"
                             '  w = constant f32[300, 1000] from "./w.npy"\n'
                             "  b = constant f32[2] [1, 2]\n"
                             "  return w, b\n}\n")
        write_npy(program.parent / "w.npy", "<f4", (300, 1000), (i / 8 for i in range(300000)))
        self.assertEqual(self.succeeds("show", program),
                         "graph g() -> (f32[300, 1000], f32[2]) {\n"
                         '  w = constant f32[300, 1000] from "w.npy"\n'
                         "  b = constant f32[2] [1.0, 2.0]\n"
                         "  return w, b\n}\n")
        self.assertIn('from "w.npy"', self.succeeds("show", "--after", "dead", program))
        self.assertLess(len(self.succeeds("show", "--dot", program)), 1000)
        written = self.folder / "written.fer"
        self.succeeds("show", "-o", written, program)
        self.assertIn('  w = constant f32[300, 1000] from "sub/w.npy"\n', written.read_text())
        self.assertEqual(self.succeeds("run", written), self.succeeds("run", program))

    def test_after_each_pass(self):
        program = self.write("q.fer", 'use "own"\n'
                             "graph g(x: f32[n]) {\n"
                             "  k = constant f32[2] [1, 2]\n"
                             "  folded = scale(k)\n"
                             "  once = scale(x)\n"
                             "  again = scale(x)\n"
                             "  unused = scale(again)\n"
                             "  return once, again, folded\n}\n")
        whole = self.succeeds("show", program)
        text = {}
        for name in ["fold", "common", "dead"]:
            text[name] = self.succeeds("show", "--after", name, program)
            again = self.write("again.fer", text[name])
            self.assertEqual(self.succeeds("show", again), text[name])
        steps = {name: re.findall(r"^  (\w+) = (\w+)", one, re.MULTILINE)
                 for name, one in [("", whole), *text.items()]}
        k, folded = ("k", "constant"), ("folded", "constant")
        once, again, unused = ("once", "scale"), ("again", "scale"), ("unused", "scale")
        self.assertEqual(steps[""], [k, ("folded", "scale"), once, again, unused])
        self.assertEqual(steps["fold"], [k, folded, once, again, unused])
        self.assertEqual(steps["common"], [k, folded, once, unused])
        self.assertEqual(steps["dead"], [folded, once])
        self.assertIn("constant f32[2] [3.0, 6.0]", text["fold"])
        self.assertIn("return once, once, folded", text["dead"])
        self.assertNotIn("unused", self.succeeds("show", "--after=dead", "--dot", program))
        self.fails("VALUE", "show", "--after", "inline", program,
                   words=["no pass 'inline'", "'fold' (", "'common' (", "'dead' ("])

    def test_dot(self):
        text = self.succeeds("show", "--dot", self.program)
        self.assertTrue(text.startswith("digraph {\n") and text.endswith("}\n"), text)
        nodes, edges = NODE.findall(text), EDGE.findall(text)
        labels = dict(nodes)
        self.assertEqual(len(labels), len(nodes))
        names = sorted(labels.values())
        self.assertEqual(names, sorted([
            "a: f32[]", "b: f32[]", "inout total: f32[]", r"sort2\nlow: f32[]\nhigh: f32[]",
            r"scale\nby = 2\ntwice: f32[]", "count", "count", r"constant [1.5]\nf32[]",
            "output 1", "output 2",
            r"x\ny: f32[n]", r"constant\nmany: f32[9]", r"constant [1.0, 2.0]\nfew: f32[2]",
            r"rebind\nsame: f32[m]", "output 1", "output 2", "output 3"]))
        ends = [(labels[a], labels[b], how) for a, b, how in edges]
        scale = r"scale\nby = 2\ntwice: f32[]"
        sort2 = r"sort2\nlow: f32[]\nhigh: f32[]"
        for end in [("a: f32[]", sort2, 'label="as a"'), ("b: f32[]", sort2, 'label="as b"'),
                    (sort2, scale, 'label="low: f32[]"'),
                    (sort2, "output 2", 'label="high: f32[]"'),
                    (scale, "output 1", 'label=""'), (scale, "count", 'label="as x"'),
                    ("inout total: f32[]", "count", 'dir=both, label="as total"'),
                    ("count", "count", "style=dotted")]:
            self.assertIn(end, ends)
        # The values' edges, and one for the order of the two counts.
        self.assertEqual(len(ends), 9 + 1 + 4)
        self.assertIn(r'    label="a \"b\"\\c"', text)

    def test_dot_draws_blocks_in_frames(self):
        program = self.write("control.fer", """graph twice(x: f32[n]) { return x }
graph g(x: f32[n], c: bool[]) {
  y = if c { a = rebind x [4] b = rebind a [n] yield b } else { yield x }
  s = while s = y { yield c } do { t = call twice(s) yield t }
  return s
}
""")
        text = self.succeeds("show", "--dot", program)
        nodes, edges = NODE.findall(text), EDGE.findall(text)
        labels = dict(nodes)
        self.assertEqual(len(labels), len(nodes))
        ends = {(labels[a], labels[b]) for a, b, _ in edges}
        # What a block yields goes to a point of its frame, and from there to its step.
        self.assertLessEqual({("x: f32[n]", r"rebind\na: f32[4]"), (r"rebind\nb: f32[n]", ""),
                              ("x: f32[n]", ""), ("", r"if\ny: f32[n]"),
                              (r"if\ny: f32[n]", "s: f32[n]"), ("c: bool[]", ""),
                              ("s: f32[n]", r"call twice\nt: f32[n]"),
                              (r"call twice\nt: f32[n]", ""), ("", r"while\ns: f32[n]"),
                              (r"while\ns: f32[n]", "output")}, ends)
        frames = re.findall(r'subgraph (\w+) {[^}]*?label="([^"]*)"', text)
        self.assertEqual(len({name for name, _ in frames}), len(frames))
        self.assertEqual([label for _, label in frames],
                         ["twice", "g", "the first arm of if", "the else arm of if",
                          "the condition of while", "the body of while"])
        # Nothing but what a block makes is in its frame: Graphviz draws both ends of an edge into
        # the frame that the edge stands in.
        self.assertEqual(self.frames_of(text), [
            ("twice", ["x: f32[n]", "output"]),
            ("the first arm of if", [r"rebind\na: f32[4]", r"rebind\nb: f32[n]", ""]),
            ("the else arm of if", [""]), ("the condition of while", ["s: f32[n]", ""]),
            ("the body of while", [r"call twice\nt: f32[n]", ""]),
            ("g", ["x: f32[n]", "c: bool[]", r"if\ny: f32[n]", r"while\ns: f32[n]", "output"])])
        shown = self.succeeds("show", program)
        self.assertEqual(self.succeeds("fmt", "-", input=shown), shown)

    def frames_of(self, text):
        """Each frame's label with those of the nodes that come first in it, as the frames end."""
        labels, seen, open_frames, ended = dict(NODE.findall(text)), set(), [], []
        for line in text.splitlines():
            if "subgraph" in line:
                open_frames.append(["", []])
            elif line.startswith("    label="):
                open_frames[-1][0] = line.split('"')[1]
            elif line.strip() == "}" and open_frames:
                ended.append(tuple(open_frames.pop()))
            for node in re.findall(r"\bg\d+_\w+", line.partition("[")[0]):
                place = open_frames[-1][1]
                if "->" in line:
                    self.assertEqual((len(open_frames), node in seen), (1, True), line)
                else:
                    place.append(labels[node])
                seen.add(node)
        return ended

    def test_svg(self):
        if shutil.which("dot") is None:
            self.skipTest("Graphviz is not installed")
        picture = self.folder / "p.svg"
        self.assertEqual(self.succeeds("show", "--svg", "-o", picture, self.program), "")
        document = xml.dom.minidom.parse(str(picture)).documentElement
        self.assertEqual(document.tagName, "svg")
        texts = {node.firstChild.data for node in document.getElementsByTagName("text")}
        self.assertLessEqual({"sorted", 'a "b"\\c', "twice: f32[]", "by = 2"}, texts)
        self.assertTrue(self.succeeds("show", "--svg", self.program).startswith("<?xml"))

    def fake_dot(self, script):
        tool = self.write("tools/dot", "#!/bin/sh\n" + script)
        tool.chmod(0o755)
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        # The compiler is still needed.
        path = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "TMPDIR": str(temporary)}

    def test_svg_is_what_dot_makes_of_it(self):
        environment = self.fake_dot('[ "$1" = -Tsvg ] || exit 1\ncat "$4" >"$3"\n')
        self.assertEqual(self.succeeds("show", "--svg", self.program, env=environment),
                         self.succeeds("show", "--dot", self.program))
        self.assertEqual(os.listdir(environment["TMPDIR"]), [])

    def test_svg_without_dot(self):
        run("show", self.program)
        tools = self.folder / "tools"
        tools.mkdir()
        self.fails("UNSUPPORTED", "show", "--svg", self.program, words=["Graphviz", "--dot"],
                   env={**os.environ, "PATH": str(tools), "FERRULE_CC": self.compiler()})

    def compiler(self):
        names = (os.environ.get("FERRULE_CC"), os.environ.get("CC"), "cc")
        return shutil.which(next(filter(None, names)))

    def test_svg_when_dot_fails(self):
        environment = self.fake_dot("echo it is broken >&2\nexit 3\n")
        self.fails("RUNTIME", "show", "--svg", self.program, words=["it is broken"],
                   env=environment)
        self.assertEqual(os.listdir(environment["TMPDIR"]), [])

    def test_svg_without_a_temporary_folder(self):
        self.fails("IO", "show", "--svg", self.program, words=["/none/there"],
                   env={**os.environ, "TMPDIR": "/none/there"})

    def test_output(self):
        self.assertEqual(self.succeeds("show", "-o", self.folder / "out", self.program), "")
        self.assertEqual((self.folder / "out").read_text(encoding="utf-8"),
                         self.succeeds("show", self.program))
        self.fails("IO", "show", "-o", self.folder / "none" / "out", self.program, words=["out"])

    def test_wrong_usage(self):
        self.assertTrue(self.succeeds("show", "--help").startswith("usage: ferrule show "))
        self.misused("show", words=["PROGRAM.fer is missing"])
        self.misused("show", "a", "b", words=["'b' is too many"])
        self.misused("show", "--dot", "--svg", "a", words=["exclude"])
        self.misused("show", "--wrong", words=["unknown option '--wrong'"])

    def test_faulty_programs(self):
        self.fails("IO", "show", self.folder / "none.fer", words=["none.fer"])
        program = self.write("bad.fer", "graph g(x: f32[n]) {\n  return y\n}\n")
        self.fails("VALUE", "show", program, words=["bad.fer:2:10", "'y'"])

    def test_every_example_shows_in_the_layout_of_fmt(self):
        for program in sorted((SOURCE / "examples").glob("*.fer")):
            text = self.succeeds("show", program)
            self.assertIn("graph ", text)
            self.assertNotIn(str(SOURCE), text)
            shown = self.write("shown.fer", text)
            self.assertEqual(self.succeeds("fmt", "--check", shown), "")


main()
