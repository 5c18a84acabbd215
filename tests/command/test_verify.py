"""`ferrule verify`: every kind of fault is found on its line, and where there is none nothing is said.

`test_verify.py COMMAND all` verifies the whole standard package, which takes minutes."""
import os
import re
import shlex
import sys

from support import SOURCE, CommandTest, main, run, write_npy

FAULTY = SOURCE / "tests" / "kernels" / "faulty"
STANDARD = SOURCE / "kernels"
SOME = ["conv2d", "histogram"]  # each had a fault
ALL = "all" in sys.argv and (sys.argv.remove("all") or True)

MARK = re.compile(r"/\* fault: (.*?) \*/")
FAULT = re.compile(r"^  (.*?):(\d+): ([^:]*): ")


def marked_faults():
    """{kernel: {(file, line, kind)}} as the sources say, and {} for kernels without."""
    found = {}
    for path in sorted(FAULTY.glob("*.c")):
        kernel = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in re.findall(r"^(?:SIGNATURE|KERNEL|MAP)\((\w+)", line):
                kernel = name
                found.setdefault(kernel, set())
            for kind in MARK.findall(line):
                found[kernel].add((str(path), number, kind))
    return found


def read(printed):
    """What verify printed: {kernel: (the rest of its line, [fault], [command])}."""
    kernels, current = {}, None
    for line in printed.splitlines():
        if not line.startswith(" "):
            name, rest = line.split(": ", 1)
            current = kernels.setdefault(name, (rest, [], []))
        elif match := FAULT.match(line):
            current[1].append((match[1], int(match[2]), match[3]))
        elif line.startswith("    ferrule verify "):
            current[2].append(line.strip())
    return kernels


class Faults(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.result = run("verify", "--timeout", "2", FAULTY, timeout=280)
        cls.kernels = read(cls.result.out)

    def test_each_is_found_on_its_line_and_no_other(self):
        self.assertEqual((self.result.code, self.result.err), (1, ""))
        marked = marked_faults()
        self.assertEqual(set(self.kernels), set(marked))
        kinds = set()
        for name, faults in marked.items():
            found = self.kernels[name][1]
            self.assertEqual(set(found), faults, f"{name}\n{self.result.out}")
            self.assertEqual(len(found), len(faults), name)
            kinds |= {kind for _, _, kind in faults}
        self.assertEqual(kinds, {"out of bounds", "not written", "operand written",
                                 "different bits", "undefined behaviour", "crash", "endless",
                                 "wrong extent", "does not compile"})

    def test_a_fault_can_be_made_again(self):
        for name in ("reads_before", "shifts", "counts_threads", "leaves"):
            _, faults, commands = self.kernels[name]
            self.assertEqual(len(commands), 1, name)
            words = shlex.split(commands[0])[1:]
            again = run(*words)
            self.assertEqual((again.code, again.err), (1, ""), words)
            self.assertEqual(read(again.out)[name][1], faults)
            self.assertIn("1 fault in 1 case\n", again.out)

    def test_words(self):
        """What, of which tensor, at which sizes."""
        for words in ("reads element -1 of 'x', which has 192\n    with x: i64[64, 3]; small values",
                      "AT with index 5 on axis 1 of 'x', whose extent is 5",
                      "writes byte 64 of a SCRATCH of 64 bytes",
                      "element [0, 0] of 'rest', of 1\n",
                      "writes element 0 of 'x', which is not INOUT",
                      "two runs do not agree on element [0] of 'y'",
                      "1 and 4 threads do not agree on element [0] of 'y' and 70000 more",
                      "with by = 3; x: i32[",
                      "it has not ended after 2 s of work",
                      "SHAPE stores -1 as EXTENT(k)"):
            self.assertIn(words, self.result.out)

    def test_a_refusal_is_no_fault(self):
        self.assertRegex(self.kernels["refuses_all"][0],
                         r"^\d+ cases, every one refused: \d+ elements are not what I like$")
        self.assertRegex(self.kernels["is_good"][0], r"^\d+ cases, \d+ refused$")

    def test_a_kernel_without_a_signature(self):
        self.assertRegex(self.kernels["has_no_signature"][0], r"^\d+ cases$")
        self.assertIn("not verified: none.c has no SIGNATURE",
                      self.result.out)
        name = "has_no_signature_either"
        self.fails("UNSUPPORTED", "verify", FAULTY, name, words=["give the declaration"])
        good = self.succeeds("verify", "--quick", FAULTY, f"{name}(x: f32[n]) -> f32[n]")
        self.assertRegex(good, rf"^{name}: \d+ cases\n$")
        bad = run("verify", "--quick", FAULTY, f"{name}(x: f32[n]) -> f32[n + 1]")
        self.assertEqual({kind for _, _, kind in read(bad.out)[name][1]}, {"out of bounds"})

    def test_other_builds_are_kept_apart(self):
        """What was built for verifying serves no call, and the other way round."""
        environment = {**os.environ, "FERRULE_CACHE_DIR": str(self.folder), "FERRULE_LOG": "compile"}
        x = write_npy(self.folder / "x.npy", "<i4", (1, 1), [3])
        verify = ["verify", "--quick", FAULTY, "aborts"]
        call = ["call", "--package", FAULTY, "aborts", f"x={x}"]
        for arguments, num_compiles in (verify, 1), (call, 1), (call, 0), (verify, 0):
            said = run(*arguments, env=environment).err
            self.assertEqual(said.count("compiled in"), num_compiles, said)


class Standard(CommandTest):
    def test_has_no_fault(self):
        names = SOME if not ALL else [None]
        for name in names:
            arguments = [name] if name is not None else []
            quick = [] if ALL else ["--quick"]
            result = run("verify", *quick, STANDARD, *arguments, timeout=3600)
            self.assertEqual((result.code, result.err), (0, ""), result.out)
            self.assertNotIn("every one refused", result.out)


class Usage(CommandTest):
    def test_misuse(self):
        self.misused("verify", words=["PACKAGE is missing"])
        self.misused("verify", "a", "b", "c", words=["'c' is too many"])
        self.misused("verify", "--case", "1", "a", words=["--case needs a KERNEL"])
        self.misused("verify", "--case", "-1", "a", "b", words=["--case takes a number, not '-1'"])
        self.misused("verify", "--timeout", "0", "a", words=["--timeout takes a number, not '0'"])
        self.misused("verify", "--timeout", "1s", "a", words=["not '1s'"])
        self.misused("verify", "--fast", "a", words=["unknown option '--fast'"])

    def test_what_is_not_there(self):
        self.fails("IO", "verify", self.folder / "nowhere", words=["nowhere"])
        self.write("own/kernels.c", '#include <ferrule/kernel.h>\n'
                   'SIGNATURE(halve, "(x: f32[n]) -> f32[n]");\n'
                   "MAP(halve, f32, IN(f32, x)) { return x / 2; }\n")
        own = self.folder / "own"
        self.fails("VALUE", "verify", own, "halves", words=["did you mean 'halve'?"])
        self.fails("VALUE", "verify", "--quick", "--case", "100000", own, "halve",
                   words=["there is no case 100000"])
        self.fails("VALUE", "verify", own, "halve(x: f32[n]) ->", words=["column"])
        self.assertRegex(self.succeeds("verify", own), r"^halve: \d+ cases\n$")
        self.assertEqual(self.succeeds("verify", own, "halve", "--case", "3"), "halve: 1 case\n")

    def test_sizes_that_are_not_found(self):
        self.write("own/kernels.c", '#include <ferrule/kernel.h>\n'
                   'SIGNATURE(odd, "(x: f32[n]) -> f32[n] where n % 2 == 1, n % 4 == 0");\n'
                   "MAP(odd, f32, IN(f32, x)) { return x; }\n")
        self.assertEqual(self.succeeds("verify", self.folder / "own"),
                         "odd: 0 cases: no sizes were found that its declaration allows\n")

    def test_a_declaration_that_disagrees(self):
        self.write("own/kernels.c", '#include <ferrule/kernel.h>\n'
                   'SIGNATURE(halve, "(x: f64[n]) -> f32[n]");\n'
                   "MAP(halve, f32, IN(f32, x)) { return x / 2; }\n"
                   'SIGNATURE(same, "(x: f64[n]) -> f64[n]");\n'
                   "MAP(same, f64, IN(f64, x)) { return x; }\n")
        result = run("verify", "--quick", self.folder / "own")
        self.assertEqual((result.code, result.err), (1, ""))
        self.assertRegex(result.out, r"^halve: TYPE: .*\nsame: \d+ cases\n$")


main()
