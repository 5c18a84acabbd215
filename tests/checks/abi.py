"""abi.py SOURCE COMPILER [--record]: the binary interface is as abi.txt beside this file has it: every
function of the public headers with its parameters, every enumerator with its value, and every public
struct with its size and the place of each member, on a 64-bit machine. --record writes the file anew, for
a change that is meant; a commit shows then what it does to programs and packages that exist."""
import pathlib
import re
import subprocess
import sys
import tempfile

root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
recorded = pathlib.Path(__file__).with_name("abi.txt")
KERNEL_SIDE = {"kernel.h", "smallfloat.h"}  # compiled into each package


def members(body):
    """Names of the members of a struct; those of a union in it are `union.member`."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(body):
        depth += (c == "{") - (c == "}")
        if c == ";" and depth == 0:
            parts.append(body[start:i])
            start = i + 1
    for part in parts:
        inner = re.fullmatch(r"\s*(?:union|struct)\s*\w*\s*\{(.*)\}\s*(\w+)(?:\[\w+\])?\s*", part, re.DOTALL)
        function = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", part)
        if inner:
            yield inner[2]
            yield from (f"{inner[2]}.{name}" for name in members(inner[1]))
        elif function:
            yield function[1]
        else:
            yield from (re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", one)[1] for one in part.split(","))


def bodies(text, head):
    """(name, body) of every definition that starts as `head` says."""
    for match in re.finditer(head + r"\s*(\w*)\s*\{", text):
        depth, end = 1, match.end()
        while depth > 0:
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        yield match[1], text[match.end():end - 1]


lines, prints, headers = [], [], []
for path in sorted((root / "include" / "ferrule").glob("*.h")):
    if path.name in KERNEL_SIDE:
        continue
    headers.append(f"#include <ferrule/{path.name}>\n")
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for declaration in re.findall(r"^FER_API\b([^;]*);", text, re.MULTILINE):
        lines.append(" ".join(declaration.replace("FER_MUST_USE", "").split()))
    for _, body in bodies(text, r"\benum\b"):
        for name in re.findall(r"(?:^|,)\s*(\w+)", body):
            prints.append(f'printf("{name} = %lld\\n", (long long){name});')
    for name, body in bodies(text, r"(?m:^)(?:typedef )?struct\b"):
        prints.append(f'printf("{name}: %zu bytes\\n", sizeof(struct {name}));')
        for member in members(body):
            prints.append(f'printf("{name}.{member}: %zu bytes at %zu\\n", '
                          f'sizeof(((struct {name} *)0)->{member}), offsetof(struct {name}, {member}));')

with tempfile.TemporaryDirectory() as folder:
    source, program = pathlib.Path(folder) / "abi.c", pathlib.Path(folder) / "abi"
    source.write_text("".join(headers) + "#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n" +
                      "\n".join(prints) + "\nreturn 0;\n}\n", encoding="utf-8")
    subprocess.run([compiler, "-std=c17", f"-I{root / 'include'}", str(source), "-o", str(program)],
                   check=True)
    lines += subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()

if sys.argv[3:] == ["--record"]:
    recorded.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit(0)
before = recorded.read_text(encoding="utf-8").splitlines()
faults = [f"gone or changed: {line}" for line in before if line not in lines]
faults += [f"not recorded: {line}" for line in lines if line not in before]
if faults:
    faults.append(f"if it is meant: python3 tests/checks/abi.py . {compiler} --record")
print("\n".join(faults) or f"{len(lines)} lines of the binary interface, each as recorded")
sys.exit(bool(faults) or len(lines) < 100)
