"""`ferrule call`, `check --package` and `list`: kernels of a package, files in and out."""
import os
import subprocess

from support import CommandTest, dense, main, read_npy, read_png, run, write_npy, write_png

PACKAGE = {
    "downsample.c": """#include <ferrule/kernel.h>
SIGNATURE(downsample, "(x: f32[n, w, c]) -> f32[n, w // 2, c]");

KERNEL(downsample, OUT(f32, 3, y), IN(f32, 3, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        for (index_t j = 0; j < DIM(y, 1); j++)
            for (index_t k = 0; k < DIM(y, 2); k++)
                AT(y, i, j, k) = AT(x, i, 2 * j, k);
    return OK;
}
""",
    "shift.c": """#include <ferrule/kernel.h>
SIGNATURE(shift, "<T, by: int = 1>(x: T[*s], up: T[]) -> (more: T[*s], less: T[*s])");
DTYPE_VAR(T, f32);
PARAM(int, by, 1);

KERNEL(shift, OUT(T, ANY, more), OUT(T, ANY, less), IN(T, ANY, x), IN(T, 0, up))
{
    for (index_t i = 0; i < SIZE(x); i++) {
        DATA(more)[i] = (T)(DATA(x)[i] + (T)by * *DATA(up));
        DATA(less)[i] = (T)(DATA(x)[i] - (T)by * *DATA(up));
    }
    return OK;
}
""",
    "count.c": """#include <ferrule/kernel.h>
SIGNATURE(count, "(inout x: i64[n], limit: i64[]) -> ()");

KERNEL(count, INOUT(i64, 1, x), IN(i64, 0, limit))
{
    CHECK(*DATA(limit) > 0, "the limit is %lld", (long long)*DATA(limit));
    for (index_t i = 0; i < DIM(x, 0); i++)
        AT(x, i) += 1;
    return OK;
}
""",
    "plain.c": """#include <ferrule/kernel.h>

MAP(inverted, u8, IN(u8, x))
{
    return (u8)(255 - x);
}
""",
    "mode.c": """#include <ferrule/kernel.h>
#include <string.h>
SIGNATURE(mode, "<name: str = \\"a\\", gain: float = 1.0, on: bool = false>(x: f64[]) -> f64[]");
PARAM(str, name, "a");
PARAM(float, gain, 1.0);
PARAM(bool, on, false);

KERNEL(mode, OUT(f64, 0, y), IN(f64, 0, x))
{
    *DATA(y) = *DATA(x) * gain + (on ? 100.0 : 0.0) + (strcmp(name, "b c") == 0 ? 1000.0 : 0.0);
    return OK;
}
""",
}


class Call(CommandTest):
    def setUp(self):
        super().setUp()
        for name, text in PACKAGE.items():
            self.write(f"package/{name}", text)
        self.package = self.folder / "package"

    def call(self, *arguments):
        return self.succeeds("call", "--package", self.package, *arguments)

    def call_fails(self, kind, *arguments, words=()):
        return self.fails(kind, "call", "--package", self.package, *arguments, words=words)

    def test_arrays_in_and_out(self):
        x = write_npy(self.folder / "x.npy", "<f4", (2, 4, 1), range(8))
        y = self.folder / "y.npy"
        out = self.call("downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]", f"x={x}", "-o", y)
        self.assertEqual(out, "")
        self.assertEqual(read_npy(y), ("<f4", (2, 2, 1), [0, 2, 4, 6]))

    def test_a_declared_kernel_needs_only_its_name(self):
        x = write_npy(self.folder / "x.npy", "<f4", (1, 2, 1), [7, 8])
        self.assertEqual(dense(self.call("downsample", f"x={x}")), "f32[1,1,1][[[7]]]")

    def test_several_outputs_by_name_and_by_order(self):
        x = write_npy(self.folder / "x.npy", "<i4", (2,), [10, 20])
        a, b = self.folder / "a.npy", self.folder / "b.npy"
        self.call("shift", "--param", "by=3", f"x={x}", "up=2", "-o", a, "-o", b)
        self.assertEqual(read_npy(a), ("<i4", (2,), [16, 26]))
        self.assertEqual(read_npy(b), ("<i4", (2,), [4, 14]))
        self.call("shift", f"x={x}", "up=2", "-o", f"less={a}", "-o", b)
        self.assertEqual(read_npy(a)[2], [8, 18])
        self.assertEqual(read_npy(b)[2], [12, 22])
        printed = self.call("shift", f"x={x}", "up=2", "-o", f"more={a}")
        self.assertEqual(read_npy(a)[2], [12, 22])
        self.assertEqual(dense(printed), "less:i32[2][8,18]")

    def test_wrong_outputs(self):
        x = write_npy(self.folder / "x.npy", "<i4", (1,), [1])
        arguments = ["shift", f"x={x}", "up=2"]
        self.call_fails("VALUE", *arguments, "-o", "mor=a.npy",
                        words=["'mor'", "but 'more', 'less'; did you mean 'more'?"])
        self.call_fails("VALUE", *arguments, "-o", "up=a.npy",
                        words=["shift: no result is called 'up', but 'more', 'less'\n"])
        picture = write_npy(self.folder / "f.npy", "<f4", (1, 2, 1), [1, 2])
        self.call_fails("VALUE", "downsample", f"x={picture}", "-o", "y=a.npy",
                        words=["no result is called 'y'", "no names"])
        self.call_fails("VALUE", *arguments, "-o", "more=a.npy", "-o", "more=b.npy", words=["'more'"])
        self.call_fails("VALUE", *arguments, "-o", "a.npy", "-o", "b.npy", "-o", "c.npy",
                        words=["2 results", "3 outputs"])
        twice = self.folder / "twice.npy"
        self.call_fails("VALUE", *arguments, "-o", twice, "-o", f"more={twice}",
                        words=[f"two outputs are for the file '{twice}'"])
        self.assertFalse(twice.exists())
        self.call_fails("VALUE", *arguments, "-o", "a.txt", words=["'a.txt'", ".npy", ".png"])
        self.call_fails("IO", *arguments, "-o", self.folder / "no" / "a.npy", words=["a.npy"])

    def test_inout_operands_come_after_the_results(self):
        x = write_npy(self.folder / "x.npy", "<i8", (2,), [1, 2])
        y = self.folder / "y.npy"
        self.call("count", f"x={x}", "limit=1", "-o", y)
        self.assertEqual(read_npy(y)[2], [2, 3])
        self.assertEqual(read_npy(x)[2], [1, 2])
        self.assertEqual(dense(self.call("count", f"x={x}", "limit=1")), "x:i64[2][2,3]")

    def test_a_failing_kernel(self):
        x = write_npy(self.folder / "x.npy", "<i8", (1,), [1])
        self.call_fails("RUNTIME", "count", f"x={x}", "limit=0", words=["count", "the limit is 0"])

    def test_pictures(self):
        picture = write_png(self.folder / "in.png", 2, 2, 3, range(12))
        result = self.folder / "out.png"
        self.call("inverted(x: u8[*s]) -> u8[*s]", f"x={picture}", "-o", result)
        self.assertEqual(read_png(result), (2, 2, 3, [255 - i for i in range(12)]))
        # f32 reads as 0..1 and is written so.
        wide = write_png(self.folder / "wide.png", 1, 4, 1, [0, 51, 102, 255])
        self.call("downsample", f"x={wide}", "-o", result)
        self.assertEqual(read_png(result), (1, 2, 1, [0, 102]))
        values = self.folder / "values.npy"
        self.call("downsample", f"x={wide}", "-o", values)
        self.assertEqual([round(v * 255) for v in read_npy(values)[2]], [0, 102])

    def test_parameters_of_every_kind(self):
        def mode(*params):
            options = [word for param in params for word in ("--param", param)]
            return float(self.call(*options, "mode", "x=2").split()[-1])
        self.assertEqual(mode(), 2)
        self.assertEqual(mode("gain=2.5"), 5)
        self.assertEqual(mode("gain=3", "on=true"), 106)
        self.assertEqual(mode("name=b c"), 1002)
        self.assertEqual(mode('name="b c"'), 1002)
        for param, kind in [("gain=x", "TYPE"), ("gain=true", "TYPE"), ("gain=1 2", "VALUE"),
                            ("on=1", "TYPE"), ("gian=1", "VALUE")]:
            self.call_fails(kind, "--param", param, "mode", "x=2", words=["mode", param.split("=")[0]])

    def test_a_parameter_that_the_dims_need(self):
        self.write("package/rows.c", "#include <ferrule/kernel.h>\nPARAM(int, g, 1);\n"
                   'SIGNATURE(rows, "<g: int>(x: f32[n, g]) -> f32[n]");\n'
                   "KERNEL(rows, OUT(f32, 1, y), IN(f32, 2, x))\n{\n"
                   "    for (index_t i = 0; i < DIM(x, 0); i++)\n"
                   "        AT(y, i) = AT(x, i, g - 1);\n    return OK;\n}\n")
        x = write_npy(self.folder / "x.npy", "<f4", (2, 3), range(6))
        declaration = "rows<g: int>(x: f32[n, g]) -> f32[n]"
        for text in [declaration, "rows"]:
            self.assertIn("[2, 5]", self.call("--param", "g=3", text, f"x={x}"))
            self.call_fails("TYPE", text, f"x={x}", words=["rows", "'g' has no value"])
            self.call_fails("TYPE", "--param", "g=1.5", text, f"x={x}", words=["rows", "'g'"])
            self.call_fails("VALUE", "--param", "g=4", text, f"x={x}", words=["rows", "'x'", "3", "4"])
            self.call_fails("VALUE", "--param", "g=-1", text, f"x={x}", words=["rows", "'x'"])

    def test_numbers(self):
        x = write_npy(self.folder / "x.npy", "<f4", (1,), [1])
        self.assertIn("[1.5]", dense(self.call("shift", f"x={x}", "up=0.5")))
        self.assertIn("[17]", dense(self.call("shift", f"x={x}", "up=0x1p4")))
        self.call_fails("VALUE", "shift", f"x={x}", "up=true", words=["up"])
        self.call_fails("VALUE", "shift", f"x={x}", "up=x.txt", words=["'up'", "'x.txt'"])
        self.call_fails("OVERFLOW", "shift", f"x={x}", "up=99999999999999999999", words=["'up'"])
        self.call_fails("OVERFLOW", "shift", f"x={x}", "up=1e999", words=["'up'", "1e999"])
        self.call_fails("VALUE", "shift", f"x={x}", "up=18446744073709551615", words=["'up'", "exact"])
        self.call_fails("VALUE", "shift", f"x={x}", "up=-", words=["'up'", "neither"])
        self.write("package/same.c", "#include <ferrule/kernel.h>\n"
                   "MAP(same, u64, IN(u64, z)) { return z; }\n")
        out = self.succeeds("call", "--package", self.package, "same(z: u64[]) -> u64[]",
                            "z=18446744073709551615")
        self.assertEqual(dense(out), "u64[]18446744073709551615")
        self.call_fails("TYPE", "shift", "x=1", "up=1", words=["'x'"])

    def test_names_of_operands(self):
        x = write_npy(self.folder / "x.npy", "<f4", (1,), [1])
        self.call_fails("TYPE", "shift", f"x={x}", words=["shift", "up"])
        self.call_fails("TYPE", "shift", f"x={x}", "upp=1", "up=1", words=["shift", "upp"])
        self.call_fails("TYPE", "shift", f"x={x}", f"x={x}", "up=1", words=["shift", "x"])

    def test_files_that_cannot_be_read(self):
        self.call_fails("IO", "downsample", "x=absent.npy", words=["'x'", "absent.npy"])
        self.call_fails("IO", "downsample", "x=absent.png", words=["'x'", "absent.png"])
        bad = self.write("bad.npy", "no array")
        self.call_fails("VALUE", "downsample", f"x={bad}", words=["bad.npy"])

    def test_shapes_are_checked(self):
        x = write_npy(self.folder / "x.npy", "<f4", (2,), [1, 2])
        self.call_fails("VALUE", "downsample", f"x={x}", words=["downsample", "'x'", "rank"])

    def test_what_is_not_there(self):
        self.call_fails("VALUE", "downsampel", words=["downsampel", "downsample"])
        self.fails("IO", "call", "--package", self.folder / "none", "f", words=["none"])
        self.call_fails("VALUE", "inverted", words=["inverted"])
        self.call_fails("VALUE", "downsample(x: f32[n", words=["column"])

    def test_a_compiler_error_reaches_the_user(self):
        self.write("package/broken.c", "#include <ferrule/kernel.h>\n"
                   "KERNEL(broken, OUT(f32, 1, y), IN(f32, 1, x))\n{\n    return undeclared;\n}\n")
        self.call_fails("COMPILE", "broken(x: f32[n]) -> f32[n]", words=["broken.c:4", "undeclared"])

    def test_warnings_are_shown_once(self):
        self.write("package/loud.c", "#include <ferrule/kernel.h>\n"
                   "KERNEL(loud, OUT(f32, 1, y), IN(f32, 1, x))\n{\n"
                   "    int cut = 1e300;\n    AT(y, 0) = AT(x, cut != 0);\n    return OK;\n}\n")
        for log, first in (("", r"ferrule: the compiler says of loud:\n"),
                           ("compile", r"\[ferrule compile\] loud of .*\n"
                                       r"(\[ferrule compile\] .*\n)*"
                                       r"\[ferrule compile\] loud\.c:4:.* warning: .*\n")):
            cache = str(self.folder / f"cache{log}")
            environment = {**os.environ, "FERRULE_CACHE_DIR": cache, "FERRULE_LOG": log}
            once, again = (run("check", "--package", self.package, "loud(x: f32[n]) -> f32[n]",
                               env=environment) for _ in range(2))
            self.assertEqual((once.code, again.code, again.err), (0, 0, ""), once.err)
            self.assertRegex(once.err, "^" + first)
            self.assertRegex(once.err, r"(?m)^loud\.c:4:\d+: warning: ")
            self.assertNotIn("fer_", once.err)

    def test_the_command_of_a_failed_compile_works(self):
        self.write("package/it's broken.c", "#include <ferrule/kernel.h>\n"
                   "KERNEL(broken, OUT(f32, 1, y), IN(f32, 1, x))\n{\n    return undeclared;\n}\n")
        arguments = ("check", "--package", self.package, "broken(x: f32[n]) -> f32[n]")
        environment = {**os.environ, "FERRULE_CACHE_DIR": str(self.folder / "cache")}
        gone = run(*arguments, env=environment)
        self.assertIn("FERRULE_KEEP_BUILD=1 keeps it", gone.err.splitlines()[-1])
        self.assertEqual(os.listdir(self.folder / "cache/build"), [])
        kept = run(*arguments, env={**environment, "FERRULE_KEEP_BUILD": "1"})
        self.assertEqual((gone.code, kept.code), (1, 1))
        last = kept.err.splitlines()[-1]
        self.assertTrue(last.startswith("the command was: cd "), last)
        again = subprocess.run(["sh", "-c", last.removeprefix("the command was: ")],
                               capture_output=True, text=True, check=False,
                               env={**os.environ, "LC_ALL": "C"})
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("it's broken.c:4:", again.stderr)
        self.assertIn("undeclared", again.stderr)

    def test_a_dtype_that_nothing_declares(self):
        self.write("package/open.c", "#include <ferrule/kernel.h>\n"
                   "MAP(open, T, IN(T, x)) { return x; }\n"
                   "KERNEL(near, OUT(f32, 1, y), IN(f31, 1, x)) { (void)y, (void)x; return OK; }\n")
        self.call_fails("TYPE", "open(x: f32[n]) -> f32[n]",
                        words=["open: open.c:2: 'result' has the dtype T, which nothing declares; "
                               "write DTYPE_VAR(T, f32); above, or a dtype in its place\n"])
        self.call_fails("TYPE", "near(x: f32[n]) -> f32[n]",
                        words=["near: open.c:3: 'x' has the dtype f31, which is none; did you mean "
                               "'f32'?\n"])

    def test_check_with_a_package(self):
        text, token = self.succeeds("check", "--package", self.package, "downsample").splitlines()
        self.assertEqual(text, "downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]")
        self.assertRegex(token, r"^downsample#[0-9a-f]{16}$")
        # A token says where the kernel comes from, a bare declaration has no such place.
        self.assertNotEqual(self.succeeds("check", text).splitlines()[1], token)
        self.fails("TYPE", "check", "--package", self.package, "inverted(x: f32[n]) -> f32[n]",
                   words=["inverted"])
        self.fails("VALUE", "check", "--package", self.package, "absent(x: f32[n]) -> f32[n]",
                   words=["absent", str(self.package)])

    def test_list(self):
        lines = [line.split("\t") for line in self.succeeds("list", self.package).splitlines()]
        self.assertEqual([place for _, place in lines],
                         ["count.c:4", "downsample.c:4", "plain.c:3", "mode.c:8", "shift.c:6"])
        self.assertEqual(lines[1][0], "downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]")
        self.assertEqual(lines[2][0], "inverted")
        # What is listed is a declaration that can be used.
        for declaration, _ in lines:
            if "(" in declaration:
                self.succeeds("check", "--package", self.package, declaration)
        self.fails("IO", "list", self.folder / "none", words=["none"])

    def test_list_gives_each_kernel_one_line(self):
        self.write("lines/k.c", '#include <ferrule/kernel.h>\n'
                   'SIGNATURE(half, "(x: f32[*s])\\n"\n'
                   '                "\\t -> f32[*s]");\n'
                   'MAP(half, f32, IN(f32, x)) { return x / 2; }\n'
                   'MAP(twice, f32, IN(f32, x)) { return 2 * x; }\n')
        self.assertEqual(self.succeeds("list", self.folder / "lines"),
                         "half(x: f32[*s]) -> f32[*s]\tk.c:4\ntwice\tk.c:5\n")

    def test_the_standard_package(self):
        names = {line.split("(")[0].split("<")[0].split("\t")[0]
                 for line in self.succeeds("list", "std").splitlines()}
        self.assertLessEqual({"add", "sub", "mul", "div", "exp", "relu", "cast", "sum", "softmax",
                              "matmul"}, names)
        x = write_npy(self.folder / "x.npy", "<f4", (2, 2), [1, -2, 3, -4])
        out = self.succeeds("call", "--package", "std", "relu", f"x={x}")
        self.assertEqual(dense(out), "f32[2,2][[1,0],[3,0]]")

    def test_paths_that_look_odd(self):
        folder = self.folder / "-odd 'name' \"é\" $x;"
        folder.mkdir()
        (folder / "k.c").write_text(PACKAGE["downsample.c"], encoding="utf-8")
        x = write_npy(folder / "x=1.npy", "<f4", (1, 2, 1), [5, 6])
        self.succeeds("call", f"--package={folder}", "downsample", f"x={x}", "-o", folder / "y.npy")
        self.assertEqual(read_npy(folder / "y.npy")[2], [5])
        result = run("call", "--package", folder.name, "downsample", f"x={x}", cwd=self.folder)
        self.assertEqual((result.code, result.err), (0, ""))


main()
