"""The examples of packages in other languages, each built by its compiler: what they compute, and
what they refuse.

Run as `test_languages.py COMMAND LANGUAGE`. Exit code 77 says that the compiler is not there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LANGUAGE = sys.argv.pop(2)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "command"))

from support import SOURCE, CommandTest, dense  # noqa: E402

EXAMPLES = SOURCE / "examples" / "languages"
COMPILERS = {"cpp": ("CXX", "g++"), "fortran": ("FC", "gfortran"),
             "rust": ("RUSTC", "rustc")}
VARIABLE, DEFAULT = COMPILERS[LANGUAGE]
COMPILER = os.environ.get(VARIABLE) or DEFAULT
NUMBERS = """
graph a() { c = constant f64[2, 2] [2, 1, 0, 4] return c }
graph b() { c = constant f64[2] [4, 8] return c }
graph singular() { c = constant f64[2, 2] [1, 2, 2, 4] return c }
graph none() { c = constant f64[0, 0] [] return c }
graph nothing() { c = constant f64[0] [] return c }
graph repeated() { c = constant i64[6] [5, 5, 7, 7, 7, 5] return c }
graph empty() { c = constant i64[0] [] return c }
graph rows() { c = constant f32[2, 3] [1, 7, 3, 9, 8, 5] return c }
"""


def can_compile():
    """Whether there is a compiler that runs: a wrapper may stand for one that is not there."""
    if shutil.which(COMPILER) is None:
        return False
    return subprocess.run([COMPILER, "--version"], capture_output=True, check=False).returncode == 0


class LanguageTest(CommandTest):
    """A test of one example, `SOURCE_FILE`, which is built once for all."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.package = pathlib.Path(folder.name) / (pathlib.Path(cls.SOURCE_FILE).stem + ".so")
        subprocess.run([COMPILER, *cls.OPTIONS, EXAMPLES / cls.SOURCE_FILE, "-o", cls.package],
                       check=True, cwd=folder.name)

    def setUp(self):
        super().setUp()
        self.write("numbers.fer", NUMBERS)

    def array(self, graph):
        path = self.folder / f"{graph}.npy"
        self.succeeds("run", self.folder / "numbers.fer", "--graph", graph, "-o", path)
        return path


@unittest.skipIf(LANGUAGE != "cpp", "another language")
class CppTest(LanguageTest):
    SOURCE_FILE = "median.cpp"
    OPTIONS = ("-shared", "-fPIC", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Wpedantic",
               "-Werror", "-fvisibility=hidden", f"-I{SOURCE / 'include'}")

    def test_it_is_listed_with_its_declaration(self):
        self.assertIn("median<T: f32|f64>(x: T[*s, n]) -> T[*s] where n > 0\t",
                      self.succeeds("list", self.package))

    def test_each_dtype_has_its_entry(self):
        out = self.succeeds("call", "median", "--package", self.package,
                            f"x={self.array('rows')}")
        self.assertEqual(dense(out), "f32[2][3,8]")
        out = self.succeeds("call", "median", "--package", self.package, f"x={self.array('a')}")
        self.assertEqual(dense(out), "f64[2][1,0]")

    def test_what_it_was_not_compiled_for(self):
        self.fails("VALUE", "call", "--package", self.package,
                   "median<T: i32|i64>(x: T[n]) -> T[]", f"x={self.array('rows')}",
                   words=["median<T = i32>", "has no entry for it, but <T = f32>, <T = f64>"])
        self.fails("VALUE", "call", "median", "--package", self.package,
                   f"x={self.array('nothing')}", words=["condition 'n > 0' is false with n = 0"])

    def test_a_program_uses_it(self):
        shutil.copy(self.package, self.folder)
        program = self.write("p.fer", f'use "{self.package.name}"\n'
                             "graph g(x: f32[h, w]) -> f32[h] { m = median(x) return m }\n")
        out = self.succeeds("run", program, f"x={self.array('rows')}")
        self.assertEqual(dense(out), "m:f32[2][3,8]")


@unittest.skipIf(LANGUAGE != "fortran", "another language")
class FortranTest(LanguageTest):
    SOURCE_FILE = "solve.f90"
    OPTIONS = ("-shared", "-fPIC", "-std=f2018", "-O2")

    def solve(self, a, b):
        return ("call", "solve", "--package", self.package, f"a={self.array(a)}",
                f"b={self.array(b)}")

    def test_it_is_listed_with_its_declaration(self):
        self.assertEqual(self.succeeds("list", self.package),
                         "solve(a: f64[n, n], b: f64[n]) -> f64[n]\tsolve.so\n")

    def test_rows_are_rows(self):
        self.assertEqual(dense(self.succeeds(*self.solve("a", "b"))), "f64[2][1,2]")
        self.assertEqual(dense(self.succeeds(*self.solve("none", "nothing"))), "f64[0][]")

    def test_its_failure_reaches_the_caller(self):
        self.fails("RUNTIME", *self.solve("singular", "b"), words=["solve: the matrix is singular"])

    def test_what_it_refuses(self):
        self.fails("VALUE", *self.solve("a", "nothing"), words=["solve: operand 'b' axis 0 is 0"])
        self.fails("TYPE", "check", "--package", self.package,
                   "solve(a: f32[n, n], b: f64[n]) -> f64[n]",
                   words=["the KERNEL line disagrees: 'a' is f64, but operand 'a' is declared f32"])


@unittest.skipIf(LANGUAGE != "rust", "another language")
class RustTest(LanguageTest):
    SOURCE_FILE = "dedup.rs"
    OPTIONS = ("--edition", "2021", "-O", "-C", "panic=abort", "-C", "strip=symbols",
               "--crate-type", "cdylib")

    def test_it_is_listed_with_its_declaration(self):
        self.assertEqual(self.succeeds("list", self.package),
                         "dedup(x: i64[n]) -> i64[kept]\tdedup.rs\n")

    def test_its_shape_function_makes_the_result(self):
        for graph, result in (("repeated", "i64[3][5,7,5]"), ("empty", "i64[0][]")):
            self.assertEqual(dense(self.succeeds("call", "dedup", "--package", self.package,
                                                 f"x={self.array(graph)}")), result)

    def test_what_it_refuses(self):
        self.fails("TYPE", "check", "--package", self.package, "dedup(x: i32[n]) -> i64[kept]",
                   words=["the KERNEL line (dedup.rs) disagrees: 'x' is i64"])


if __name__ == "__main__":
    if not can_compile():
        print(f"skipped: there is no {COMPILER}")
        sys.exit(77)
    unittest.main()
