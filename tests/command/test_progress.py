"""On a terminal, a slow compile is shown and cleared; elsewhere nothing is written."""
import os
import pty
import subprocess

from support import COMMAND, CommandTest, main, write_npy

KERNEL = """#include <ferrule/kernel.h>
SIGNATURE(slow, "(x: f32[n]) -> f32[n]");

MAP(slow, f32, IN(f32, x))
{
    return x + 1;
}
"""


class Progress(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("package/slow.c", KERNEL)
        self.x = write_npy(self.folder / "x.npy", "<f4", (1,), [1])
        compiler = self.write("slow-cc", '#!/bin/sh\nsleep 1.5\nexec cc "$@"\n')
        compiler.chmod(0o755)
        self.environment = {**os.environ, "FERRULE_CC": str(compiler),
                            "FERRULE_CACHE_DIR": str(self.folder / "cache")}

    def call(self, stderr):
        return subprocess.run([COMMAND, "call", "--package", self.folder / "package", "slow",
                               f"x={self.x}"], stdout=subprocess.PIPE, stderr=stderr, text=True,
                              env=self.environment, check=False)

    def call_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = self.call(theirs)
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # what a terminal without another end gives
                break
            if not part:
                break
            shown += part
        os.close(ours)
        self.assertEqual(process.returncode, 0, shown)
        self.assertIn("[2]", process.stdout)
        return shown.decode()

    def test_on_a_terminal(self):
        shown = self.call_on_a_terminal()
        self.assertRegex(shown, r"^\rcompiling slow.* \.\.\. [0-9]+ s\rcompiling slow.* \.\.\. [0-9]+ s")
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown))
        # From the cache nothing compiles, so there is nothing to show.
        self.assertEqual(self.call_on_a_terminal(), "")

    def test_elsewhere(self):
        process = self.call(subprocess.PIPE)
        self.assertEqual((process.returncode, process.stderr), (0, ""))


main()
