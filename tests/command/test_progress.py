"""On a terminal, a slow compile is shown and cleared; elsewhere nothing is written."""
import os
import pty
import subprocess
import time

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

    def start(self, stderr):
        return subprocess.Popen([COMMAND, "call", "--package", self.folder / "package", "slow",
                                 f"x={self.x}"], stdout=subprocess.PIPE, stderr=stderr, text=True,
                                env=self.environment)

    def start_on_a_terminal(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as reason:  # a container without /dev/pts
            self.skipTest(f"no terminal can be made: {reason}")
        self.addCleanup(os.close, ours)
        process = self.start(theirs)
        os.close(theirs)
        return process, ours

    def end(self, process):
        """What it says on the standard error, where that is a pipe."""
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("[2]", out)
        return err

    @staticmethod
    def read(terminal, until=None):
        """What is shown up to some words, or to the end."""
        shown = b""
        while until is None or until not in shown:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # what a terminal without another end gives
                break
            if not part:
                break
            shown += part
        return shown.decode()

    def call_on_a_terminal(self):
        process, terminal = self.start_on_a_terminal()
        shown = self.read(terminal)
        self.end(process)
        return shown

    def test_on_a_terminal(self):
        shown = self.call_on_a_terminal()
        self.assertRegex(shown, r"^\rcompiling slow.* \.\.\. [0-9]+ s\rcompiling slow.* \.\.\. [0-9]+ s")
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown))
        # From the cache nothing compiles, so there is nothing to show.
        self.assertEqual(self.call_on_a_terminal(), "")

    def test_another_process_compiles(self):
        """Its end is waited for, and that is shown."""
        self.environment["FERRULE_CC"] = str(self.write(
            "waiting-cc", f"#!/bin/sh\n[ $1 = --version ] || touch '{self.folder}/has started'\n"
            f"until [ $1 = --version ] || [ -e '{self.folder}/may go' ]; do sleep 0.02; done\n"
            'exec cc "$@"\n'))
        os.chmod(self.folder / "waiting-cc", 0o755)
        other = self.start(subprocess.PIPE)
        while not (self.folder / "has started").exists():
            self.assertIsNone(other.poll())
            time.sleep(0.02)
        process, terminal = self.start_on_a_terminal()
        self.assertRegex(self.read(terminal, b" s"),
                         r"^\rcompiling slow \(by another process\) \.\.\. [0-9]+ s")
        self.write("may go", "")
        self.assertTrue(self.read(terminal).endswith("\r\x1b[K"))
        self.end(process)
        self.assertEqual(self.end(other), "")

    def test_elsewhere(self):
        self.assertEqual(self.end(self.start(subprocess.PIPE)), "")


main()
