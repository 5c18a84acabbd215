"""test_install.py SOURCE BUILD CMAKE CC: installs what was built, moves it, and builds on it from outside.

The prefix is moved after installing, so whatever works here works from relative paths alone."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
CMAKE, CC = sys.argv[3:5]
del sys.argv[1:]
CXX = next(filter(shutil.which, ["clang++" if "clang" in CC else "g++", "c++"]), None)
CPACK = pathlib.Path(CMAKE).with_name("cpack")
CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
SUMS = "11 22 33"


def run(*command, **options):
    """What the command printed; an error with all of it when it failed."""
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                             timeout=200, stdin=subprocess.DEVNULL, **options)
    if process.returncode != 0:
        raise AssertionError(f"{command} gave {process.returncode}:\n{process.stdout}\n"
                             f"{process.stderr}")
    return process.stdout


def environment(**changes):
    kept = {name: value for name, value in os.environ.items()
            if name not in ("FERRULE_STD", "XDG_DATA_DIRS", "LD_LIBRARY_PATH", "DESTDIR")}
    return {**kept, **{name: str(value) for name, value in changes.items()}}


def setUpModule():
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    Installed.folder = pathlib.Path(folder.name).resolve()
    Installed.first = Installed.folder / "first prefix"
    run(CMAKE, "--install", BUILD, "--prefix", Installed.first, env=environment())
    Installed.prefix = Installed.folder / "moved" / "prefix"
    Installed.prefix.parent.mkdir()
    Installed.first.rename(Installed.prefix)
    Installed.lib = next(Installed.prefix.rglob("libferrule.a")).parent
    Installed.kernels = Installed.prefix / "share" / "ferrule" / "kernels"
    Installed.command = Installed.prefix / "bin" / "ferrule"


class Installed(unittest.TestCase):
    """`first` is the prefix that was installed to, `prefix` where it is now."""

    def pkg_config(self, *arguments):
        return run("pkg-config", *arguments,
                   env=environment(PKG_CONFIG_PATH=self.lib / "pkgconfig")).split()

    def adds(self, program, kernels, **changes):
        lines = run(program, cwd="/", env=environment(**changes)).splitlines()
        self.assertEqual(lines, [str(kernels), SUMS], program)


class Files(Installed):
    def test_everything_is_there(self):
        for path in ["include/ferrule/ferrule.h", "include/ferrule/kernel.h",
                     "include/ferrule/abi.h", "bin/ferrule", "share/ferrule/kernels/add.c",
                     "share/ferrule/kernels/std.h", "share/ferrule/kernels/blas/package.ini",
                     "share/doc/ferrule/LICENSE", "share/man/man1/ferrule.1",
                     "share/bash-completion/completions/ferrule",
                     "share/fish/vendor_completions.d/ferrule.fish"]:
            self.assertTrue((self.prefix / path).is_file(), path)
        self.assertEqual(len(list(self.prefix.rglob("zsh/*/_ferrule"))), 1)
        for ours, installed in [(SOURCE / "include" / "ferrule", "include/ferrule"),
                                (SOURCE / "kernels", "share/ferrule/kernels")]:
            self.assertEqual(sorted(os.listdir(self.prefix / installed)), sorted(os.listdir(ours)))

    def test_the_shared_library_has_a_versioned_name(self):
        version = run(self.command, "--version").split()[1]
        link = self.lib / "libferrule.so"
        self.assertEqual(link.resolve().name, f"libferrule.so.{version}")
        name = os.readlink(link)
        self.assertRegex(name, r"^libferrule\.so\.(0\.\d+|[1-9]\d*)$")
        if shutil.which("readelf") is None:
            self.skipTest("readelf is not installed")
        self.assertIn(f"soname: [{name}]", run("readelf", "-d", link))

    def test_no_file_holds_a_path_of_this_machine(self):
        paths = [os.fsencode(path) for path in (SOURCE, BUILD, self.first, self.folder)]
        num_read = 0
        for path in self.prefix.rglob("*"):
            if not path.is_file() or path.is_symlink():
                continue
            data = self.without_debugging(path).read_bytes()
            num_read += 1
            for machine_path in paths:
                self.assertFalse(machine_path in data, f"{path} holds {machine_path}")
        self.assertGreater(num_read, 20)

    def without_debugging(self, path):
        """A debug build names its sources for the debugger."""
        if not path.read_bytes().startswith((b"!<arch>\n", b"\x7fELF")):
            return path
        stripped = self.folder / "stripped"
        run("strip", "--strip-debug", "-o", stripped, path)
        return stripped


class Command(Installed):
    def test_it_finds_the_standard_package_beside_itself(self):
        (self.folder / "links").mkdir()
        link = self.folder / "links" / "linked"
        link.symlink_to(self.command)
        for name, path in [("ferrule", self.command.parent), ("linked", link.parent)]:
            listed = run(name, "list", "std", cwd=self.folder,
                         env=environment(PATH=f"{path}{os.pathsep}{os.environ['PATH']}"))
            self.assertIn("add.c:", listed)
        self.assertIn("add#", run(self.command, "check", "--package", "std", "add", cwd="/",
                                  env=environment()))

    def test_the_manual_describes_it(self):
        page = self.prefix / "share" / "man" / "man1" / "ferrule.1"
        text = page.read_text(encoding="utf-8").replace("\\-", "-")
        commands = re.findall(r"(?m)^  ([a-z]+)  ", run(self.command, "--help"))
        self.assertIn("show", commands)
        for name in commands:
            entry = re.search(rf"(?ms)^\.Cm {name}$(.*?)(^\.Cm [a-z]+$|^\.Sh )", text)
            self.assertIsNotNone(entry, f"the manual does not describe '{name}'")
            usage = run(self.command, name, "--help").splitlines()[0]
            for option in re.findall(r"--([a-z-]+)", usage):
                self.assertIn(f"-{option}", entry.group(1), f"{name} --{option}")

    def test_the_manual_is_well_formed(self):
        page = self.prefix / "share" / "man" / "man1" / "ferrule.1"
        judges = [judge for judge in (["mandoc", "-Tlint", "-Wwarning"], ["man", "--warnings", "-l"])
                  if shutil.which(judge[0])]
        if not judges:
            self.skipTest("neither mandoc nor man is installed")
        for judge in judges:
            process = subprocess.run([*judge, page], capture_output=True, text=True,
                                     env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "100"})
            self.assertEqual((process.returncode, process.stderr), (0, ""))
            if judge[0] == "mandoc":
                self.assertEqual(process.stdout, "")


class Completion(Installed):
    BASH = r"""
        . "$1"
        compopt() { :; }
        try() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _ferrule "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[*]}"
        }
        program=$2
        try ferrule sh
        try ferrule show --d
        try ferrule check --package st
        try ferrule run ''
    """

    def test_bash(self):
        if shutil.which("bash") is None:
            self.skipTest("bash is not installed")
        here = self.folder / "here"
        here.mkdir()
        for name in ("a.fer", "a b.fer", "c.npy"):
            (here / name).touch()
        script = self.prefix / "share" / "bash-completion" / "completions" / "ferrule"
        self.assertEqual(run("bash", "-c", self.BASH, "bash", script, self.command,
                             cwd=here).splitlines(),
                         ["show", "--dot", "std", "a b.fer a.fer"])

    def test_other_shells_read_theirs(self):
        share = self.prefix / "share"
        zsh = next((share / "zsh").rglob("_ferrule"))
        fish = share / "fish" / "vendor_completions.d" / "ferrule.fish"
        shells = [words for words in (["zsh", "-n", zsh], ["fish", "--no-execute", fish])
                  if shutil.which(words[0])]
        if not shells:
            self.skipTest("neither zsh nor fish is installed")
        for words in shells:
            run(*words)


class Consumers(Installed):
    def test_find_package(self):
        languages = ["C", "CXX"] if CXX else ["C"]
        compilers = [f"-DCMAKE_CXX_COMPILER={CXX}"] if CXX else []
        build = self.folder / "consumer"
        run(CMAKE, "-S", CONSUMER, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_C_COMPILER={CC}", *compilers, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCONSUMER_LANGUAGES={';'.join(languages)}", env=environment())
        run(CMAKE, "--build", build)
        for language in languages:
            self.adds(build / f"{language}_shared", self.kernels)
            self.adds(build / f"{language}_static", self.kernels, FERRULE_STD=self.kernels)

    def test_pkg_config(self):
        self.assertEqual(self.pkg_config("--modversion", "ferrule"),
                         self.pkg_config("--modversion", "ferrule-static"))
        self.assertEqual(os.path.normpath(*self.pkg_config("--variable=kernels", "ferrule")),
                         str(self.kernels))
        self.assertLessEqual({"-lferrule", "-lb2", "-lxxhash"},
                             set(self.pkg_config("--static", "--libs", "ferrule")))
        compilers = [(CC, "consumer.c", "-std=c11")]
        if CXX:
            compilers.append((CXX, "consumer.cpp", "-std=c++17"))
        for compiler, source, standard in compilers:
            for name in ("ferrule", "ferrule-static"):
                program = self.folder / name
                run(compiler, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                    CONSUMER / source, "-o", program, *self.pkg_config("--cflags", "--libs", name))
                if name == "ferrule":
                    self.adds(program, self.kernels, LD_LIBRARY_PATH=self.lib)
                else:
                    self.finds_the_standard_package(program)

    def finds_the_standard_package(self, program):
        """A program that has the library in itself: beside itself, or where it is told."""
        self.adds(program, self.kernels, XDG_DATA_DIRS=f"relative:/none:{self.prefix / 'share'}")
        with self.assertRaisesRegex(AssertionError, "not found; set FERRULE_STD"):
            self.adds(program, self.kernels, XDG_DATA_DIRS="/none")
        beside = self.prefix / "bin" / "consumer"
        program.rename(beside)
        self.addCleanup(beside.unlink, missing_ok=True)
        self.adds(beside, self.kernels, XDG_DATA_DIRS="/none")


class DebianPackage(Installed):
    @classmethod
    def setUpClass(cls):
        for tool in ("dpkg-deb", "dpkg-shlibdeps"):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"{tool} is not installed")
        packages = cls.folder / "packages"
        run(CPACK, "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", packages,
            env=environment(), umask=0o022)
        cls.package, = packages.glob("*.deb")

    def test_what_it_says(self):
        fields = dict(re.findall(r"(?m)^ ([\w-]+): (.*)$", run("dpkg-deb", "-I", self.package)))
        self.assertEqual(fields["Package"], "ferrule")
        self.assertEqual(fields["Version"], run(self.command, "--version").split()[1])
        for library in ("libc6", "libb2-", "libxxhash", "libpng16"):
            self.assertRegex(fields["Depends"], rf"(^|, ){library}")
        self.assertIn("gcc | c-compiler", fields["Recommends"].split(", "))

    def test_what_it_holds(self):
        root = self.folder / "root"
        run("dpkg-deb", "-x", self.package, root)

        def held(prefix):
            return {re.sub("share/zsh/[a-z-]+/", "share/zsh/", str(path.relative_to(prefix)))
                    for path in prefix.rglob("*") if not path.is_dir()}
        self.assertEqual(held(root / "usr"),
                         held(self.prefix) | {"share/doc/ferrule/copyright"})
        self.assertIn("add.c:", run(root / "usr" / "bin" / "ferrule", "list", "std",
                                    env=environment()))
        for line in run("dpkg-deb", "-c", self.package).splitlines():
            mode, owner = line.split()[:2]
            self.assertEqual(owner, "root/root", line)
            self.assertRegex(mode, "^(l|-rw-r--r--|[d-]rwxr-xr-x)", line)


unittest.main(verbosity=1)
