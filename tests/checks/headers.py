"""headers.py SOURCE: every public header compiles alone, without a warning, as C11, C17 and C++17
with gcc and clang."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
STANDARDS = [("c", "c11"), ("c", "c17"), ("c++", "c++17")]
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}

headers = sorted(path.name for path in (root / "include" / "ferrule").glob("*.h"))
faults, absent, num_runs = [], set(), 0
with tempfile.TemporaryDirectory() as folder:
    for header in headers:
        # Twice: a header must also guard itself.
        source = pathlib.Path(folder) / "alone.c"
        source.write_text(f"#include <ferrule/{header}>\n" * 2, encoding="utf-8")
        for language, standard in STANDARDS:
            for compiler in COMPILERS[language]:
                if shutil.which(compiler) is None:
                    absent.add(compiler)
                    continue
                num_runs += 1
                run = subprocess.run(
                    [compiler, "-x", language, f"-std={standard}", "-fsyntax-only", "-Wall",
                     "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", f"-I{root / 'include'}",
                     str(source)], capture_output=True, text=True)
                if run.returncode != 0:
                    faults.append(f"{header} as {standard} with {compiler}:\n{run.stderr}")

    # Before the compiler stumbles over what C++ does not have.
    source.write_text("#include <ferrule/kernel.h>\n"
                      "KERNEL(half, OUT(f32, 1, y), IN(f32, 1, x)) { return OK; }\n", encoding="utf-8")
    for compiler in sorted(set(COMPILERS["c++"]) - absent):
        run = subprocess.run([compiler, "-x", "c++", "-fsyntax-only", f"-I{root / 'include'}",
                              str(source)], capture_output=True, text=True)
        first = next((line for line in run.stderr.splitlines() if "error: " in line), "")
        if "kernels are C" not in first:
            faults.append(f"KERNEL in C++ with {compiler} does not say that it is C first: {first}")

for compiler in sorted(absent):
    print(f"{compiler} is not installed: skipped")
print("\n".join(faults) or f"{len(headers)} headers compile alone, in {num_runs} ways")
sys.exit(bool(faults) or num_runs == 0)
