"""symbols.py SOURCE LIBRARY: the shared library exports exactly what the public headers declare, and
every name of it starts with fer_."""
import pathlib
import re
import subprocess
import sys

root, library = pathlib.Path(sys.argv[1]), sys.argv[2]
table = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                       check=True).stdout
exported = {line.split()[-1].split("@")[0] for line in table.splitlines()}
# Sanitizers add symbols of their own to what they instrument.
exported = {name for name in exported if not re.match(r"_*(asan|ubsan|tsan|lsan|odr_asan)_", name)}

declared = set()
for path in (root / "include" / "ferrule").glob("*.h"):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for declaration in re.findall(r"^FER_API\b([^;]*);", text, re.MULTILINE):
        declared.add(re.search(r"\b(\w+)\s*\(", declaration.replace("FER_MUST_USE", "")).group(1))

faults = [f"{name}: exported without the prefix fer_" for name in exported
          if not name.startswith("fer_")]
faults += [f"{name}: exported, but no public header declares it" for name in exported - declared]
faults += [f"{name}: declared in a public header, but not exported" for name in declared - exported]
print("\n".join(sorted(faults)) or f"{len(exported)} exported symbols, each declared and fer_")
sys.exit(bool(faults) or not exported)
