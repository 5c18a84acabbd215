"""layers.py SOURCE: each file of src/ includes only its own folder, those before it, and public
headers; the order is the table in docs/architecture.md."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
table = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
layers = re.findall(r"^\| `src/(\w+)/` \|", table, re.MULTILINE)
if len(layers) < 9:
    sys.exit("docs/architecture.md: the table of layers was not found")

faults = []
num_files = 0
for path in sorted((root / "src").rglob("*.[ch]")):
    where = path.relative_to(root)
    own = path.parent.name
    if path.parent.parent != root / "src" or own not in layers:
        faults.append(f"{where}: not in a layer of docs/architecture.md")
        continue
    num_files += 1
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*"([^"]*)"', line)
        if not include:
            continue
        name = include.group(1)
        layer = name.split("/")[0]
        if "/" not in name or layer not in layers or not (root / "src" / name).is_file():
            faults.append(f'{where}:{number}: "{name}" is not written as "layer/file.h"')
        elif layers.index(layer) > layers.index(own):
            faults.append(f"{where}:{number}: {own} is below {layer} and must not include {name}")

for path in sorted((root / "include" / "ferrule").glob("*.h")):
    for include in re.findall(r'#\s*include\s*(".*"|<ferrule/.*>)', path.read_text(encoding="utf-8")):
        header = include[1:-1]
        if include[0] == '"' or not (root / "include" / header).is_file():
            faults.append(f"{path.relative_to(root)}: includes {include}, which is no public header")

print("\n".join(faults) or f"{num_files} files, includes point downwards only")
sys.exit(bool(faults))
