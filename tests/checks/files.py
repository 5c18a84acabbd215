"""files.py SOURCE: what holds of every file of ours: sizes that can be read, no leftovers, no path of
one machine, whole last lines; in the documents, links lead somewhere and quoted files are as they are."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
FOLDERS = ["include", "src", "kernels", "tests", "fuzz", "bench", "examples", "docs", "cmake", "packaging",
           "man", "completions", ".ci", "python"]
SOURCES = {".c", ".h"}
TEXTS = SOURCES | {".md", ".py", ".txt", ".cmake", ".tsv", ".fer", ".json", ".cpp", ".in", ".1",
                   ".bash", ".zsh", ".fish", ".pyi", ".toml", ""}
MAX_LINES = 850
# Written in two parts, so that this file holds none of them.
LEFTOVERS = re.compile("TO" "DO|FIX" "ME|XX" "X:")
MACHINE_PATHS = re.compile("/(wo" "rk|ho" "me|ro" "ot)/[a-z]")
# DLPack's own names would clash with its header.
FOREIGN_NAMES = re.compile(r"\b(typedef\s+)?(struct|enum)\s+DL[A-Z]\w+")

files = [path for path in root.iterdir() if path.is_file() and not path.name.startswith(".git")]
for folder in FOLDERS:
    files += [path for path in (root / folder).rglob("*") if path.is_file()]

faults = []
num_read = 0
for path in sorted(files):
    where = path.relative_to(root)
    if path.suffix not in TEXTS or "__pycache__" in where.parts or "corpus" in where.parts:
        continue
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        faults.append(f"{where}: not UTF-8")
        continue
    num_read += 1
    if text and not text.endswith("\n"):
        faults.append(f"{where}: the last line has no end")
    if path.name != "LICENSE":
        for number, line in enumerate(text.splitlines(), 1):
            if line != line.rstrip() and path.suffix != ".tsv":
                faults.append(f"{where}:{number}: blanks at the end of the line")
            if LEFTOVERS.search(line):
                faults.append(f"{where}:{number}: a leftover: {line.strip()}")
            if MACHINE_PATHS.search(line):
                faults.append(f"{where}:{number}: a path of one machine: {line.strip()}")
    if path.suffix in SOURCES:
        num_lines = text.count("\n")
        if num_lines > MAX_LINES:
            faults.append(f"{where}: {num_lines} lines; at most {MAX_LINES}")
        if "\t" in text:
            faults.append(f"{where}: a tab")
        if FOREIGN_NAMES.search(text):
            faults.append(f"{where}: a name that belongs to DLPack's header")
    if path.suffix == ".md":
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            if "://" not in target and not (path.parent / target).exists():
                faults.append(f"{where}: the link {target} leads nowhere")
        for name, quoted in re.findall(r"`([^`\n]+\.c)`:\n\n```c\n(.*?)```", text, re.DOTALL):
            if (root / name).is_file() and (root / name).read_text() != quoted:
                faults.append(f"{where}: {name} is not as it is quoted")

print("\n".join(faults) or f"{num_read} files")
sys.exit(bool(faults))
