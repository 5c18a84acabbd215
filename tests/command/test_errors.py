"""The examples of the documents: each command that a page shows prints what the page says.

A block whose lines begin with `$ ` holds commands for the shell. The lines below a command, up to the
next one, are all that it prints; one that ends in an error leaves with the error's exit code. In what
a compiler says, `...` stands for any text. The folder that a page is run in is called /project; a
block behind a line that is only a file's name is that file."""
import doctest
import os
import re
import subprocess

from support import COMMAND, SOURCE, CommandTest, main, write_png

DOCS = SOURCE / "docs"
PAGES = {"command.md", "errors.md", "signatures.md", "standard.md", "tutorial.md", "verify.md"}
KINDS = {"TYPE", "VALUE", "ZERO_DIVISION", "OVERFLOW", "IO", "COMPILE", "RUNTIME", "UNSUPPORTED"}
BLOCK = re.compile(r"^```.*\n((?:.*\n)*?)```$", re.MULTILINE)
NAMED_BLOCK = re.compile(r"^`([^`\n]+)`:\n\n```.*\n((?:.*\n)*?)```$", re.MULTILINE)


def examples_of(page):
    """The commands of a page, each with what it is said to print."""
    for block in BLOCK.findall(page):
        before, *examples = re.split(r"^\$ ", block, flags=re.MULTILINE)
        if examples and before:
            raise AssertionError(f"something stands before the first command: {block}")
        yield from (example.split("\n", 1) for example in examples)


def exit_code(shown):
    if re.search(r"^ferrule: [A-Z_]+: |^\w+: \d+ faults? in ", shown, re.MULTILINE):
        return 1
    return 2 if "\nusage: ferrule " in shown else 0


def is_as_shown(shown, printed):
    if shown.startswith("ferrule: COMPILE: "):
        return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)
    return shown == printed


class Documents(CommandTest):
    def setUp(self):
        super().setUp()
        self.folder = self.folder.resolve()
        self.assertEqual(os.path.basename(COMMAND), "ferrule")
        path = os.pathsep.join([os.path.dirname(COMMAND), os.environ["PATH"]])
        self.environment = {**os.environ, "PATH": path, "LC_ALL": "C"}

    def run_example(self, command, shown):
        process = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, encoding="utf-8",
                                 timeout=120, check=False)
        printed = process.stdout.replace(str(self.folder), "/project")
        with self.subTest(command=command):
            self.assertTrue(is_as_shown(shown, printed), f"\nshown:\n{shown}\nprinted:\n{printed}")
            self.assertEqual(process.returncode, exit_code(shown))

    def run_page(self, name):
        """Runs all examples of a page; gives the kinds of the errors among them."""
        page = (DOCS / name).read_text(encoding="utf-8")
        for path, text in NAMED_BLOCK.findall(page):
            self.write(path, text)
        examples = list(examples_of(page))
        for command, shown in examples:
            self.run_example(command, shown)
        errors = re.findall(r"^ferrule: (\w+): ", page, re.MULTILINE)
        found = [re.findall(r"^ferrule: (\w+): ", shown, re.MULTILINE) for _, shown in examples]
        self.assertEqual(len(examples), len(re.findall(r"^\s*\$ ", page, re.MULTILINE)))
        self.assertEqual(sum(found, []), errors)
        return set(errors)

    def test_errors(self):
        self.assertEqual(self.run_page("errors.md"), KINDS)

    def test_command(self):
        self.run_page("command.md")

    def test_nothing_of_the_command_is_left_out(self):
        page = (DOCS / "command.md").read_text(encoding="utf-8")
        manual = (SOURCE / "man" / "ferrule.1").read_text(encoding="utf-8")
        for name in re.findall(r"(?m)^  ([a-z]+)  ", self.succeeds("--help")):
            section = re.search(rf"(?ms)^### {name}$(.*?)^##", page)
            self.assertIsNotNone(section, name)
            for option in re.findall(r"--[a-z]+", self.succeeds(name, "--help").splitlines()[0]):
                self.assertIn(option, section[1], name)
        read = {name for path in SOURCE.glob("src/**/*.c")
                for name in re.findall(r'getenv\("(\w+)"\)', path.read_text(encoding="utf-8"))}
        self.assertIn("FERRULE_LOG", read)
        for name in read - {"PATH"}:
            self.assertIn(f"`{name}`", page)
            self.assertRegex(manual, rf"\b{name}\b")

    def test_signatures(self):
        self.run_page("signatures.md")

    def test_standard(self):
        self.run_page("standard.md")

    def test_verify(self):
        """Each block that names a file is written before the commands behind it run."""
        page = (DOCS / "verify.md").read_text(encoding="utf-8")
        page, checked = re.split(r"(?m)^(?=## In a run of your own$)", page)
        for path, text in NAMED_BLOCK.findall(checked):
            self.write(path, text)
        for example in examples_of(checked):
            self.run_example(*example)
        (self.folder / "kernels" / "steps.c").unlink()
        parts = re.split(r"(?m)^(?=.*`kernels/smooth\.c`:$)", page)
        self.assertEqual(len(parts), 4)
        for part in parts[1:]:
            (kernel,) = [text for text in BLOCK.findall(part) if "KERNEL(smooth" in text]
            self.write("kernels/smooth.c", kernel)
            examples = list(examples_of(part))
            self.assertEqual(len(examples), 1)
            self.run_example(*examples[0])

    def test_tutorial(self):
        page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
        blocks = BLOCK.findall(page)
        kernel = [text for text in blocks if "KERNEL(downsample" in text][0]
        program = [text for text in blocks if text.startswith("use ")][0]
        self.write("kernels/downsample.c", kernel)
        self.write("thumbnail.fer", program)
        write_png(self.folder / "coffee.png", 3, 8, 3, range(72))
        self.run_page("tutorial.md")
        self.assertTrue((self.folder / "half.png").exists())
        self.assertTrue((self.folder / "quarter.png").exists())

    def test_no_other_page_has_examples(self):
        pages = {path.name for path in DOCS.glob("*.md")
                 if re.search(r"^\s*\$ .*\bferrule ", path.read_text(encoding="utf-8"), re.MULTILINE)}
        self.assertEqual(pages, PAGES)


main()
