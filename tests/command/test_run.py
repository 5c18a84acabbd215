"""`ferrule run`: programs, their inputs and outputs."""
import json
import os
import re

from support import SOURCE, CommandTest, dense, main, read_npy, read_png, run, write_npy, write_png

SCALE = """#include <ferrule/kernel.h>
SIGNATURE(scale, "(x: f32[*s], factor: f32[]) -> f32[*s]");

MAP(scale, f32, IN(f32, x), IN(f32, factor))
{
    return x * factor;
}
"""
PROGRAM = """use "std"
use "own kernels"

graph twice(x: f32[n, c], factor: f32[]) -> (f32[n, c], f32[n]) {
  doubled = scale(x, factor)
  total = sum(doubled)
  return doubled, total
}
"""


class Run(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("own kernels/scale.c", SCALE)
        self.program = self.write("twice.fer", PROGRAM)
        self.x = write_npy(self.folder / "x.npy", "<f4", (2, 2), [1, 2, 3, 4])

    def run_twice(self, *arguments):
        return self.succeeds("run", self.program, f"x={self.x}", *arguments)

    def run_fails(self, kind, *arguments, words=()):
        self.fails(kind, "run", self.program, *arguments, words=words)

    def test_outputs_by_order_and_by_name(self):
        a, b = self.folder / "a.npy", self.folder / "b.npy"
        self.run_twice("factor=2", "-o", a, "-o", b)
        self.assertEqual(read_npy(a), ("<f4", (2, 2), [2, 4, 6, 8]))
        self.assertEqual(read_npy(b), ("<f4", (2,), [6, 14]))
        self.run_twice("factor=3", "-o", f"total={a}", "-o", f"doubled={b}")
        self.assertEqual(read_npy(a)[2], [9, 21])
        self.assertEqual(read_npy(b)[2], [3, 6, 9, 12])

    def test_without_outputs_it_prints(self):
        self.assertEqual(dense(self.run_twice("factor=0.5")),
                         "doubled:f32[2,2][[0.5,1],[1.5,2]]total:f32[2][1.5,3.5]")

    def test_buffers_come_after_the_outputs(self):
        program = self.write("p.fer", """use "std"
graph step(x: f32[2], inout total: f32[2], inout count: i64[]) -> f32[2] {
  was = load(total)
  store(total, x)
  one = constant i64[] [1]
  store(count, one)
  return was
}
""")
        x = write_npy(self.folder / "two.npy", "<f4", (2,), [1, 2])
        total = write_npy(self.folder / "total.npy", "<f4", (2,), [10, 20])
        inputs = [f"x={x}", f"total={total}", "count=7"]
        self.assertEqual(dense(self.succeeds("run", program, *inputs)),
                         "was:f32[2][10,20]total:f32[2][1,2]count:i64[]1")
        a, b = self.folder / "a.npy", self.folder / "b.npy"
        printed = self.succeeds("run", program, *inputs, "-o", f"total={a}", "-o", b)
        self.assertEqual(dense(printed), "count:i64[]1")
        self.assertEqual(read_npy(a)[2], [1, 2])
        self.assertEqual(read_npy(b)[2], [10, 20])
        self.assertEqual(read_npy(total)[2], [10, 20])

    def test_a_fault_at_run_time_names_the_step(self):
        self.write("own kernels/check.c", """#include <ferrule/kernel.h>
SIGNATURE(check, "(x: f32[n]) -> f32[n]");
KERNEL(check, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(x, 0); i++) {
        CHECK(AT(x, i) < 3, "element %d is too large", (int)i);
        AT(y, i) = AT(x, i);
    }
    return OK;
}
""")
        program = self.write("check.fer", """use "own kernels"
graph g(x: f32[n], y: f32[m]) {
  first = check(x)
\tsecond = scale(first, 2)  # é
  third = check(second)
  fourth = rebind third [m]
  return fourth
}
""")
        for values, size, words in (
                ([1, 2], 2, "check.fer:5:11: graph 'g': check: element 1 is too large "
                 "(check.c:6)\n    third = check(second)\n            ^\n"),
                ([4, 2], 2, "check.fer:3:11: graph 'g': check: element 0 is too large "
                 "(check.c:6)\n    first = check(x)\n            ^\n"),
                ([1], 3, "check.fer:6:12: graph 'g': rebind to f32[m]: axis 0 is 1, but m "
                 "is 3\n    fourth = rebind third [m]\n             ^\n")):
            x = write_npy(self.folder / "short.npy", "<f4", (len(values),), values)
            y = write_npy(self.folder / "y.npy", "<f4", (size,), [0] * size)
            self.fails("RUNTIME", "run", program, f"x={x}", f"y={y}", words=[words])

    def test_report(self):
        arguments = ["run", "--report", self.program, f"x={self.x}", "factor=1",
                     "-o", self.folder / "a.npy", "-o", self.folder / "b.npy"]
        environment = {**os.environ, "FERRULE_CACHE_DIR": str(self.folder / "cache")}
        first, second = (run(*arguments, env=environment) for _ in range(2))
        for result in (first, second):
            self.assertEqual((result.code, result.out), (0, ""), result.err)
            for words in ("x          f32[2, 2]", "factor     f32[]", "total      f32[2]", "2 ops"):
                self.assertIn(words, result.err)
        self.assertRegex(first.err, r"ms: 2 kernels compiled")
        self.assertRegex(second.err, r"ms: 0 kernels compiled, [1-9]\d* found in the cache")

    def write_loop(self):
        """A loop of three turns, an op that fails in the last one if `limit` is 1, and an op on
        constants, which is called before the run."""
        self.write("own kernels/steps.c", """#include <ferrule/kernel.h>
SIGNATURE(is_positive, "(x: i64[]) -> bool[]");
KERNEL(is_positive, OUT(bool, 0, y), IN(i64, 0, x)) { AT(y) = AT(x) > 0; return OK; }

SIGNATURE(down, "(x: i64[], limit: i64[]) -> i64[]");
KERNEL(down, OUT(i64, 0, y), IN(i64, 0, x), IN(i64, 0, limit))
{
    CHECK(AT(x) > AT(limit), "too low");
    AT(y) = AT(x) - 1;
    return OK;
}
""")
        return self.write("loop.fer", """use "own kernels"
graph g(x: f32[n], k: i64[], limit: i64[]) {
  one = constant f32[1] [1]
  two = scale(one, 2)
  s, i = while s = x, j = k { go = is_positive(j) yield go }
    do { next = down(j, limit) t = scale(s, 2) yield t, next }
  return s, two
}
""")

    def test_profile(self):
        program = self.write_loop()
        x = write_npy(self.folder / "v.npy", "<f4", (3,), [1, 2, 3])
        result = run("run", "--profile", program, f"x={x}", "k=3", "limit=0")
        self.assertEqual((result.code, dense(result.out)), (0, "s:f32[3][8,16,24]two:f32[1][2]"))
        lines = result.err.splitlines()
        self.assertEqual(len({len(line) for line in lines}), 1, result.err)
        self.assertEqual(lines[0].split(), ["op", "calls", "total", "share"])
        rows = [re.fullmatch(r"(\S+) +(\d*) +(\d+\.\d+) ms +(\d+\.\d) %", line)
                for line in lines[1:]]
        self.assertEqual({row[1]: row[2] for row in rows},
                         {"is_positive": "4", "down": "3", "scale": "3", "(rest)": ""})
        self.assertEqual(rows[-1][1], "(rest)")
        totals = [float(row[3]) for row in rows[:-1]]
        self.assertEqual(totals, sorted(totals, reverse=True))
        self.assertAlmostEqual(sum(float(row[4]) for row in rows), 100, delta=0.5)
        result = run("run", "--profile", program, f"x={x}", "k=3", "limit=1")
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertRegex(result.err, r"\ndown +3 ")
        self.assertIn("\nferrule: RUNTIME: ", result.err)

    def test_trace(self):
        program = self.write_loop()
        x = write_npy(self.folder / "v.npy", "<f4", (3,), [1, 2, 3])
        path = self.folder / "trace.json"
        printed = self.succeeds("run", program, f"x={x}", "k=3", "limit=0")
        self.assertEqual(printed, self.succeeds("run", "--trace", path, program, f"x={x}", "k=3",
                                                "limit=0"))
        events = json.loads(path.read_text())["traceEvents"]
        self.assertEqual([event["name"] for event in events],
                         3 * ["is_positive", "down", "scale"] + ["is_positive"])
        for event in events:
            self.assertEqual((event["ph"], event["cat"]), ("X", "kernel"))
            self.assertGreaterEqual(event["dur"], 0)
            self.assertEqual(event["tid"], events[0]["tid"])
        for before, after in zip(events, events[1:]):
            self.assertGreaterEqual(after["ts"], before["ts"])
        self.assertEqual(events[2]["args"], {"operands": ["f32[3]", "f32[]"], "results": ["f32[3]"]})
        self.fails("RUNTIME", "run", "--trace", path, program, f"x={x}", "k=3", "limit=1",
                   words=["down: too low"])
        self.assertEqual(len(json.loads(path.read_text())["traceEvents"]), 8)
        self.fails("IO", "run", "--trace", self.folder / "no" / "t.json", program, f"x={x}", "k=3",
                   "limit=0", words=["t.json: the trace cannot be written: No such file"])
        self.fails("IO", "run", "--trace", "/dev/full", program, f"x={x}", "k=3", "limit=0",
                   words=["/dev/full: the trace cannot be written"])

    def test_devices(self):
        program = self.write("devices.fer", """use "own kernels"
graph g(x: f32[n] @ 1, y: f32[n]) {
  there = transfer y @ 1
  double = scale(there, 2)
  near = transfer double @ 0
  more = scale(near, 2)
  return x, more
}
""")
        x, y = (write_npy(self.folder / f"{name}.npy", "<f4", (2,), values)
                for name, values in [("x", [1, 2]), ("y", [3, 4])])
        path = self.folder / "trace.json"
        result = run("run", "--profile", "--trace", path, program, f"x={x}", f"y={y}",
                     env={**os.environ, "FERRULE_HOST_DEVICES": "2"})
        self.assertEqual((result.code, dense(result.out)),
                         (0, "x:f32[2]@1[1,2]more:f32[2][12,16]"))
        rows = {match[1]: match[2] for match in
                re.finditer(r"(?m)^(\w+(?: @ 1)?) +(\d+) +\d+\.\d+ ms", result.err)}
        self.assertEqual(rows, {"transfer @ 1": "1", "transfer": "1", "scale @ 1": "1",
                                "scale": "1"})
        events = json.loads(path.read_text())["traceEvents"]
        self.assertEqual([(event["name"], event["args"]) for event in events],
                         [("transfer", {"operands": ["f32[2]"], "results": ["f32[2] @ 1"]}),
                          ("scale", {"operands": ["f32[2] @ 1", "f32[] @ 1"],
                                     "results": ["f32[2] @ 1"]}),
                          ("transfer", {"operands": ["f32[2] @ 1"], "results": ["f32[2]"]}),
                          ("scale", {"operands": ["f32[2]", "f32[]"], "results": ["f32[2]"]})])

    def test_wrong_inputs(self):
        self.run_fails("TYPE", f"x={self.x}", words=["graph 'twice': input 'factor' is missing"])
        self.run_fails("TYPE", f"x={self.x}", "factr=1", words=["'factr'", "'factor'"])
        self.run_fails("TYPE", f"x={self.x}", f"x={self.x}", "factor=1", words=["'x'", "twice"])
        self.run_fails("TYPE", "x=1", "factor=1", words=["graph 'twice': ", "'x'", "rank 2", ".npy"])
        self.run_fails("VALUE", f"x={self.x}", "factor=true", words=["'factor'"])
        flat = write_npy(self.folder / "flat.npy", "<f4", (2,), [1, 2])
        self.run_fails("VALUE", f"x={flat}", "factor=1", words=["twice", "x"])

    def test_wrong_outputs(self):
        inputs = [f"x={self.x}", "factor=1"]
        self.run_fails("VALUE", *inputs, "-o", "totl=a.npy",
                       words=["graph 'twice': no result is called 'totl'", "'doubled', 'total'"])
        self.run_fails("VALUE", *inputs, "-o", "a.jpg", words=["'a.jpg'"])
        self.run_fails("VALUE", *inputs, "-o", "a.npy", "-o", "b.npy", "-o", "c.npy",
                       words=["2 results", "3 outputs"])
        self.run_fails("VALUE", *inputs, "-o", "a.npy", "-o", "a.npy", words=["file 'a.npy'"])

    def test_faulty_programs(self):
        self.fails("IO", "run", self.folder / "none.fer", words=["none.fer"])
        program = self.write("bad.fer", "use \"std\"\ngraph g(x: f32[n]) -> f32[n] {\n  return y\n}\n")
        self.fails("VALUE", "run", program, words=["bad.fer:3:"])

    def test_several_graphs(self):
        program = self.write("two.fer", 'use "std"\n'
                             "graph a(x: f32[n]) -> f32[n] {\n  y = relu(x)\n  return y\n}\n"
                             "graph b(x: f32[n]) -> f32[n] {\n  y = exp(x)\n  return y\n}\n")
        x = write_npy(self.folder / "v.npy", "<f4", (1,), [0])
        self.fails("VALUE", "run", program, f"x={x}", words=["--graph", "'a'", "'b'"])
        self.fails("VALUE", "run", "--graph", "c", program, f"x={x}",
                   words=["has no graph 'c', but 'a', 'b'\n"])
        self.assertIn("[1]", dense(self.succeeds("run", "--graph", "b", program, f"x={x}")))

    def test_the_entry_point(self):
        graphs = [f"graph {name}() {{\n  y = constant i32[] [{i}]\n  return y\n}}\n"
                  for i, name in enumerate(["first", "main", "other"])]
        program = self.write("entry.fer", "".join(graphs))
        self.assertEqual(dense(self.succeeds("run", program)), "y:i32[]1")
        self.assertEqual(dense(self.succeeds("run", "-g", "other", program)), "y:i32[]2")
        only = self.write("only.fer", graphs[0])
        self.assertEqual(dense(self.succeeds("run", only)), "y:i32[]0")
        self.fails("VALUE", "run", "-g", "main", only, words=["has no graph 'main', but 'first'\n"])
        self.fails("VALUE", "run", "--graph", "frist", program, words=[
            "has no graph 'frist', but 'first', 'main', 'other'; did you mean 'first'?\n"])

    def test_an_unknown_executor(self):
        self.fails("VALUE", "run", self.program, f"x={self.x}", "factor=1", words=["interpret"],
                   env={**os.environ, "FERRULE_EXECUTOR": "imagine"})

    def test_the_photo_program_on_a_picture(self):
        grey = write_png(self.folder / "grey.png", 8, 10, 3, [128] * 240)
        result = self.folder / "result.png"
        self.succeeds("run", SOURCE / "examples" / "photo.fer", f"image={grey}", "-o", result)
        height, width, channels, samples = read_png(result)
        self.assertEqual((height, width, channels), (4, 5, 3))
        # One colour has nothing to sharpen, and the middle of the range has nothing to lift.
        self.assertLessEqual(max(abs(sample - 128) for sample in samples), 1)


main()
