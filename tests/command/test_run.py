"""`ferrule run`: programs, their inputs and outputs."""
import os

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
        self.fails("VALUE", "run", "--graph", "c", program, f"x={x}", words=["'c'", "'a'"])
        self.assertIn("[1]", dense(self.succeeds("run", "--graph", "b", program, f"x={x}")))

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
