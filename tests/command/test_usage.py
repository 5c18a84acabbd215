"""Help, versions, wrong usage, and where errors go."""
import os
import subprocess

from support import COMMAND, CommandTest, main, run

SUBCOMMANDS = ["run", "call", "infer", "dim", "check", "list", "show", "cache", "verify"]


class Usage(CommandTest):
    def test_help(self):
        text = self.succeeds("--help")
        for name in SUBCOMMANDS:
            self.assertRegex(text, rf"(?m)^  {name} ")
            self.assertTrue(self.succeeds(name, "--help").startswith(f"usage: ferrule {name} "))

    def test_version(self):
        self.assertRegex(self.succeeds("--version"), r"^ferrule \d+\.\d+\.\d+\n$")

    def test_no_command(self):
        self.misused()
        self.misused("chek", words=["'chek'", "did you mean 'check'?"])
        self.misused("zzzzzz", words=["'zzzzzz'"])

    def test_missing_arguments(self):
        for name, missing in [("run", "PROGRAM.fer"), ("call", "DECLARATION"),
                              ("infer", "DECLARATION"), ("dim", "EXPR"),
                              ("check", "DECLARATION"), ("list", "PACKAGE")]:
            self.misused(name, words=[f"{missing} is missing", f"usage: ferrule {name} "])
        self.misused("call", "f(x: f32[n]) -> f32[n]", words=["--package is missing"])

    def test_too_many_arguments(self):
        self.misused("list", "a", "b", words=["'b'"])
        self.misused("check", "f(x: f32[n]) -> f32[n]", "g", words=["'g'"])
        packages = ["--package", "p"] * 9
        self.misused("check", *packages, "f", words=["more than 8 packages"])
        self.misused("call", *packages, "f", words=["more than 8 packages"])

    def test_wrong_options(self):
        for name in SUBCOMMANDS:
            self.misused(name, "--wrong", words=["unknown option '--wrong'"])
            self.misused(name, "-z", words=["unknown option '-z'"])
        self.misused("call", "--pakage=p", words=["unknown option '--pakage=p'; did you mean "
                                                  "'--package'?"])
        self.misused("call", "--package", words=["--package needs a value"])
        self.misused("run", "-o", words=["-o needs a value"])
        self.misused("call", "--package", "p", "--param", "factor", "f",
                     words=["'factor' is not of the form NAME=VALUE"])

    def test_wrong_pairs(self):
        self.misused("dim", "n", "n", words=["'n' is not of the form NAME=INT"])
        self.misused("dim", "n", "2n=1", words=["'2n=1'"])
        self.misused("run", "p.fer", "image", words=["'image' is not of the form NAME=INPUT"])
        self.misused("call", "--package", "p", "f", "=x.npy", words=["'=x.npy'"])

    def test_double_dash_ends_the_options(self):
        self.assertEqual(self.succeeds("dim", "--", "-5 // 2"), "-3\n")
        self.assertEqual(self.succeeds("dim", "--", "-n", "n=-3"), "3\n")
        self.misused("dim", "-5 // 2", words=["after '--'"])

    def test_dim_values(self):
        self.assertEqual(self.succeeds("dim", "n + m", "n=1", "m=2"), "3\n")
        self.fails("VALUE", "dim", "n", "n=1", "n=2", words=["'n' is given twice"])
        self.fails("VALUE", "dim", "n", "n=x", words=["no integer"])
        self.fails("VALUE", "dim", "n", "n= 1", words=["no integer"])
        self.fails("VALUE", "dim", "n", "n=", words=["no integer"])
        self.fails("OVERFLOW", "dim", "n", "n=9223372036854775808", words=["outside int64"])
        self.fails("TYPE", "dim", "n + m", "n=1", words=["m"])

    def test_a_faulty_type_is_named(self):
        self.fails("VALUE", "infer", "f(x: f32[n]) -> f32[n]", "f32[", words=["'f32['", "column"])

    def test_a_name_alone_is_no_declaration(self):
        self.fails("VALUE", "check", "downsample", words=["downsample: ", "--package"])
        self.fails("VALUE", "infer", "downsample", "f32[2]", words=["downsample: ", "--package"])

    def test_infer_knows_the_kernels_of_packages(self):
        package = self.write("p/f.c", """#include <ferrule/kernel.h>
SIGNATURE(f, "(x: f32[n]) -> f32[n // 2]");
KERNEL(f, OUT(f32, 1, y), IN(f32, 1, x)) { this is not compiled }
KERNEL(g, OUT(f32, 1, y), IN(f32, 1, x)) { nor is this }
""").parent
        self.assertEqual(self.succeeds("infer", "--package", package, "f", "f32[2 * k]"), "f32[k]\n")
        self.assertEqual(self.succeeds("infer", "-p", "std", "-p", package, "matmul", "f32[2, n]",
                                       "f32[n, 3]"),
                         "f32[2, 3]\n")
        self.fails("VALUE", "infer", "--package", package, "h", "f32[2]", words=["h: ", "which has f, g"])
        self.fails("VALUE", "infer", "--package", package, "g", "f32[2]", words=["g: "])

    def test_a_faulty_environment(self):
        for text in ("two", "0", "17"):
            self.fails("VALUE", "dim", "n", words=["FERRULE_HOST_DEVICES", f"'{text}'", "1 to 16"],
                       env={**os.environ, "FERRULE_HOST_DEVICES": text})
        for text in ("", "2"):
            self.succeeds("dim", "n", env={**os.environ, "FERRULE_HOST_DEVICES": text})
        self.assertEqual(run("--version", env={"FERRULE_HOST_DEVICES": "two"}).code, 0)

    def test_a_full_disk_shows(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = subprocess.run([COMMAND, "dim", "n"], stdout=full, stderr=subprocess.PIPE,
                                     text=True, check=False)
        self.assertEqual(process.returncode, 1)
        self.assertTrue(process.stderr.startswith("ferrule: IO: "), process.stderr)

    def test_any_locale(self):
        for variable in ({}, {"LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8"}):
            environment = {"PATH": os.environ["PATH"], **variable}
            self.assertEqual(run("dim", "n*2//4", env=environment).out, "n // 2\n")


main()
