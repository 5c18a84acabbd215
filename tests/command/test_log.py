"""FERRULE_LOG and --stats: what the command says of its work on the standard error."""
import os

from support import CommandTest, main, run, write_npy

KERNEL = """#include <ferrule/kernel.h>
SIGNATURE(scale, "<by: int = 3>(x: f32[]) -> f32[]");
PARAM(int, by, 3);
MAP(scale, f32, IN(f32, x)) { return x * (f32)by; }

SIGNATURE(positive, "(x: f32[]) -> f32[]");
KERNEL(positive, OUT(f32, 0, y), IN(f32, 0, x))
{
    CHECK(AT(x) > 0, "it is not positive");
    AT(y) = AT(x);
    return OK;
}

SIGNATURE(twice, "(x: f32[n]) -> f32[n]");
MAP(twice, f32, IN(f32, x)) { return 2 * x; }
"""
TIME = r"\d+\.\d+ ms"


class Log(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("own/kernels.c", KERNEL)
        self.environment = {**os.environ, "FERRULE_CACHE_DIR": str(self.folder / "cache")}
        self.environment.pop("FERRULE_LOG", None)

    def call(self, log, *arguments, code=0, **variables):
        """The lines on stderr of a call."""
        result = run("call", "--package", self.folder / "own", *arguments,
                     env={**self.environment, **({} if log is None else {"FERRULE_LOG": log}),
                          **variables})
        self.assertEqual(result.code, code, result.err)
        if code == 0:
            self.assertIn("6", result.out)
        return result.err.splitlines()

    def assert_line(self, line, pattern):
        self.assertRegex(line, f"^{pattern}$")

    def test_nothing_is_said_unasked(self):
        for log in (None, "", ",", " , "):
            self.assertEqual(self.call(log, "scale", "x=2"), [])

    def test_a_first_call_and_a_second(self):
        everything = "declare,compile,cache,call"
        declare = (r"\[ferrule declare\] scale#[0-9a-f]{16} is "
                   r"scale<by: int = 3>\(x: f32\[\]\) -> f32\[\], in " + TIME)
        call = r"\[ferrule call\] scale\(f32\[\]\) -> \(f32\[\]\) in " + TIME
        lines = self.call(everything, "scale", "x=2")
        self.assertEqual(len(lines), 5, lines)
        self.assert_line(lines[0], r"\[ferrule cache\] scale<by = 3>: miss of [0-9a-f]{32}")
        self.assert_line(lines[1], r"\[ferrule compile\] scale<by = 3> of "
                                   f"{self.folder}/own: compiled in {TIME}")
        self.assert_line(lines[2], r"\[ferrule cache\] scale<by = 3>: kept as "
                                   f"{self.folder}/cache/entries/[0-9a-f]{{32}}.so")
        self.assert_line(lines[3], declare)
        self.assert_line(lines[4], call)
        lines = self.call(everything, "scale", "x=2")
        self.assertEqual(len(lines), 3, lines)
        self.assert_line(lines[0], r"\[ferrule cache\] scale<by = 3>: hit "
                                   f"{self.folder}/cache/entries/[0-9a-f]{{32}}.so")
        self.assert_line(lines[1], declare)
        self.assert_line(lines[2], call)

    def test_a_topic_alone(self):
        for topic, count in [("compile", 1), ("declare", 1), ("cache", 1), ("call", 1),
                             ("call, cache", 2)]:
            lines = self.call(topic, "scale", "x=2")
            self.assertEqual(len(lines), count, (topic, lines))
            for line in lines:
                self.assertIn(line.split("]")[0].removeprefix("[ferrule "), topic)

    def test_what_fails(self):
        lines = self.call("call", "positive", "x=-6", code=1)
        self.assert_line(lines[0], r"\[ferrule call\] positive\(f32\[\]\) -> \(f32\[\]\) failed "
                                   "after " + TIME)
        self.assertTrue(lines[1].startswith("ferrule: RUNTIME: positive: it is not positive"))
        lines = self.call("declare", "nothing(x: f32[]) -> f32[]", "x=6", code=1)
        self.assert_line(lines[0], r"\[ferrule declare\] failed "
                                   f"after {TIME}: nothing: there is no such kernel in .*")
        self.write("own/wrong.c", "#include <ferrule/kernel.h>\n"
                                  "KERNEL(wrong, OUT(f32, 0, y), IN(f32, 0, x)) { return AT(z); }\n")
        lines = self.call("compile", "wrong(x: f32[]) -> f32[]", "x=6", code=1)
        self.assert_line(lines[0], r"\[ferrule compile\] wrong of "
                                   f"{self.folder}/own: failed after {TIME}")

    def test_removal(self):
        self.call(None, "scale", "x=2")
        lines = self.call("cache", "--param", "by=2", "scale", "x=3", FERRULE_CACHE_BYTES="0")
        self.assert_line(lines[-1], r"\[ferrule cache\] removed \d+ files of \d+ bytes, .*")

    def test_a_word_that_is_no_topic(self):
        for log, word in [("all", "all"), ("cache,calls", "calls"), ("Cache", "Cache")]:
            self.fails("VALUE", "list", self.folder / "own", words=["FERRULE_LOG", f"'{word}'"],
                       env={**self.environment, "FERRULE_LOG": log})

    def test_a_run_logs_each_call(self):
        program = self.write("p.fer", 'use "own"\n\ngraph g(x: f32[]) -> (f32[]) {\n'
                                      "  a = scale(x)\n  b = scale<by = 2>(a)\n  return b\n}\n")
        result = run("run", program, "x=1", env={**self.environment, "FERRULE_LOG": "call"})
        self.assertEqual(result.code, 0, result.err)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 2, lines)
        for line in lines:
            self.assert_line(line, r"\[ferrule call\] scale\(f32\[\]\) -> \(f32\[\]\) in " + TIME)

    def stats(self, lines):
        return {line.rsplit(None, 1)[0]: int(line.rsplit(None, 1)[1]) for line in lines}

    def test_stats(self):
        found = self.stats(self.call(None, "--stats", "scale", "x=2"))
        self.assertEqual(list(found), ["compiles", "cache hits", "cache misses", "bindings",
                                       "bytes in use", "bytes idle", "blocks reused",
                                       "blocks fresh"])
        self.assertEqual([found["compiles"], found["cache hits"], found["cache misses"]], [1, 0, 1])
        found = self.stats(self.call(None, "-s", "scale", "x=2"))
        self.assertEqual([found["compiles"], found["cache hits"], found["cache misses"]], [0, 1, 0])
        program = self.write("p.fer", 'use "own"\n\ngraph g(x: f32[]) -> (f32[]) {\n'
                                      "  a = scale<by = 7>(x)\n  return a\n}\n")
        result = run("run", "--stats", program, "x=1", env=self.environment)
        found = self.stats(result.err.splitlines())
        self.assertEqual([found["compiles"], found["bindings"]], [1, 1], result.err)

    def test_stats_of_memory(self):
        """Of the operand and the result, and a sixteenth more at most; with a sanitizer all is malloc's."""
        size = 30000
        operand = write_npy(self.folder / "x.npy", "<f4", (size,), [1] * size)
        result = run("call", "--stats", "--package", self.folder / "own", "twice", f"x={operand}",
                     "-o", self.folder / "y.npy", env=self.environment)
        self.assertEqual(result.code, 0, result.err)
        found = self.stats(result.err.splitlines())
        num_blocks = 0 if "UBSAN_OPTIONS" in os.environ else 2
        self.assertEqual([found["blocks fresh"], found["blocks reused"]], [num_blocks, 0])
        self.assertGreaterEqual(found["bytes in use"], num_blocks * 4 * size)
        self.assertLessEqual(found["bytes in use"], num_blocks * (4 * size * 17 / 16 + 1024))


main()
