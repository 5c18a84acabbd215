"""`ferrule cache`: where compiled kernels are kept, which, and what goes."""
import os

from support import CommandTest, main

KERNEL = """#include <ferrule/kernel.h>
SIGNATURE(scale, "<by: int = 3>(x: f32[]) -> f32[]");
PARAM(int, by, 3);
MAP(scale, f32, IN(f32, x)) { return x * (f32)by; }
"""


class Cache(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("own/kernels.c", KERNEL)
        self.root = self.folder / "cache"
        self.environment = {**os.environ, "FERRULE_CACHE_DIR": str(self.root)}
        self.environment.pop("FERRULE_CACHE_BYTES", None)

    def cache(self, *arguments, **variables):
        return self.succeeds("cache", *arguments, env={**self.environment, **variables})

    def compile(self, *values, **variables):
        for value in values:
            self.succeeds("call", "--package", self.folder / "own", "--param", f"by={value}",
                          "scale", "x=2", env={**self.environment, **variables})

    def files(self, kind):
        folder = self.root / kind
        return sorted(folder.iterdir()) if folder.exists() else []

    def listed(self):
        return [line.split("\t") for line in self.cache("list").splitlines()]

    def test_path(self):
        self.assertEqual(self.cache("path"), f"{self.root}\n")

    def test_an_empty_one(self):
        self.assertEqual(self.cache("list"), "")
        self.assertEqual(self.cache("clear"),
                         "removed 0 files of 0 bytes; 0 of 0 bytes stay\n")
        self.assertEqual(self.cache("verify"), "read 0 files, 0 were damaged\n")
        self.assertEqual(self.cache(), f"{self.root}\n0 compiled kernels, 0 files, 0 of at most "
                                       f"{512 << 20} bytes\n")

    def test_list(self):
        self.compile(2, 5)
        old = self.files("entries")[0]
        os.utime(old, (86400, 86400))
        rows = self.listed()
        self.assertEqual({row[4] for row in rows}, {"scale<by = 2>", "scale<by = 5>"})
        self.assertEqual({row[2] + ".so" for row in rows},
                         {path.name for path in self.files("entries")})
        self.assertEqual(rows[1][2] + ".so", old.name)
        self.assertTrue(rows[1][0].startswith("1970-01-0"), rows)
        for row in rows:
            self.assertEqual(int(row[1]), (self.root / "entries" / f"{row[2]}.so").stat().st_size)
            self.assertEqual(row[3], "-")
        self.assertIn("2 compiled kernels", self.cache())

    def test_a_kernel_that_no_manifest_names(self):
        self.compile(2)
        for path in self.files("manifests"):
            path.unlink()
        self.assertEqual([row[4] for row in self.listed()], ["?"])

    def test_the_bound(self):
        self.compile(2, 5)
        size = sum(path.stat().st_size for path in self.root.rglob("*") if path.is_file())
        first = min(self.files("entries"))
        os.utime(first, (86400, 86400))
        said = self.cache("prune", FERRULE_CACHE_BYTES=str(size - 1))
        self.assertTrue(said.startswith("removed 1 files of "), said)
        self.assertFalse(first.exists())
        self.assertTrue(self.cache("prune", FERRULE_CACHE_BYTES=str(size)).startswith("removed 0"))
        # A compile keeps to it by itself, and leaves what it has made itself.
        self.compile(7, FERRULE_CACHE_BYTES="0")
        self.assertEqual([row[4] for row in self.listed()], ["scale<by = 7>"])

    def test_a_wrong_bound(self):
        for value in ("many", "-1", "1.5M"):
            self.fails("VALUE", "cache", words=["FERRULE_CACHE_BYTES", value],
                       env={**self.environment, "FERRULE_CACHE_BYTES": value})

    def test_clear(self):
        self.compile(2, 5)
        other = self.write("cache/entries/notes.txt", "mine")
        self.assertTrue(self.cache("clear").endswith("; 0 of 0 bytes stay\n"))
        self.assertEqual(self.files("entries"), [other])
        self.assertEqual(self.files("manifests"), [])
        self.compile(2)
        self.assertEqual(len(self.listed()), 1)

    def test_verify(self):
        self.compile(2, 5)
        entry, manifest = self.files("entries")[0], self.files("manifests")[0]
        self.assertTrue(self.cache("verify").endswith(", 0 were damaged\n"))
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 1
        entry.write_bytes(data)
        manifest.write_bytes(manifest.read_bytes()[:-3])
        said = self.cache("verify")
        for path in (entry, manifest):
            self.assertIn(f"removed {path}, which was damaged\n", said)
            self.assertFalse(path.exists())
        self.assertTrue(said.endswith(", 2 were damaged\n"), said)
        self.assertTrue(self.cache("verify").endswith(", 0 were damaged\n"))
        self.compile(2, 5)
        self.assertEqual(len(self.listed()), 2)

    def test_wrong_usage(self):
        self.assertTrue(self.succeeds("cache", "--help").startswith("usage: ferrule cache "))
        self.misused("cache", "prune", "clear", words=["'clear' is too many"])
        self.misused("cache", "sweep", words=["there is no action 'sweep'"])
        self.misused("cache", "", words=["there is no action ''"])
        self.misused("cache", "lst", words=["there is no action 'lst'; did you mean 'list'?"])
        self.misused("cache", "--all", words=["unknown option '--all'"])


main()
