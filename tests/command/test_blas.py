"""The package `blas` by the command, and what it says where OpenBLAS is not there or has threads."""
import os
import subprocess

from support import CommandTest, dense, main, read_npy, run, write_npy

HAS_OPENBLAS = "pthread" in subprocess.run(
    ["pkg-config", "--variable=libdir", "openblas"], capture_output=True, text=True).stdout

PROGRAM = """use "blas"
use "std"

graph g(a: f64[m, k], b: f64[k, n]) -> f64[m, n] {
  c = matmul(a, b)
  y = relu(c)
  return y
}
"""

# All that the kernel needs of it.
PRETENDED_HEADER = """
enum { OPENBLAS_THREAD = 1, CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112 };
typedef int blasint;
static int openblas_get_parallel(void) { return PARALLEL; }
static int openblas_get_num_threads(void) { return THREADS; }
static void cblas_sgemm(int a, ...) { (void)a; }
static void cblas_dgemm(int a, ...) { (void)a; }
static void cblas_sgemv(int a, ...) { (void)a; }
static void cblas_dgemv(int a, ...) { (void)a; }
"""


class Blas(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self.a = self.folder / "a.npy"
        self.b = self.folder / "b.npy"
        write_npy(self.a, "<f8", (2, 3), [1, 2, 3, 4, 5, 6])
        write_npy(self.b, "<f8", (3, 2), [1, 0, 0, -1, 1, 1])

    def call(self, **environment):
        return run("call", "--package", "blas", "matmul", f"a={self.a}", f"b={self.b}",
                   env={**self.environment, **environment})

    def need_openblas(self):
        if not HAS_OPENBLAS:
            self.skipTest("OpenBLAS with POSIX threads is not installed (on Debian libopenblas-pthread-dev)")

    def test_a_call(self):
        self.need_openblas()
        result = self.call()
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertIn("[[4,1],[10,1]]", dense(result.out))

    def test_a_program_with_both_packages(self):
        self.need_openblas()
        write_npy(self.b, "<f8", (3, 2), [1, 0, 0, -1, 1, 0])
        program = self.write("p.fer", PROGRAM)
        y = self.folder / "y.npy"
        self.succeeds("run", program, f"a={self.a}", f"b={self.b}", "-o", y, env=self.environment)
        self.assertEqual(read_npy(y), ("<f8", (2, 2), [4, 0, 10, 0]))

    def test_no_fault_is_found(self):
        self.need_openblas()
        self.assertRegex(self.succeeds("verify", "--quick", "blas", env=self.environment),
                         r"^matmul: \d+ cases\n$")

    def test_it_says_what_to_install(self):
        result = self.call(PKG_CONFIG_LIBDIR=str(self.folder), PKG_CONFIG_PATH="")
        self.assertEqual(result.code, 1)
        self.assertIn("blas/package.ini:2: pkg-config does not know all that it is asked for; "
                      "install OpenBLAS with POSIX threads (on Debian: apt install "
                      "libopenblas-pthread-dev), or", result.err)

    def test_threads_of_its_own_are_refused(self):
        self.write("cblas.h", PRETENDED_HEADER)
        for parallel, threads, said in [(0, 1, "with POSIX threads"), (1, 1, None),
                                        (1, 2, "threads of its own"), (2, 1, "with POSIX threads")]:
            self.write("openblas.pc", "Name: openblas\nDescription: pretended\nVersion: 1\n"
                       f"Cflags: -I{self.folder} -DPARALLEL={parallel} -DTHREADS={threads}\n")
            result = self.call(PKG_CONFIG_LIBDIR=str(self.folder), PKG_CONFIG_PATH="")
            self.assertEqual(result.code, int(said is not None), result.err)
            if said is not None:
                self.assertIn("RUNTIME: matmul: ", result.err)
                self.assertIn(said, result.err)


main()
